// SPDX-License-Identifier: Apache-2.0

import Foundation
import SkerryMachine
import Synchronization

#if canImport(FoundationNetworking)
  import FoundationNetworking

  typealias Disposal = (URLSession.ResponseDisposition) -> Void
  typealias Verdict = (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
  typealias Redirection = (URLRequest?) -> Void
#else
  typealias Disposal = @Sendable (URLSession.ResponseDisposition) -> Void
  typealias Verdict = @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
  typealias Redirection = @Sendable (URLRequest?) -> Void
#endif

/// Hands what a session reports to the exchange that it belongs to. The session calls it on one queue, in order.
final class SessionDelegate: NSObject, URLSessionDataDelegate, Sendable {
  private let exchanges = Mutex<[Int: SessionExchange]>([:])

  /// A task that is not running yet, known here until the session has done with it.
  func task(
    in session: URLSession, _ request: URLRequest, _ body: Data, for exchange: SessionExchange
  ) -> URLSessionTask {
    let task = session.uploadTask(with: request, from: body)
    exchanges.withLock { $0[task.taskIdentifier] = exchange }
    return task
  }

  private func exchange(_ task: URLSessionTask) -> SessionExchange? {
    exchanges.withLock { $0[task.taskIdentifier] }
  }

  /// A redirect is an answer: the token goes to nobody else.
  func urlSession(
    _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
    newRequest request: URLRequest, completionHandler: @escaping Redirection
  ) {
    completionHandler(nil)
  }

  /// Certificates and proxies are the system's matter; a server that asks for a password gets none, and its 401 is the
  /// answer.
  func urlSession(
    _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
    completionHandler: @escaping Verdict
  ) {
    #if canImport(Darwin)
      let asked = challenge.protectionSpace
      let isSystems = asked.authenticationMethod == NSURLAuthenticationMethodServerTrust || asked.isProxy()
      completionHandler(isSystems ? .performDefaultHandling : .rejectProtectionSpace, nil)
    #else
      // Here a rejection ends the task, and there is no store of passwords for the default to look into.
      completionHandler(.performDefaultHandling, nil)
    #endif
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
    totalBytesExpectedToSend: Int64
  ) {
    exchange(task)?.move { $0.sent(Int(totalBytesSent)) }
  }

  func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
    completionHandler: @escaping Disposal
  ) {
    exchange(dataTask)?.move { reception throws(TransportError) in try reception.began(response) }
    completionHandler(.allow)
  }

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    exchange(dataTask)?.move { reception throws(TransportError) in try reception.take(data) }
  }

  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    exchanges.withLock { $0.removeValue(forKey: task.taskIdentifier) }?.end(error)
  }
}
