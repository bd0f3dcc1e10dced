// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Synchronization

/// Why a server did not start.
package enum HTTPServerError: Error, Hashable, Sendable, CustomStringConvertible {
  case badAddress(host: String, port: Int)
  case badLimits(String)
  /// The library or the system refused, most often because the port is taken.
  case cannotListen(host: String, port: Int)

  package var description: String {
    switch self {
    case .badAddress(let host, let port): "\(host), port \(port), is no numeric address to listen on"
    case .badLimits(let reason): reason
    case .cannotListen(let host, let port): "cannot listen on \(host), port \(port): it may be in use"
    }
  }
}

/// An HTTP/1.1 server over libmicrohttpd: a pool of threads, each with an epoll loop of its own.
///
/// Handlers run on these threads, or on threads aside, never on Swift's cooperative pool, and may block; a blocked one holds
/// up the connections of its thread only, and one that runs aside none but its own. It may be used from any thread.
package final class HTTPServer: Sendable {
  /// The port that it listens on.
  package let port: Int
  private let context: ServerContext
  private let daemon: Mutex<Daemon?>

  private init(_ daemon: Daemon, _ context: ServerContext) {
    port = daemon.port
    self.context = context
    self.daemon = Mutex(daemon)
  }

  deinit { stop() }

  /// Starts to listen.
  ///
  /// - Parameters:
  ///   - host: A numeric address; loopback unless told otherwise. `0.0.0.0` and `::` mean all.
  ///   - port: 0 for any free one.
  ///   - threads: How many requests are worked on at one time.
  ///   - report: Told what went wrong, on the server's threads.
  package static func start(
    host: String = "127.0.0.1", port: Int = 0, threads: Int = 4, limits: HTTPLimits = HTTPLimits(),
    routes: HTTPRoutes, report: @escaping @Sendable (HTTPServerEvent) -> Void = { _ in }
  ) throws(HTTPServerError) -> HTTPServer {
    guard 1...256 ~= threads, limits.connections >= threads, limits.connectionsPerAddress >= 0, limits.idleSeconds > 0,
      limits.bodyBytesInAll >= limits.bodyBytes
    else {
      throw .badLimits("1 to 256 threads, a connection for each, an idle time-out and room for one body are needed")
    }
    guard let address = ListenAddress(host: host, port: port) else { throw .badAddress(host: host, port: port) }
    let context = ServerContext(routes: routes, limits: limits, lanes: threads, report: report)
    guard let daemon = Daemon(context, at: address, threads: threads) else {
      throw .cannotListen(host: host, port: port)
    }
    context.watch.start(report)
    return HTTPServer(daemon, context)
  }

  /// Ends the server: requests at work are finished and answered with `Connection: close`, others are refused with a 503,
  /// then all is closed. Calling it again does nothing.
  ///
  /// It blocks, for `HTTPLimits.stopMilliseconds` at most. It returns false if that was not enough: answers on their way
  /// are cut then, and a handler still at work goes on alone, without anybody to answer. Call it from outside of a
  /// handler, or it waits for itself.
  ///
  /// The listening socket stays open until the end, since `MHD_quiesce_daemon` of this library (0.9.75) races with
  /// the threads of its pool: both may take the socket out of the same epoll set, and the second aborts the process.
  @discardableResult
  package func stop() -> Bool {
    guard let daemon = daemon.withLock({ $0.take() }) else { return true }
    let drain = context.drain(milliseconds: context.limits.stopMilliseconds)
    context.watch.stop()
    if drain != .finished { context.report(.stoppedEarly) }
    if drain == .atWork {
      // Each suspended connection must have been resumed before the library may be stopped.
      DispatchQueue(label: "skerry.http.stop").async { [context] in
        context.waitForHandlers()
        daemon.stop()
      }
    } else {
      // An answer may be on its way before the thread aside that woke its connection is done with the library.
      context.waitForHandlers()
      daemon.stop()
    }
    return drain == .finished
  }
}
