// SPDX-License-Identifier: Apache-2.0

/// A checksum over the rows of a space: the sum of their SHA-256 hashes, in four lanes of 64 bits, and their number.
///
/// Adding and removing a row costs one hash, in any order, so both sides keep it as they go. It finds faults and drift, not
/// forgery: an additive sum of hashes is not collision-resistant against someone who chooses the rows.
public struct SpaceDigest: Hashable, Sendable, CustomStringConvertible {
  package private(set) var lanes: SIMD4<UInt64> = .zero
  /// How many rows were added, less those removed.
  public private(set) var rows: Int64 = 0

  /// The digest of no rows.
  public init() {}

  package init?(bytes: [UInt8], rows: Int64) {
    guard bytes.count == 32 else { return nil }
    lanes = SpaceDigest.lanes(of: bytes)
    self.rows = rows
  }

  package mutating func add(_ hash: RowHash) {
    lanes &+= SpaceDigest.lanes(of: hash.bytes)
    rows += 1
  }

  package mutating func remove(_ hash: RowHash) {
    lanes &-= SpaceDigest.lanes(of: hash.bytes)
    rows -= 1
  }

  package var bytes: [UInt8] {
    withUnsafeBytes(of: (lanes[0].bigEndian, lanes[1].bigEndian, lanes[2].bigEndian, lanes[3].bigEndian)) { Array($0) }
  }

  /// The four lanes as 64 hexadecimal digits.
  public var description: String { Hex.text(bytes) }

  private static func lanes(of hash: [UInt8]) -> SIMD4<UInt64> {
    hash.withUnsafeBytes { bytes in
      func lane(_ index: Int) -> UInt64 {
        UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: index * 8, as: UInt64.self))
      }
      return SIMD4(lane(0), lane(1), lane(2), lane(3))
    }
  }
}

/// The canonical hash of a row as the server confirmed it: key, incarnation, version and every column that has a value.
package struct RowHash: Hashable, Sendable {
  package let bytes: [UInt8]

  package init?(bytes: [UInt8]) {
    guard bytes.count == 32 else { return nil }
    self.bytes = bytes
  }

  /// SHA-256 over the CBOR array [table, key, incarnation, version, [column, value, ...]], the columns in byte order of
  /// their names and without those that are null, so that a column added later changes nothing until it has a value.
  package init(of row: RowImage, in table: TableInfo) {
    var writer = CBORWriter()
    writer.array(5)
    writer.text(table.name)
    writer.raw(row.key.bytes)
    writer.blob(row.incarnation.bytes)
    writer.blob(row.version.raw.bytes)
    let present = table.columnsByName.filter { !row.values[$0].isNull }
    writer.array(present.count * 2)
    for index in present {
      writer.text(table.columns[index].name)
      writer.value(row.values[index])
    }
    bytes = SHA256.hash(writer.bytes)
  }
}
