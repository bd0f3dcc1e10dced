// SPDX-License-Identifier: Apache-2.0

import SkerryMerge
import SkerryModel
import SkerryServerCore
import Testing

/// What is captured, in which transaction, and under which numbers: `Captures`, and the third sentence of `Storage`.
extension StorageContract {
  package static let captures: [ContractCase] = [
    ContractCase("an empty database has captured nothing") { world in
      let found = try world.storage.read { try ($0.hasCaptures(), $0.captures()) }
      #expect(!found.0)
      #expect(found.1.isEmpty)
    },
    ContractCase("every insert, change and deletion by another program is captured") { world in
      let steps = [
        Sample.insert(item: "a"), "UPDATE item SET title = 'x' WHERE id = 'a'", "UPDATE item SET title = NULL",
        "UPDATE item SET n = n + 1", "DELETE FROM item WHERE id = 'a'",
      ]
      for step in steps {
        try world.foreign(step)
        #expect(try world.storage.read { try $0.hasCaptures() }, "\(step)")
        #expect(try world.capturedRows() == [Sample.item("a")], "\(step)")
        try world.clearCaptures()
      }
    },
    ContractCase("an update that changes nothing is not captured, row by row") { world in
      try world.foreign("INSERT INTO item(id, title, n, home) VALUES ('a', 'x', 1, NULL), ('b', 'y', 1, NULL)")
      let versions = try ["a", "b"].map { try world.row(Sample.item($0))?.version }
      try world.clearCaptures()
      for update in [
        "UPDATE item SET title = title", "UPDATE item SET title = 'x', n = 1, home = NULL WHERE id = 'a'",
        "UPDATE item SET id = id", "UPDATE item SET title = 'z' WHERE id = 'c'", "DELETE FROM item WHERE id = 'c'",
      ] {
        try world.foreign(update)
        #expect(try world.captures().isEmpty, "\(update)")
      }
      try world.foreign("UPDATE item SET title = 'x'")
      #expect(try world.capturedRows() == [Sample.item("b")])
      #expect(try world.row(Sample.item("a"))?.version == versions[0])
      #expect(try world.row(Sample.item("b"))?.version != versions[1])
    },
    ContractCase("a change of case, of normal form, of class or to NULL is a change") { world in
      try world.foreign("INSERT INTO measure(id, owner, words) VALUES ('i', 'ana', 'a')")
      let values = ["'A'", "'a '", "'\u{E9}'", "'e\u{301}'", "NULL", "''", "'\u{212A}'", "'K'"]
      for value in values {
        try world.clearCaptures()
        try world.foreign("UPDATE measure SET words = \(value)")
        #expect(try world.captures().count == 1, "\(value)")
      }
      for (column, values) in [("bytes", ["X''", "X'00'", "NULL"]), ("price", ["0.5", "1.0", "NULL"])] {
        for value in values {
          try world.clearCaptures()
          try world.foreign("UPDATE measure SET \(column) = \(value)")
          #expect(try world.captures().count == 1, "\(column) \(value)")
        }
      }
    },
    ContractCase("a statement that writes many rows captures each of them") { world in
      try world.foreign("INSERT INTO seat(id, owner) VALUES (1, 'ana'), (2, 'bob'), (3, NULL)")
      let all = Set([1, 2, 3].map { RowKey("seat", .integer($0)) })
      #expect(try world.capturedRows() == all)
      try world.clearCaptures()
      try world.foreign("UPDATE seat SET owner = 'cat'")
      #expect(try world.capturedRows() == all)
      try world.clearCaptures()
      try world.foreign("INSERT INTO seat(id, owner) SELECT id + 10, owner FROM seat")
      #expect(try world.capturedRows() == Set([11, 12, 13].map { RowKey("seat", .integer($0)) }))
      try world.clearCaptures()
      try world.foreign("DELETE FROM seat")
      #expect(try world.capturedRows() == all.union([11, 12, 13].map { RowKey("seat", .integer($0)) }))
    },
    ContractCase("a key that changes is the end of one row and the beginning of another") { world in
      try world.foreign(Sample.insert(item: "a"))
      let before = try world.row(Sample.item("a"))
      try world.clearCaptures()
      try world.foreign("UPDATE item SET id = 'b' WHERE id = 'a'")
      #expect(try world.capturedRows() == [Sample.item("a"), Sample.item("b")])
      #expect(try world.row(Sample.item("a")) == nil)
      let after = try world.row(Sample.item("b"))
      #expect(after != nil)
      #expect(after?.incarnation != before?.incarnation)
      try world.clearCaptures()
      try world.foreign("INSERT INTO place(town, street, house, owner) VALUES ('x', 'y', 1, 'ana')")
      try world.foreign("UPDATE place SET house = 2")
      #expect(try world.capturedRows() == [RowKey("place", "x", "y", 1), RowKey("place", "x", "y", 2)])
    },
    ContractCase("an insert that meets a live row and changes it is captured, and keeps the incarnation") { world in
      for upsert in world.upserts {
        try world.foreign("DELETE FROM item")
        try world.foreign(Sample.insert(item: "a", title: "'old'"))
        let before = try world.row(Sample.item("a"))
        try world.clearCaptures()
        let sql = upsert(.init(table: "item", columns: ["id", "title", "n"], literals: ["'a'", "'new'", "0"]))
        try world.foreign(sql)
        let after = try world.row(Sample.item("a"))
        #expect(try world.capturedRows() == [Sample.item("a")], "\(sql)")
        #expect(after?.values[0] == "new", "\(sql)")
        #expect(after?.incarnation == before?.incarnation, "\(sql)")
        #expect(after?.version != before?.version, "\(sql)")
      }
    },
    ContractCase("an insert that meets no row, or one that has died, is a new incarnation by every way to insert") {
      world in
      for upsert in world.upserts {
        let sql = upsert(.init(table: "item", columns: ["id", "title", "n"], literals: ["'a'", "'new'", "0"]))
        try world.foreign("DELETE FROM item")
        try world.foreign(sql)
        let first = try world.row(Sample.item("a"))?.incarnation
        try world.commit("DELETE FROM item", sql)
        let second = try world.row(Sample.item("a"))?.incarnation
        #expect(first != nil && second != nil && first != second, "\(sql)")
        #expect(try world.capturedRows() == [Sample.item("a")], "\(sql)")
      }
    },
    ContractCase("what the app's own triggers change is captured too") { world in
      try world.install(
        .init(table: "item", statement: "INSERT INTO notice(id, words) SELECT 'n' || count(*), 'made' FROM notice"))
      try world.install(.init(table: "notice", statement: "UPDATE seat SET owner = 'ana' WHERE owner = 'bob'"))
      try world.foreign("INSERT INTO seat(id, owner) VALUES (1, 'bob'), (2, 'cat')")
      try world.clearCaptures()
      try world.foreign(Sample.insert(item: "a"))
      #expect(try world.capturedRows() == [Sample.item("a"), RowKey("notice", "n0"), RowKey("seat", 1)])
      try world.clearCaptures()
      try world.write(Sample.item("b"), Sample.values(item: "b"), by: 1)
      #expect(try world.capturedRows() == [Sample.item("b"), RowKey("notice", "n1")])
      #expect(try world.row(RowKey("notice", "n1"))?.values == ["n1", "made"])
    },
    ContractCase("a capture belongs to the transaction of its change") { world in
      try world.foreign(world.begin)
      try world.foreign(Sample.insert(item: "a"))
      try world.foreign(Sample.insert(item: "b"))
      #expect(try world.captures().isEmpty)
      try world.foreign("ROLLBACK")
      #expect(try world.captures().isEmpty)
      try world.commit(Sample.insert(item: "a"), Sample.insert(item: "b"))
      #expect(try world.capturedRows() == [Sample.item("a"), Sample.item("b")])
      let isThrown = try constraint {
        try world.storage.write { transaction in
          try transaction.put(Sample.item("c"), Sample.values(item: "c"), by: Writer(mutation: .numbered(1), index: 0))
          throw StorageError.constraint("")
        }
      }
      #expect(isThrown == "")
      #expect(try world.capturedRows() == [Sample.item("a"), Sample.item("b")])
    },
    ContractCase("captures come in the order of their numbers, and no number comes twice") { world in
      var seen: Set<Int64> = []
      for round in 0..<4 {
        try world.foreign("INSERT INTO seat(id) VALUES (\(round * 10)), (\(round * 10 + 1))")
        try world.write(Sample.item("\(round)"), Sample.values(item: "\(round)"), by: round)
        try world.foreign("UPDATE seat SET owner = 'x\(round)'")
        let numbers = try world.captures().map(\.number)
        #expect(numbers == numbers.sorted())
        #expect(Set(numbers).count == numbers.count && seen.isDisjoint(with: numbers))
        seen.formUnion(numbers)
        try world.clearCaptures()
      }
    },
    ContractCase("exactly the captures that are named are removed") { world in
      for id in ["a", "b", "c", "d"] { try world.foreign(Sample.insert(item: id)) }
      let all = try world.captures()
      try world.storage.write { try $0.removeCaptures([all[1].number, all[2].number, 1_000_000]) }
      #expect(try world.captures() == [all[0], all[3]])
      try world.storage.write { try $0.removeCaptures([]) }
      #expect(try world.captures().count == 2)
      try world.foreign("UPDATE item SET title = 'late' WHERE id = 'a'")
      try world.storage.write { try $0.removeCaptures(all.map(\.number)) }
      #expect(try world.captures().map(\.subject) == [.row(Sample.item("a"))])
      try world.clearCaptures()
      #expect(try !world.storage.read { try $0.hasCaptures() })
    },
    ContractCase("a receipt that is new, or wanted by another replica, is captured beside rows") { world in
      let keys = Keys.texts.map { ReceiptKey(user: AccountID($0), mutation: .numbered(7)) }
      try world.storage.write { transaction in for key in keys { try transaction.captureReceipt(key) } }
      try world.foreign(Sample.insert(item: "a"))
      #expect(try world.captures().map(\.subject) == keys.map { .receipt($0) } + [.row(Sample.item("a"))])
      try world.storage.write { try $0.captureReceipt(keys[0]) }
      #expect(try world.captures().count == keys.count + 2)
    },
  ]
}
