// SPDX-License-Identifier: Apache-2.0

import SkerryMerge
import SkerryModel
import SkerryServerCore
import Testing

/// `AppRows.row` and `AppRows.write`.
extension StorageContract {
  package static let rows: [ContractCase] = [
    ContractCase("a row that is not there is nil") { world in
      #expect(try world.row(Sample.item("a")) == nil)
      try world.foreign(Sample.insert(item: "a"))
      #expect(try world.row(Sample.item("b")) == nil)
    },
    ContractCase("a row has the values of all columns in the schema's order, each in its class") { world in
      for (index, values) in Measures.all.enumerated() {
        let key = RowKey("measure", values[0])
        try world.write(key, values, by: index)
        #expect(try world.row(key)?.values == values)
      }
    },
    ContractCase("a row that another program wrote has the same values") { world in
      try world.foreign(Measures.insert)
      let key = RowKey("measure", .text(Measures.id(0)))
      #expect(try world.row(key)?.values == Measures.inserted)
    },
    ContractCase("an insert has the mutation as its version, and with its place in it as its incarnation") { world in
      try world.write(Sample.item("a"), Sample.values(item: "a"), by: 7, index: 3)
      let row = try world.row(Sample.item("a"))
      #expect(row?.version == MutationID.numbered(7).tag)
      #expect(row?.incarnation == Incarnation(tag: MutationID.numbered(7).tag, index: 3))
    },
    ContractCase("an update moves the version and keeps the incarnation, other columns stay") { world in
      let key = Sample.item("a")
      try world.write(key, Sample.values(item: "a", title: "one", n: 5, home: "user:ana"), by: 1, index: 2)
      try world.write(key, Sample.values(item: "a", title: "two", n: 5, home: "user:ana"), by: 2)
      let row = try world.row(key)
      #expect(row?.values == Sample.values(item: "a", title: "two", n: 5, home: "user:ana"))
      #expect(row?.version == MutationID.numbered(2).tag)
      #expect(row?.incarnation == Incarnation(tag: MutationID.numbered(1).tag, index: 2))
    },
    ContractCase("a mutation that sets what is there already counts as a version all the same") { world in
      let key = Sample.item("a")
      try world.write(key, Sample.values(item: "a", title: "one"), by: 1)
      try world.clearCaptures()
      try world.write(key, Sample.values(item: "a", title: "one"), by: 2)
      #expect(try world.row(key)?.version == MutationID.numbered(2).tag)
      #expect(try world.row(key)?.incarnation.tag == MutationID.numbered(1).tag)
      #expect(try world.capturedRows() == [key])
    },
    ContractCase("a deleted row is gone, and one that comes again is another incarnation") { world in
      let key = Sample.item("a")
      try world.write(key, Sample.values(item: "a"), by: 1)
      try world.write(key, nil, by: 2)
      #expect(try world.row(key) == nil)
      try world.write(key, Sample.values(item: "a"), by: 3, index: 1)
      #expect(try world.row(key)?.incarnation == Incarnation(tag: MutationID.numbered(3).tag, index: 1))
    },
    ContractCase("a row that a mutation deletes and inserts again is another incarnation") { world in
      let key = Sample.item("a")
      try world.write(key, Sample.values(item: "a"), by: 1)
      try world.storage.write { transaction in
        try transaction.put(key, nil, by: Writer(mutation: .numbered(2), index: 1))
        try transaction.put(key, Sample.values(item: "a"), by: Writer(mutation: .numbered(2), index: 1))
      }
      #expect(try world.row(key)?.incarnation == Incarnation(tag: MutationID.numbered(2).tag, index: 1))
    },
    ContractCase("several rows of one mutation have one version") { world in
      try world.storage.write { transaction in
        for (index, id) in ["a", "b"].enumerated() {
          try transaction.put(
            Sample.item(id), Sample.values(item: id), by: Writer(mutation: .numbered(1), index: UInt16(index)))
        }
      }
      let rows = try ["a", "b"].map { try world.row(Sample.item($0)) }
      #expect(rows.map { $0?.version } == [MutationID.numbered(1).tag, MutationID.numbered(1).tag])
      #expect(rows.map { $0?.incarnation.index } == [0, 1])
    },
    ContractCase("nothing becomes nothing") { world in
      try world.storage.write { transaction in
        try transaction.write(Sample.item("a"), from: nil, to: nil, by: Writer(mutation: .numbered(1), index: 0))
      }
      #expect(try world.row(Sample.item("a")) == nil)
      #expect(try world.captures().isEmpty)
    },
    ContractCase("what the database refuses is a constraint, named without values") { world in
      try world.write(Sample.item("secret"), Sample.values(item: "secret"), by: 1)
      let refused: [(RowKey, [Value])] = [
        (Sample.item("secret"), Sample.values(item: "secret")),
        (RowKey("member", "secret"), ["secret", .null, "secret"]),
      ]
      for (key, values) in refused {
        let incarnation = Incarnation(tag: MutationID.numbered(2).tag, index: 0)
        let new = RowState(values: values, version: MutationID.numbered(2).tag, incarnation: incarnation)
        let text = try constraint {
          try world.storage.write {
            try $0.write(key, from: nil, to: new, by: Writer(mutation: .numbered(2), index: 0))
          }
        }
        #expect(text?.isEmpty == false, "\(key.table)")
        #expect(text?.contains("secret") == false)
      }
      #expect(try world.row(Sample.item("secret"))?.version == MutationID.numbered(1).tag)
    },
    ContractCase("a transaction that goes on after a refused row has nothing of it") { world in
      let writer = Writer(mutation: .numbered(2), index: 0)
      try world.storage.write { transaction in
        let text = try constraint {
          try transaction.savepoint { try transaction.put(RowKey("member", "m"), ["m", .null, "x"], by: writer) }
        }
        #expect(text != nil)
        try transaction.put(Sample.item("a"), Sample.values(item: "a"), by: Writer(mutation: .numbered(3), index: 0))
      }
      #expect(try world.row(RowKey("member", "m")) == nil)
      try world.foreign(Sample.insert(item: "b"))
      let versions = try ["a", "b"].map { try world.row(Sample.item($0))?.version }
      #expect(versions[0] == MutationID.numbered(3).tag)
      #expect(versions[1] != MutationID.numbered(2).tag && versions[1] != MutationID.numbered(3).tag)
    },
    ContractCase("keys of every type and any text name their rows") { world in
      for (index, key) in Keys.all.enumerated() {
        let values = Keys.values(key)
        try world.write(key, values, by: index)
        #expect(try world.row(key)?.values == values, "\(key)")
        #expect(try world.row(key)?.version == MutationID.numbered(index).tag, "\(key)")
      }
      #expect(try world.capturedRows() == Set(Keys.all))
      for (index, key) in Keys.all.enumerated() {
        #expect(try world.row(key)?.version == MutationID.numbered(index).tag, "\(key) was taken for another")
      }
      for key in Keys.all { try world.write(key, nil, by: 99) }
      #expect(try Keys.all.allSatisfy { try world.row($0) == nil })
    },
  ]
}

