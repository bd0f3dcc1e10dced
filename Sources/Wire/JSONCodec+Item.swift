// SPDX-License-Identifier: Apache-2.0

import SkerryModel

extension JSONCodec {
  func write(_ item: PageItem, to writer: inout JSONWriter) {
    writer.object { writer in
      writer.member("kind", ItemKind(item).rawValue)
      switch item {
      case .gain(let space), .lose(let space), .filled(let space): writer.member("space", space)
      case .put(let space, let row):
        writer.member("space", space)
        write(row, to: &writer)
      case .left(let space, let key, let still):
        writer.member("space", space)
        write(key, to: &writer)
        writer.name("still")
        writer.array(still) { $0.string($1.text) }
      case .deleted(let space, let key):
        writer.member("space", space)
        write(key, to: &writer)
      case .receipt(let space, let receipt):
        writer.member("space", space)
        write(receipt, to: &writer)
      }
    }
  }

  private func write(_ key: RowKey, to writer: inout JSONWriter) {
    writer.member("table", key.table)
    writer.member("key", values: key.values)
  }

  private func write(_ row: RowImage, to writer: inout JSONWriter) {
    write(row.key, to: &writer)
    writer.member("version", row.version)
    writer.member("incarnation", row.incarnation)
    shape(row.key.table)?.write(fields: row.values, to: &writer)
  }

  private func write(_ receipt: Receipt, to writer: inout JSONWriter) {
    writer.member("id", receipt.id)
    writer.member("outcome", receipt.outcome.rawValue)
    if let code = receipt.code { writer.member("code", code) }
    if let reason = receipt.reason { writer.member("reason", reason) }
  }

  /// Reads one item. Items come in runs of one space: the last one's is taken again while its bytes are the same.
  func item(_ node: JSONNode, _ last: inout SpaceID?) throws(WireError) -> PageItem {
    let kind = try node.word("kind", ItemKind.self)
    let name = try node.required("space")
    let space: SpaceID
    if let last, name.isText(last.text) { space = last } else { space = try name.spaceID() }
    last = space
    switch kind {
    case .gain: return .gain(space)
    case .lose: return .lose(space)
    case .filled: return .filled(space)
    case .put: return .put(space, try row(node))
    case .left: return .left(space, try key(node), still: try spaces(node, "still"))
    case .deleted: return .deleted(space, try key(node))
    case .receipt: return .receipt(space, try receipt(node))
    }
  }

  private func shape(_ node: JSONNode) throws(WireError) -> RowShape {
    let table = try node.required("table")
    guard table.kind == .string else { throw table.wrong("a text as 'table'") }
    guard let shape = shape(table.rawString) else { throw table.refused("a table of the schema") }
    return shape
  }

  private func key(_ node: JSONNode) throws(WireError) -> RowKey { try shape(node).key(try node.required("key")) }

  private func row(_ node: JSONNode) throws(WireError) -> RowImage {
    let (key, values) = try shape(node).row(key: try node.required("key"), fields: try node.required("fields"))
    return RowImage(
      key: key, version: try node.required("version").version(),
      incarnation: try node.required("incarnation").incarnation(), values: values)
  }

  private func receipt(_ node: JSONNode) throws(WireError) -> Receipt {
    Receipt(
      id: try node.required("id").mutationID(), outcome: try node.word("outcome", Outcome.self),
      code: try node.optionalText("code").map { RefusalCode($0) }, reason: try node.optionalText("reason"))
  }
}

/// The words for the lines of a page. A new one needs a new `ProtocolVersion`: a page with an unknown line is not applied.
package enum ItemKind: String, CaseIterable, Sendable {
  case put
  case gain
  case lose
  case left
  case deleted
  case filled
  case receipt

  init(_ item: PageItem) {
    self =
      switch item {
      case .put: .put
      case .gain: .gain
      case .lose: .lose
      case .left: .left
      case .deleted: .deleted
      case .filled: .filled
      case .receipt: .receipt
      }
  }
}
