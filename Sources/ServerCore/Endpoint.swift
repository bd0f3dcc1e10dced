// SPDX-License-Identifier: Apache-2.0

package import SkerryModel
import SkerryWire

/// The server's two requests as bytes: decodes, calls `SyncServer`, encodes, and says errors as problem details (RFC 9457).
///
/// It knows no sockets and no tokens: whoever calls it has found out who asks.
package struct Endpoint: Sendable {
  /// What goes back.
  package struct Response: Sendable, Equatable {
    package var status: Int
    package var contentType: String
    /// In seconds.
    package var retryAfter: Int?
    package var body: [UInt8]
  }

  package enum Path: String, CaseIterable, Sendable {
    case push = "/v1/push"
    case pull = "/v1/pull"
  }

  private let server: SyncServer
  /// Reads requests, in which nothing depends on the schema.
  private let reader: JSONCodec
  private let report: @Sendable (any Error) -> Void

  /// - Parameter report: told of each failure that is answered with 500, of which the answer says nothing.
  package init(_ server: SyncServer, report: @escaping @Sendable (any Error) -> Void = { _ in }) {
    self.server = server
    self.report = report
    reader = JSONCodec(catalog: server.catalog)
  }

  /// Carries out one request. Never throws: a failure is an answer, and tells nothing of what the database holds.
  package func respond(to path: Path, body: [UInt8], as user: AccountID) -> Response {
    do {
      let answer =
        switch path {
        case .push: try push(body, as: user)
        case .pull: try pull(body, as: user)
        }
      return Response(status: 200, contentType: "application/json", body: answer)
    } catch let error as WireError {
      switch error.code {
      case .tooLarge: return problem(413, "Content Too Large", error.description)
      case .protocolVersion: return problem(426, "Upgrade Required", error.description)
      case .malformed, .invalid: return problem(400, "Bad Request", error.description)
      }
    } catch let error as RequestError {
      switch error {
      case .otherSchema: return problem(409, "Conflict", error.description)
      case .foreignReplica: return problem(403, "Forbidden", error.description)
      case .tooMuch: return problem(413, "Content Too Large", error.description)
      }
    } catch StorageError.busy {
      return problem(503, "Service Unavailable", "the database is busy; try again", retryAfter: 1)
    } catch {
      report(error)
      return problem(500, "Internal Server Error", "the server could not carry this out; try again", retryAfter: 5)
    }
  }

  private func push(_ body: [UInt8], as user: AccountID) throws -> [UInt8] {
    let request = try reader.decodePushRequest(body)
    var answer = try server.push(request, as: user)
    answer.request = request.request
    return reader.encode(answer)
  }

  private func pull(_ body: [UInt8], as user: AccountID) throws -> [UInt8] {
    let request = try reader.decodePullRequest(body)
    let dialect = try server.dialect(request.schema)
    return dialect.codec.encode(try server.pull(request, by: dialect, as: user), to: request.request)
  }

  private func problem(_ status: Int, _ title: String, _ detail: String, retryAfter: Int? = nil) -> Response {
    var writer = JSONWriter()
    writer.object { writer in
      writer.name("type")
      writer.string("about:blank")
      writer.name("title")
      writer.string(title)
      writer.name("status")
      writer.integer(Int64(status))
      writer.name("detail")
      writer.string(detail)
    }
    return Response(
      status: status, contentType: "application/problem+json", retryAfter: retryAfter, body: writer.bytes)
  }
}
