// SPDX-License-Identifier: Apache-2.0

import SkerryModel

extension JSONCodec {
  // MARK: request

  package func encode(_ request: PullRequest) -> [UInt8] {
    message { writer in
      write(request.schema, to: &writer)
      write(requestName: request.request, to: &writer)
      writer.name("replicas")
      writer.array(request.replicas) { $0.string($1.text) }
      writer.member("cursor", request.cursor)
      writer.member("settled", request.settled)
      writer.member("limit", Int64(request.limit))
    }
  }

  package func decodePullRequest(_ bytes: [UInt8]) throws(WireError) -> PullRequest {
    let root = try open(bytes)
    let ids = try root.required("replicas")
    guard ids.kind == .array, (1...Limits.replicaIDs).contains(ids.count) else {
      throw ids.refused("an array of 1 to \(Limits.replicaIDs) replica ids")
    }
    var replicas: [ReplicaID] = []
    for id in ids.children { replicas.append(try id.replicaID()) }
    var request = PullRequest(
      schema: try stamp(root), replicas: replicas, cursor: try cursor(root),
      settled: try root.integer("settled", atLeast: 0), limit: try root.count("limit"))
    request.request = try requestName(root)
    return request
  }

  // MARK: answer

  /// - Parameter request: the name of the request that is answered; empty if it has none.
  package func encode(_ answer: PullAnswer, to request: String = "") -> [UInt8] {
    switch answer {
    case .page(let page): encode(page, request)
    case .reset(let reset): encode(reset, request)
    }
  }

  private func encode(_ page: Page, _ request: String) -> [UInt8] {
    message(capacity: 1_024 + page.items.count * 256) { writer in
      writer.member("kind", AnswerKind.page.rawValue)
      write(requestName: request, to: &writer)
      writer.name("items")
      writer.array(page.items) { write($1, to: &$0) }
      writer.member("cursor", page.cursor)
      writer.name("closes")
      writer.bool(page.closes)
      writer.member("safe", page.safe)
      writer.name("digests")
      writer.object { writer in
        for (space, digest) in page.digests.sorted(by: { $0.key < $1.key }) {
          writer.name(space.text)
          writer.object { writer in
            writer.name("sum")
            writer.plain { HexDigits.append(digest.bytes, to: &$0) }
            writer.member("rows", digest.rows)
          }
        }
      }
    }
  }

  private func encode(_ reset: Reset, _ request: String) -> [UInt8] {
    message { writer in
      writer.member("kind", AnswerKind.reset.rawValue)
      write(requestName: request, to: &writer)
      writer.member("reason", reset.reason.rawValue)
      writer.name("spaces")
      writer.array(reset.spaces) { $0.string($1.text) }
      writer.member("cursor", reset.cursor)
    }
  }

  package func decodePullAnswer(_ bytes: [UInt8]) throws(WireError) -> PullAnswer {
    try readPullAnswer(bytes).answer
  }

  /// An answer and the name of the request that it answers; empty if it names none.
  package func readPullAnswer(_ bytes: [UInt8]) throws(WireError) -> (request: String, answer: PullAnswer) {
    let root = try open(bytes)
    return (try requestName(root), try pullAnswer(root))
  }

  private func pullAnswer(_ root: JSONNode) throws(WireError) -> PullAnswer {
    switch try root.word("kind", AnswerKind.self) {
    case .page: return .page(try page(root))
    case .reset:
      let reason = try root.word("reason", ResetReason.self)
      return .reset(
        Reset(reason: reason, spaces: try spaces(root, "spaces"), cursor: try root.required("cursor").cursor()))
    }
  }

  private func page(_ root: JSONNode) throws(WireError) -> Page {
    let closes = try root.required("closes")
    guard closes.kind == .yes || closes.kind == .no else { throw closes.wrong("true or false as 'closes'") }
    var page = Page(
      items: [], cursor: try root.required("cursor").cursor(), closes: closes.kind == .yes,
      safe: try root.integer("safe", atLeast: 0))
    var last: SpaceID?
    let nodes = try root.elements("items")
    page.items.reserveCapacity(try root.required("items").count)
    for node in nodes { page.items.append(try item(node, &last)) }
    guard let digests = try root.optional("digests") else { return page }
    guard digests.kind == .object else { throw digests.wrong("an object as 'digests'") }
    for name in digests.children { page.digests[try name.spaceName()] = try digest(name.following) }
    return page
  }

  private func digest(_ node: JSONNode) throws(WireError) -> SpaceDigest {
    let sum = try node.required("sum")
    guard sum.kind == .string, let bytes = HexDigits.decode(sum.content),
      let digest = SpaceDigest(bytes: bytes, rows: try node.integer("rows", atLeast: 0))
    else { throw sum.refused("64 hexadecimal digits as 'sum'") }
    return digest
  }

  func spaces(_ node: JSONNode, _ name: StaticString) throws(WireError) -> [SpaceID] {
    var out: [SpaceID] = []
    for element in try node.elements(name) { out.append(try element.spaceID()) }
    return out
  }
}

/// The words for answers to a pull. A new one needs a new `ProtocolVersion`.
package enum AnswerKind: String, CaseIterable, Sendable {
  case page
  case reset
}
