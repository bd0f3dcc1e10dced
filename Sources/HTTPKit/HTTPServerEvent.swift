// SPDX-License-Identifier: Apache-2.0

/// What a server tells its owner, for a log. It is called on the server's threads and must not block.
package enum HTTPServerEvent: Sendable, CustomStringConvertible {
  /// A handler threw something else than an `HTTPProblem`; the client got a 500.
  case handlerFailed(method: String, path: String, any Error)
  /// The library refused a header field of an answer; the client got a 500.
  case fieldRefused(name: String)
  /// So many connections did not get on in time, and were closed.
  case connectionsTimedOut(Int)
  /// The server was told to stop, and requests were still at work when the wait was over.
  case stoppedEarly

  package var description: String {
    switch self {
    case .handlerFailed(let method, let path, let error): "\(method) \(path) failed: \(error)"
    case .fieldRefused(let name): "the header field \(name) of an answer is malformed"
    case .connectionsTimedOut(let count): "connections that did not get on in time, and were closed: \(count)"
    case .stoppedEarly: "stopped while requests were still at work"
    }
  }
}
