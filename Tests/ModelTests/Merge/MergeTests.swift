// SPDX-License-Identifier: Apache-2.0

import SkerryAmbientKit
import SkerryMerge
import SkerryModel
import Testing

@Suite("The merge") struct MergeTests {
  private static let old = MutationID(raw: Bytes16(high: 1, low: 1))
  private static let seen = MutationID(raw: Bytes16(high: 1, low: 2))
  private static let newer = MutationID(raw: Bytes16(high: 1, low: 3))
  private static let now = MutationID(raw: Bytes16(high: 1, low: 9))
  private static let life = Incarnation(tag: old.tag, index: 0)
  private static let otherLife = Incarnation(tag: newer.tag, index: 0)
  private static let key = RowKey("people", "p1")

  private static func row(
    _ version: MutationID = seen, _ incarnation: Incarnation = life, visits: Value = 4
  ) -> RowState {
    RowState(values: ["p1", "A", nil, "t", nil, visits], version: version.tag, incarnation: incarnation)
  }

  /// The states in which an operation may find a row.
  enum Found: Sendable {
    case absent
    case otherIncarnation
    case present
    case stale

    var row: RowState? {
      switch self {
      case .absent: nil
      case .otherIncarnation: MergeTests.row(newer, otherLife)
      case .present: MergeTests.row()
      case .stale: MergeTests.row(newer)
      }
    }
  }

  private static let set = Operation(key, life, .set([Field("name", "B"), Field("score", 1.5)], base: seen.tag))
  private static let setUnbased = Operation(key, life, .set([Field("name", "B"), Field("score", 1.5)], base: nil))
  private static let increment = Operation(key, life, .increment("visits", by: -7))
  private static let delete = Operation(key, life, .delete)
  private static let insert = Operation(key, nil, .insert([Field("name", "N"), Field("visits", 2)]))

  private static let wasSet = RowState(values: ["p1", "B", 1.5, "t", nil, 4], version: now.tag, incarnation: life)
  private static let wasCounted = RowState(values: ["p1", "A", nil, "t", nil, -3], version: now.tag, incarnation: life)
  private static let wasInserted = RowState(
    values: ["p1", "N", nil, nil, nil, 2], version: now.tag, incarnation: Incarnation(tag: now.tag, index: 5))

  /// An operation, what it finds, and what becomes of the row without and with a check of versions.
  struct Meeting: Sendable {
    let operation: Operation
    let found: Found
    let unchecked: Decision
    let checked: Decision

    init(_ operation: Operation, _ found: Found, _ unchecked: Decision, checked: Decision? = nil) {
      self.operation = operation
      self.found = found
      self.unchecked = unchecked
      self.checked = checked ?? unchecked
    }
  }

  static let meetings: [Meeting] = [
    Meeting(insert, .absent, .becomes(wasInserted)),
    Meeting(insert, .otherIncarnation, .refused(.exists)),
    Meeting(insert, .present, .refused(.exists)),
    Meeting(insert, .stale, .refused(.exists)),
    Meeting(set, .absent, .refused(.gone)),
    Meeting(set, .otherIncarnation, .refused(.gone)),
    Meeting(set, .present, .becomes(wasSet)),
    Meeting(set, .stale, .becomes(wasSet), checked: .refused(.stale)),
    Meeting(setUnbased, .absent, .refused(.gone)),
    Meeting(setUnbased, .otherIncarnation, .refused(.gone)),
    Meeting(setUnbased, .present, .becomes(wasSet), checked: .refused(.stale)),
    Meeting(setUnbased, .stale, .becomes(wasSet), checked: .refused(.stale)),
    Meeting(increment, .absent, .refused(.gone)),
    Meeting(increment, .otherIncarnation, .refused(.gone)),
    Meeting(increment, .present, .becomes(wasCounted)),
    Meeting(increment, .stale, .becomes(wasCounted)),
    Meeting(delete, .absent, .refused(.gone)),
    Meeting(delete, .otherIncarnation, .refused(.gone)),
    Meeting(delete, .present, .becomes(nil)),
    Meeting(delete, .stale, .becomes(nil)),
  ]

  @Test(arguments: meetings)
  func `each operation meets each state of a row`(meeting: Meeting) throws {
    for (detection, decision) in [(Detection.none, meeting.unchecked), (.version, meeting.checked)] {
      let info = try people(detection)
      #expect(Merge.apply(meeting.operation, at: 5, of: MergeTests.now, to: meeting.found.row, in: info) == decision)
    }
  }

