// SPDX-License-Identifier: Apache-2.0

import SkerryMerge
import SkerryModel
import SkerryServerCore
import Testing

/// `AppRows.children`, `isMember` and `isUsed`.
extension StorageContract {
  package static let relatives: [ContractCase] = [
    ContractCase("children are the rows that name a row as their parent by any rule, whether or not it is there") {
      world in
      try world.foreign("INSERT INTO note(id, item, other) VALUES ('by-item', 'a', 'z'), ('by-other', 'z', 'a')")
      try world.foreign("INSERT INTO note(id, item, other) VALUES ('no', 'b', NULL), ('orphan', NULL, NULL)")
      #expect(try world.children(of: Sample.item("a")) == [RowKey("note", "by-item"), RowKey("note", "by-other")])
      try world.foreign(Sample.insert(item: "a"))
      #expect(try world.children(of: Sample.item("a")) == [RowKey("note", "by-item"), RowKey("note", "by-other")])
      try world.foreign("DELETE FROM item")
      #expect(try world.children(of: Sample.item("a")) == [RowKey("note", "by-item"), RowKey("note", "by-other")])
      #expect(try world.children(of: Sample.item("c")).isEmpty)
    },
    ContractCase("children are one generation, those of their own are theirs") { world in
      try world.foreign("INSERT INTO note(id, item) VALUES ('n', 'a')")
      try world.foreign("INSERT INTO reply(id, note) VALUES ('r', 'n')")
      #expect(try world.children(of: Sample.item("a")) == [RowKey("note", "n")])
      #expect(try world.children(of: RowKey("note", "n")) == [RowKey("reply", "r")])
      #expect(try world.children(of: RowKey("reply", "r")).isEmpty)
    },
    ContractCase("a child that was moved is its new parent's, in the transaction that moved it") { world in
      try world.foreign("INSERT INTO note(id, item) VALUES ('n', 'a')")
      let key = RowKey("note", "n")
      let seen = try world.storage.write { transaction in
        try transaction.put(key, ["n", "b", .null], by: Writer(mutation: .numbered(1), index: 0))
        return try (transaction.children(of: Sample.item("a")), transaction.children(of: Sample.item("b")))
      }
      #expect(seen.0.isEmpty)
      #expect(seen.1 == [key])
    },
    ContractCase("parents have keys of any type and any text") { world in
      try world.foreign("INSERT INTO ticket(id, seat) VALUES (X'01', 7), (X'02', -7), (X'03', 77)")
      #expect(try world.children(of: RowKey("seat", 7)) == [RowKey("ticket", .blob([1]))])
      #expect(try world.children(of: RowKey("seat", -7)) == [RowKey("ticket", .blob([2]))])
      for (index, text) in Keys.texts.enumerated() {
        try world.foreign("INSERT INTO note(id, item) VALUES ('n\(index)', \(Sample.literal(text)))")
      }
      for (index, text) in Keys.texts.enumerated() {
        let found = try world.children(of: Sample.item(text))
        #expect(found == [RowKey("note", .text("n\(index)"))], "children of \(text.debugDescription)")
      }
    },
    ContractCase("a row of the membership table makes its account a member of its space, and nothing else does") {
      world in
      try world.foreign("INSERT INTO member(id, team, account) VALUES ('m1', 't1', 'ana'), ('m2', 't2', 'bob')")
      try world.foreign(Sample.insert(item: "a", home: "'team:t1'"))
      #expect(try world.isMember("ana", "team:t1"))
      #expect(try world.isMember("bob", "team:t2"))
      for (user, space) in [
        ("bob", "team:t1"), ("ana", "team:t2"), ("ana", "team:"), ("ana", "t1"), ("ana", "other:t1"), ("ana", "team"),
        ("ana", "city:all"), ("ana", "user:ana"), ("", "team:t1"), ("ana", "team:t1:"), ("ana", ":t1"),
      ] as [(AccountID, SpaceID)] {
        #expect(try !world.isMember(user, space), "\(user) in \(space)")
      }
    },
    ContractCase("two rows may give a membership, and it lasts while one of them is there") { world in
      try world.foreign("INSERT INTO member(id, team, account) VALUES ('m1', 't1', 'ana'), ('m2', 't1', 'ana')")
      try world.foreign("DELETE FROM member WHERE id = 'm1'")
      #expect(try world.isMember("ana", "team:t1"))
      let isMember = try world.storage.write { transaction in
        try transaction.put(RowKey("member", "m2"), nil, by: Writer(mutation: .numbered(1), index: 0))
        return try transaction.isMember("ana", of: "team:t1")
      }
      #expect(!isMember)
      #expect(try !world.isMember("ana", "team:t1"))
    },
    ContractCase("a space is used while a row names it as its own or a membership does") { world in
      let uses: [(SpaceID, String, String)] = [
        ("team:t1", "INSERT INTO team(id) VALUES ('t1')", "DELETE FROM team"),
        ("team:t2", "INSERT INTO member(id, team, account) VALUES ('m', 't2', 'ana')", "DELETE FROM member"),
        ("team:t3", Sample.insert(item: "a", home: "'team:t3'"), "DELETE FROM item"),
        ("team:t4", "INSERT INTO item(id, n, also) VALUES ('a', 0, 'team:t4')", "UPDATE item SET also = NULL"),
        ("user:ana", "INSERT INTO seat(id, owner) VALUES (1, 'ana')", "UPDATE seat SET owner = 'bob'"),
        ("city:all", "INSERT INTO notice(id) VALUES ('x')", "DELETE FROM notice"),
        ("odd", Sample.insert(item: "b", home: "'odd'"), "DELETE FROM item"),
      ]
      for (space, use, end) in uses {
        #expect(try !world.isUsed(space), "\(space) before")
        try world.foreign(use)
        #expect(try world.isUsed(space), "\(space) by \(use)")
        try world.foreign(end)
        #expect(try !world.isUsed(space), "\(space) after")
      }
    },
    ContractCase("a space is not used by rows of another kind, by the children in it, or by a name that is like it") {
      world in
      try world.foreign(Sample.insert(item: "a", home: "'team:t10'"))
      try world.foreign("INSERT INTO note(id, item) VALUES ('team:t1', 'team:t1')")
      try world.foreign("INSERT INTO seat(id, owner) VALUES (1, 't1'), (2, 'team:t1')")
      try world.foreign("INSERT INTO notice(id) VALUES ('t1')")
      for space in ["team:t1", "team:T10", "team:t10 ", "team:", "city:t1", "user:a"] as [SpaceID] {
        #expect(try !world.isUsed(space), "\(space)")
      }
      for space in ["team:t10", "user:t1", "user:team:t1", "city:all"] as [SpaceID] {
        #expect(try world.isUsed(space), "\(space)")
      }
    },
  ]
}

extension StorageWorld {
  /// In byte order: the contract says nothing of their order.
  func children(of key: RowKey) throws -> [RowKey] { try storage.read { try $0.children(of: key) }.sorted() }

  func isMember(_ user: AccountID, _ space: SpaceID) throws -> Bool {
    try storage.read { try $0.isMember(user, of: space) }
  }

  func isUsed(_ space: SpaceID) throws -> Bool { try storage.read { try $0.isUsed(space) } }
}
