// SPDX-License-Identifier: Apache-2.0

/// A checksum over the rows of a space: the sum of their SHA-256 hashes, in four lanes of 64 bits, and their number.
///
/// Adding and removing a row costs one hash, in any order, so both sides keep it as they go. It finds faults and drift, not
/// forgery: an additive sum of hashes is not collision-resistant against someone who chooses the rows.
public struct SpaceDigest: Hashable, Sendable, CustomStringConvertible {
  private var sum = Lanes()
  /// How many rows were added, less those removed.
  public private(set) var rows: Int64 = 0

  /// The digest of no rows.
  public init() {}

  package init?(bytes: [UInt8], rows: Int64) {
    guard bytes.count == 32 else { return nil }
    sum = Lanes(bytes)
    self.rows = rows
  }

  package mutating func add(_ hash: RowHash) {
    let hash = Lanes(hash.bytes)
    sum = Lanes(sum.a &+ hash.a, sum.b &+ hash.b, sum.c &+ hash.c, sum.d &+ hash.d)
    rows += 1
  }

  package mutating func remove(_ hash: RowHash) {
    let hash = Lanes(hash.bytes)
    sum = Lanes(sum.a &- hash.a, sum.b &- hash.b, sum.c &- hash.c, sum.d &- hash.d)
    rows -= 1
  }

  package var bytes: [UInt8] {
    withUnsafeBytes(of: (sum.a.bigEndian, sum.b.bigEndian, sum.c.bigEndian, sum.d.bigEndian)) { Array($0) }
  }

  /// The four lanes, for a recount elsewhere.
  package var lanes: SIMD4<UInt64> { SIMD4(sum.a, sum.b, sum.c, sum.d) }

  /// The four lanes as 64 hexadecimal digits.
  public var description: String { Hex.text(bytes) }

  /// Four plain numbers and no `SIMD4`: Swift 6.3.1 writes a value of more than the usual alignment beyond the frame of an
  /// async function that holds it over an `await` (found by the address sanitiser).
  private struct Lanes: Hashable, Sendable {
    var (a, b, c, d): (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)

    init() {}

    init(_ a: UInt64, _ b: UInt64, _ c: UInt64, _ d: UInt64) { (self.a, self.b, self.c, self.d) = (a, b, c, d) }

    init(_ hash: [UInt8]) {
      self = hash.withUnsafeBytes { bytes in
        func lane(_ index: Int) -> UInt64 {
          UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: index * 8, as: UInt64.self))
        }
        return Lanes(lane(0), lane(1), lane(2), lane(3))
      }
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
    var writer = CBORWriter(capacity: 512)
    writer.array(5)
    writer.text(table.name)
    writer.raw(row.key.bytes)
    writer.blob(row.incarnation.bytes)
    writer.blob(row.version.raw.bytes)
    let present = table.columnsByName.reduce(0) { $0 + (row.values[$1].isNull ? 0 : 1) }
    writer.array(present * 2)
    for index in table.columnsByName where !row.values[index].isNull {
      writer.text(table.columns[index].name)
      writer.value(row.values[index])
    }
    bytes = SHA256.hash(writer.bytes)
  }
}