  @Test func `a counter that would leave 64 bits is refused, and its edges are reached`() throws {
    let info = try people(.none)
    func count(_ start: Int64, _ amount: Int64) -> Decision {
      let operation = Operation(MergeTests.key, MergeTests.life, .increment("visits", by: amount))
      return Merge.apply(
        operation, at: 0, of: MergeTests.now, to: MergeTests.row(visits: .integer(start)), in: info)
    }
    #expect(count(.max, 1) == .refused(.overflow))
    #expect(count(.min, -1) == .refused(.overflow))
    #expect(count(-1, .min) == .refused(.overflow))
    for (start, amount, sum) in [(.max - 1, 1, .max), (.min + 1, -1, .min), (.max, .min, -1), (0, .min, .min)]
      as [(Int64, Int64, Int64)]
    {
      guard case .becomes(let row?) = count(start, amount) else {
        Issue.record("refused: \(start) + \(amount)")
        continue
      }
      #expect(row.values[5] == .integer(sum))
    }
  }

  @Test func `increments add up in any order`() throws {
    var generator = SeededGenerator(seed: 61)
    let info = try people(.version)
    let amounts = (0..<20).map { _ in Int64.random(in: -100...100, using: &generator) }
    for _ in 0..<5 {
      var row: RowState? = MergeTests.row(visits: 0)
      for amount in amounts.shuffled(using: &generator) {
        let operation = Operation(MergeTests.key, MergeTests.life, .increment("visits", by: amount))
        guard case .becomes(let next) = Merge.apply(operation, at: 0, of: MergeTests.now, to: row, in: info) else {
          continue
        }
        row = next
      }
      #expect(row?.values[5] == .integer(amounts.reduce(0, +)))
    }
  }

  @Test func `sets of different fields commute, and the last of one field stays`() throws {
    let info = try people(.none)
    func apply(_ fields: [Field], _ row: RowState) throws -> RowState {
      let operation = Operation(MergeTests.key, MergeTests.life, .set(fields, base: nil))
      guard case .becomes(let next?) = Merge.apply(operation, at: 0, of: MergeTests.now, to: row, in: info) else {
        throw CancellationError()
      }
      return next
    }
    let (name, score) = ([Field("name", "B")], [Field("score", 2.5)])
    #expect(try apply(name, apply(score, MergeTests.row())) == apply(score, apply(name, MergeTests.row())))
    #expect(try apply([Field("name", "C")], apply(name, MergeTests.row())).values[1] == "C")
  }

  @Test func `a row that was deleted and made anew does not take an edit of its former life`() throws {
    let info = try people(.none)
    let again = Merge.apply(MergeTests.insert, at: 1, of: MergeTests.now, to: nil, in: info)
    guard case .becomes(let row?) = again else {
      Issue.record("refused")
      return
    }
    #expect(row.incarnation != MergeTests.life)
    #expect(Merge.apply(MergeTests.setUnbased, at: 0, of: MergeTests.newer, to: row, in: info) == .refused(.gone))
    #expect(Merge.apply(MergeTests.delete, at: 0, of: MergeTests.newer, to: row, in: info) == .refused(.gone))
  }

  @Test func `the key's values are those of the key, in the schema's order`() throws {
    let info = try #require(try Shop.catalog().table("memberships"))
    let operation = Operation(RowKey("memberships", "north", "ana"), nil, .insert([Field("role", "lead")]))
    let expected = RowState(
      values: ["ana", "lead", "north"], version: MergeTests.now.tag,
      incarnation: Incarnation(tag: MergeTests.now.tag, index: 0))
    #expect(Merge.apply(operation, at: 0, of: MergeTests.now, to: nil, in: info) == .becomes(expected))
  }

  @Test func `an operation that no check has seen is refused and traps nowhere`() throws {
    let info = try people(.none)
    let unchecked = [
      Operation(MergeTests.key, MergeTests.life, .set([Field("x", 1)], base: nil)),
      Operation(MergeTests.key, MergeTests.life, .increment("x", by: 1)),
      Operation(MergeTests.key, MergeTests.life, .increment("name", by: 1)),
    ]
    for operation in unchecked {
      #expect(Merge.apply(operation, at: 0, of: MergeTests.now, to: MergeTests.row(), in: info) == .refused(.invalid))
    }
    let nameless = Operation(MergeTests.key, nil, .delete)
    #expect(Merge.apply(nameless, at: 0, of: MergeTests.now, to: MergeTests.row(), in: info) == .refused(.gone))
  }

  private func people(_ detection: Detection) throws -> TableInfo {
    let schema = Shop.schema.changing("people") { $0.detection = detection }
    return try #require(try Catalog(schema).table("people"))
  }
}
