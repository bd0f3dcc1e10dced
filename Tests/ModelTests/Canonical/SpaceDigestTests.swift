// SPDX-License-Identifier: Apache-2.0

import SkerryAmbientKit
import SkerryModel
import Testing

@Suite("Digests") struct SpaceDigestTests {
  private let hashes: [RowHash] = (0..<50).compactMap { RowHash(bytes: SHA256.hash([UInt8($0)])) }

  @Test func `the order of additions and removals means nothing`() {
    var generator = SeededGenerator(seed: 21)
    var expected = SpaceDigest()
    for hash in hashes.prefix(20) { expected.add(hash) }
    for _ in 0..<20 {
      var steps = hashes.prefix(20).map { ($0, true) }
      steps += hashes.dropFirst(20).flatMap { [($0, true), ($0, false)] }
      steps.shuffle(using: &generator)
      var digest = SpaceDigest()
      for (hash, isAdded) in steps { if isAdded { digest.add(hash) } else { digest.remove(hash) } }
      #expect(digest == expected)
      #expect(digest.rows == 20)
    }
  }

  @Test func `removing what was added leaves nothing`() {
    var digest = SpaceDigest()
    for hash in hashes { digest.add(hash) }
    for hash in hashes.reversed() { digest.remove(hash) }
    #expect(digest == SpaceDigest())
    #expect(digest.description == String(repeating: "0", count: 64))
  }

  @Test func `the same row twice is not the same as none`() {
    var digest = SpaceDigest()
    digest.add(hashes[0])
    digest.add(hashes[0])
    #expect(digest != SpaceDigest())
    #expect(digest.rows == 2)
  }

  @Test func `the bytes of a digest give it back`() {
    var digest = SpaceDigest()
    for hash in hashes { digest.add(hash) }
    #expect(SpaceDigest(bytes: digest.bytes, rows: digest.rows) == digest)
    #expect(SpaceDigest(bytes: [], rows: 0) == nil)
    #expect(SpaceDigest(bytes: Array(repeating: 0, count: 33), rows: 0) == nil)
    #expect(RowHash(bytes: Array(repeating: 0, count: 31)) == nil)
  }

  /// The expected texts were computed by another program, from the definition in the comments.
  @Test func `hash and sum are those of the definition`() throws {
    let hash = RowHash(of: row, in: try table(extra: nil))
    #expect(Hex.text(hash.bytes) == "ddef7a8f196735b69e85e663e5671bfc5a913e45800e6365e2ac791f2609eda9")
    var digest = SpaceDigest()
    digest.add(hash)
    digest.add(try #require(RowHash(bytes: SHA256.hash(Array("abc".utf8)))))
    #expect(digest.description == "9867914ea86905a0dfc7274243153e1f0a949fe91625de0196bd7881180a0356")
    digest.add(try #require(RowHash(bytes: Array(repeating: 0xFF, count: 32))))
    #expect(digest.description == "9867914ea869059fdfc7274243153e1e0a949fe91625de0096bd7881180a0355")
  }

  @Test func `a column added later changes no hash until it has a value`() throws {
    let later = try table(extra: ColumnDefinition("added", .text, optional: true))
    var wide = row
    wide.values.append(nil)
    #expect(RowHash(of: wide, in: later) == RowHash(of: row, in: try table(extra: nil)))
    wide.values[wide.values.count - 1] = ""
    #expect(RowHash(of: wide, in: later) != RowHash(of: row, in: try table(extra: nil)))
  }

  @Test func `key, version, incarnation and each value count`() throws {
    let info = try table(extra: nil)
    let before = RowHash(of: row, in: info)
    var changed: [RowImage] = []
    for index in row.values.indices.dropFirst() {
      var copy = row
      copy.values[index] = index == 3 ? 1 : "y"
      changed.append(copy)
    }
    var copy = row
    copy.key = RowKey("notes", "n2")
    changed.append(copy)
    copy = row
    copy.version = VersionTag(raw: Bytes16(high: 0, low: 0))
    changed.append(copy)
    copy = row
    copy.incarnation = Incarnation(tag: row.incarnation.tag, index: 259)
    changed.append(copy)
    #expect(Set(changed.map { RowHash(of: $0, in: info) } + [before]).count == changed.count + 1)
  }

  private let row: RowImage = {
    let tag = Bytes16(high: 0x0197_A0DE_0000_7000, low: 0x8000_0000_0000_0001)
    return RowImage(
      key: RowKey("notes", "n1"), version: VersionTag(raw: Bytes16(high: tag.high, low: tag.low + 1)),
      incarnation: Incarnation(tag: VersionTag(raw: tag), index: 258), values: ["n1", "Zoë", nil, 0, "x"])
  }()

  private func table(extra: ColumnDefinition?) throws -> TableInfo {
    let columns = [
      ColumnDefinition("id", .text), ColumnDefinition("title", .text), ColumnDefinition("body", .text, optional: true),
      ColumnDefinition("n", .integer, rule: .counter), ColumnDefinition("body2", .text, optional: true),
    ]
    let notes = TableDefinition("notes", columns: columns + (extra.map { [$0] } ?? []), spaces: [.constant("all:x")])
    let schema = Schema(
      "notes", version: 1, spaces: [SpaceDefinition("all", members: .everyone)],
      features: [FeatureDefinition("notes", .replica, tables: [notes])])
    return try #require(try Catalog(schema).table("notes"))
  }
}
