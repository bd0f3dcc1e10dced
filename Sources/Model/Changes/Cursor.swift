// SPDX-License-Identifier: Apache-2.0

/// Which history, and how much of it, a replica holds. Opaque to apps; on the wire it is one token.
///
/// Nothing in it is trusted: a server serves only the spaces of the token's user, whatever the cursor names.
package struct Cursor: Hashable, Sendable {
  /// Marks one life of the server's database; a restore announced by its operator begins another.
  package var epoch: String
  /// All changes up to here are held, but for the open spaces.
  package var position: Int64
  /// The newest sequencer run at which its pages were read: its last position, and its nonce.
  package var head: Int64
  package var nonce: String
  /// The replica ids whose receipts it serves; the last is the one in use.
  package var owner: [ReplicaID]
  /// Spaces still to be filled: gained, or read anew after a reset.
  package var open: [OpenSpace]
  /// The version of the schema by which its pages were written.
  package var schema: Int
  /// What is to be sent once more, since a later version of the schema shows more of it.
  package var again: PositionRange?

  package init(
    epoch: String, position: Int64, head: Int64, nonce: String, owner: [ReplicaID], open: [OpenSpace] = [],
    schema: Int = 0, again: PositionRange? = nil
  ) {
    self.schema = schema
    self.again = again
    self.epoch = epoch
    self.position = position
    self.head = head
    self.nonce = nonce
    self.owner = owner
    self.open = open
  }
}

extension Cursor {
  /// Whether nothing is owed but later changes.
  package var isWhole: Bool { open.isEmpty && again == nil }
}

/// The rows that changed last after one position and not after another.
package struct PositionRange: Hashable, Sendable {
  package var after: Int64
  package var upTo: Int64

  package init(after: Int64, upTo: Int64) {
    self.after = after
    self.upTo = upTo
  }
}

/// A space that is being filled: rows up to `after` in key order are held, those that changed after `target` come as changes.
package struct OpenSpace: Hashable, Sendable {
  package var space: SpaceID
  package var after: RowKey?
  package var target: Int64

  package init(space: SpaceID, after: RowKey? = nil, target: Int64) {
    self.space = space
    self.after = after
    self.target = target
  }
}

extension Cursor {
  /// The token's bytes: a version, then the fields in order.
  package var encoded: [UInt8] {
    var writer = CBORWriter()
    writer.array(9)
    writer.integer(2)
    writer.text(epoch)
    writer.integer(position)
    writer.integer(head)
    writer.text(nonce)
    writer.array(owner.count)
    for replica in owner { writer.text(replica.text) }
    writer.array(open.count)
    for item in open {
      writer.array(4)
      writer.text(item.space.text)
      writer.text(item.after?.table ?? "")
      if let after = item.after { writer.raw(after.bytes) } else { writer.array(0) }
      writer.integer(item.target)
    }
    writer.integer(Int64(schema))
    writer.array(again == nil ? 0 : 2)
    if let again {
      writer.integer(again.after)
      writer.integer(again.upTo)
    }
    return writer.bytes
  }

  package init(encoded bytes: [UInt8]) throws(CBORError) {
    var reader = CBORReader(bytes)
    let parts = try reader.array()
    let version = try reader.integer()
    guard version == 1 && parts == 7 || version == 2 && parts == 9 else {
      throw .unexpected("cursor version 1 or 2 wanted, \(version) with \(parts) parts found")
    }
    epoch = try reader.text()
    position = try reader.integer()
    head = try reader.integer()
    nonce = try reader.text()
    owner = []
    for _ in 0..<(try reader.array()) { owner.append(ReplicaID(try reader.text())) }
    open = []
    for _ in 0..<(try reader.array()) {
      try reader.array(of: 4)
      let space = SpaceID(try reader.text())
      let table = try reader.text()
      let key = try reader.values()
      open.append(
        OpenSpace(space: space, after: table.isEmpty ? nil : RowKey(table, values: key), target: try reader.integer()))
    }
    (schema, again) = version == 1 ? (0, nil) : try Cursor.schemaPart(&reader)
    try reader.end()
    // A forged cursor must not make a server go through one space a million times.
    if open.count > Limits.openSpaces || Set(open.map(\.space)).count != open.count {
      throw .unexpected("more than \(Limits.openSpaces) open spaces, or one twice")
    }
  }

  private static func schemaPart(_ reader: inout CBORReader) throws(CBORError) -> (Int, PositionRange?) {
    let schema = try reader.integer()
    let count = try reader.array()
    if count == 0 { return (Int(clamping: schema), nil) }
    guard count == 2 else { throw .unexpected("a range of positions wanted") }
    return (Int(clamping: schema), PositionRange(after: try reader.integer(), upTo: try reader.integer()))
  }
}
