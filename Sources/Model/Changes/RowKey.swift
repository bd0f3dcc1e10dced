// SPDX-License-Identifier: Apache-2.0

/// Which row: its table and the canonical bytes of its primary key.
public struct RowKey: Hashable, Sendable, Comparable, CustomStringConvertible {
  /// The table's name.
  public let table: String
  /// The key's values as a deterministic CBOR array.
  package let bytes: [UInt8]

  /// Names a row by the values of its key columns, in the order in which the schema declares them.
  public init(_ table: String, _ values: Value...) { self.init(table, values: values) }

  /// Names a row by the values of its key columns, in the order in which the schema declares them.
  public init(_ table: String, values: [Value]) {
    var writer = CBORWriter()
    writer.values(values)
    self.table = table
    bytes = writer.bytes
  }

  package init(table: String, bytes: [UInt8]) throws(CBORError) {
    var reader = CBORReader(bytes)
    _ = try reader.values()
    try reader.end()
    self.table = table
    self.bytes = bytes
  }

  /// The values of the key columns.
  public var values: [Value] {
    var reader = CBORReader(bytes)
    return (try? reader.values()) ?? []  // the initialisers admit nothing that does not decode
  }

  /// Table and key, for messages. A key names a row; it is not one of its values.
  public var description: String {
    let parts = values.map { value in
      switch value {
      case .null: "null"
      case .integer(let number): "\(number)"
      case .real(let number): "\(number)"
      case .text(let text): text
      case .blob(let bytes): "x" + Hex.text(bytes)
      }
    }
    return table + "/" + parts.joined(separator: ",")
  }

  /// Whether both name the same row.
  public static func == (left: RowKey, right: RowKey) -> Bool { left.bytes == right.bytes && left.table == right.table }

  /// Hashes the key's bytes at once, and not one by one: rows are looked up by their keys all the time.
  public func hash(into hasher: inout Hasher) {
    bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
    hasher.combine(table)
  }

  /// By table, then by the key's bytes.
  public static func < (left: RowKey, right: RowKey) -> Bool {
    if left.table != right.table { return left.table.utf8.lexicographicallyPrecedes(right.table.utf8) }
    // Over plain memory: thousands are sorted in one write.
    return left.bytes.withUnsafeBufferPointer { left in
      right.bytes.withUnsafeBufferPointer { right in
        for index in 0..<min(left.count, right.count) where left[index] != right[index] {
          return left[index] < right[index]
        }
        return left.count < right.count
      }
    }
  }

  /// The most bytes that the key's values take in a message; see `Value.messageBytes`.
  package var messageBytes: Int {
    let escaped = bytes.reduce(0) { $0 + ($1 < 0x20 ? 6 : $1 == 0x22 || $1 == 0x5C ? 2 : 1) }
    return max(escaped, bytes.count * 4 / 3) + 48
  }
}

/// A row as one transaction left it: its key, identity and all columns in the schema's order, key columns included.
package struct RowImage: Hashable, Sendable {
  package var key: RowKey
  package var version: VersionTag
  package var incarnation: Incarnation
  package var values: [Value]

  package init(key: RowKey, version: VersionTag, incarnation: Incarnation, values: [Value]) {
    self.key = key
    self.version = version
    self.incarnation = incarnation
    self.values = values
  }
}
