// SPDX-License-Identifier: Apache-2.0

package import SkerryMachine

/// What every HTTP transport says and reads alike: a message's header fields with its bearer token, and the fields of the
/// answer that mean something. It sends nothing itself.
package struct HTTPForm: Sendable {
  /// One header field.
  package typealias Field = (name: String, value: String)

  private let now: @Sendable () -> Int64
  private let token: @Sendable () async throws -> String

  /// - Parameters:
  ///   - now: The time in milliseconds since 1970, to read a date in `Retry-After` by.
  ///   - token: Gives the bearer token, for each exchange anew.
  package init(now: @escaping @Sendable () -> Int64, token: @escaping @Sendable () async throws -> String) {
    self.now = now
    self.token = token
  }

  /// The header fields of this message. None of them can end its line.
  package func fields(for request: TransportRequest) async throws(TransportError) -> [Field] {
    let type = request.contentType
    guard !type.isEmpty, type.utf8.allSatisfy({ 0x20...0x7E ~= $0 }) else {
      throw .unreachable("the media type is malformed")
    }
    return [
      ("Authorization", "Bearer " + (try await bearer())), ("Content-Type", type),
      ("Accept", type + ", application/problem+json"),
    ]
  }

  /// The answer, with what its fields say.
  package func response(
    status: Int, contentType: String?, retryAfter: String?, body: [UInt8]
  ) -> TransportResponse {
    TransportResponse(
      status: status, contentType: contentType.flatMap(MediaType.essence),
      retryAfter: retryAfter.flatMap { RetryAfter.milliseconds($0, now: now()) }, body: body)
  }

  /// The source's own error does not go on: its text may hold a secret.
  private func bearer() async throws(TransportError) -> String {
    let given: String
    do { given = try await token() } catch let error as TransportError { throw error } catch {
      throw Task.isCancelled || error is CancellationError ? .cancelled : .unreachable("there is no token to send")
    }
    // RFC 6750, section 2.1. Anything else could end the header line.
    guard !given.isEmpty, given.utf8.allSatisfy({ 0x21...0x7E ~= $0 }) else {
      throw .unreachable("the token is malformed")
    }
    return given
  }
}