/// Rows of the table that has every type of column.
enum Measures {
  static func id(_ number: Int) -> String { "01890000-0000-7000-8000-00000000000\(number)" }

  static let all: [[Value]] = [
    [
      .text(id(0)), "ana", "words", .integer(.max), 0.1, 1, .blob([0, 255]), #"{"a":[1]}"#, .integer(1_800_000_000_000),
      "-12.50", "2024-02-29",
    ],
    [
      .text(id(1)), "ana", "", .integer(.min), .real(.greatestFiniteMagnitude), 0, .blob([]), "[]", 0, "0",
      "0001-01-01",
    ],
    [.text(id(2)), "ana", .null, .null, .null, .null, .null, .null, .null, .null, .null],
    [
      .text(id(3)), "", "it's \u{1F600}\n", 0, .real(.leastNonzeroMagnitude), 1, .blob([39]), "null", -1, "1",
      "9999-12-31",
    ],
    [.text(id(4)), "ana", "x", -1, 3.0, 0, .blob(Array(repeating: 7, count: 70_000)), "\"\"", 1, "0.1", "2000-01-01"],
  ]

  static let insert = """
    INSERT INTO measure(id, owner, words, size, price, done, bytes, detail, moment, amount, born)
    VALUES ('\(id(0))', 'ana', 'it''s', -5, 2.5, 1, X'00FF', '{}', 12, '1.0', '2024-01-01')
    """

  static let inserted: [Value] = [
    .text(id(0)), "ana", "it's", -5, 2.5, 1, .blob([0, 255]), "{}", 12, "1.0", "2024-01-01",
  ]
}

/// Keys that are easily taken for others.
enum Keys {
  static let texts = [
    "", " ", "a", "a ", "A", "'", "''", "a','b", "\u{E9}", "e\u{301}", "\u{212A}", "K", "k", "'\u{301}", "a'\u{301}b",
    "a'\u{200D}'", "\u{FE0F}", "NULL", "0", "X'00'", "\"", "\\", "%_", "\n", "\r\n", "\u{1F469}\u{200D}\u{1F467}",
    "--", ";", ",", "/",
  ]

  static let all: [RowKey] =
    texts.map { RowKey("item", .text($0)) }
    + [.min, -10, -1, 0, 1, 9, 10, .max].map { RowKey("seat", .integer($0)) }
    + [[], [0], [0, 0], [39], [88, 39], [255], Array(repeating: 1, count: 200)].map { RowKey("ticket", .blob($0)) }
    + [
      ("a", "b", 1), ("a,b", "", 1), ("a", "b,1", 1), ("a','b", "c", 1), ("a", "b','c", 1), ("", "", -1), ("b", "a", 1),
    ]
    .map { RowKey("place", .text($0.0), .text($0.1), .integer($0.2)) }

  static func values(_ key: RowKey) -> [Value] {
    let parts = key.values
    switch key.table {
    case "item": return [.null, parts[0], 0, .null, .null]
    case "place": return [parts[2], parts[1], parts[0], "ana"]
    default: return [parts[0], .null]
    }
  }
}
