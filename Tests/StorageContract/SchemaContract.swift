// SPDX-License-Identifier: Apache-2.0

import SkerryModel
import SkerryServerCore
import Testing

/// A database that is opened with a later version of its schema: what follows from the schema is derived anew, the rest stays.
extension StorageContract {
  package static let schemas: [ContractCase] = [
    ContractCase("opening a database again with the same schema changes nothing") { world in
      try world.live()
      let before = try world.everything()
      _ = try world.reopen(Catalog(.contract))
      #expect(try world.everything() == before)
    },
    ContractCase("a later schema begins an epoch, and keeps positions and the safe mark") { world in
      try world.live()
      try world.storage.write { transaction in
        var history = try transaction.history()
        (history.head, history.safe, history.floor) = (40, 30, 20)
        try transaction.setHistory(history)
      }
      let before = try world.storage.read { try $0.history() }
      let after = try world.reopen(Catalog(later())).read { try $0.history() }
      #expect(after.epoch != before.epoch)
      #expect(after.head > before.head)
      #expect((after.safe, after.floor) == (30, 20))
    },
    ContractCase("rows keep values, versions and incarnations under a later schema, whoever wrote them") { world in
      try world.live()
      let keys = ["theirs", "ours"].map { Sample.item($0) }
      let before = try keys.map { try world.row($0) }
      let storage = try world.reopen(Catalog(later()))
      let after = try storage.read { transaction in try keys.map { try transaction.row($0) } }
      #expect(after == before)
      #expect(after.allSatisfy { $0 != nil })
    },
    ContractCase("log, digests, memberships and the sequencer's memory follow from the later schema alone") { world in
      try world.live()
      let storage = try world.reopen(Catalog(later()))
      let found = try storage.read { transaction in
        try (
          transaction.liveSubjects(in: "team:t", after: nil, target: .max, limit: 100),
          transaction.liveSubjects(in: "user:ana", after: nil, target: .max, limit: 100),
          transaction.head(of: "team:t").digest.rows, transaction.head(of: "user:ana").digest.rows,
          transaction.memberships(of: "ana").map(\.space), transaction.memberships(of: "gone"),
          transaction.sequenced(Sample.item("ours"))?.spaces, transaction.entries(in: "team:old", after: 0, limit: 9)
        )
      }
      let team: [RowKey] = [RowKey("member", "m"), RowKey("team", "t")]
      #expect(Set(found.0) == Set(team.map { .row($0) }), "no item is in its second space any more")
      #expect(Set(found.1) == [.row(Sample.item("ours")), .row(Sample.item("theirs"))], "no seat is left")
      #expect((found.2, found.3) == (2, 2))
      #expect(found.4 == ["team:t"])
      #expect(found.5.isEmpty && found.7.isEmpty)
      #expect(found.6 == ["user:ana"])
    },
    ContractCase("receipts, their homes and positions, numbers and replicas stay, and so do captured receipts") {
      world in
      try world.live()
      let key = receiptKey("ana", .numbered(7))
      try world.storage.write { transaction in
        try transaction.register("r", of: "ana")
        try transaction.insertReceipt(key, verdict(7, .rejected))
        try transaction.addHome("r", of: key)
        try transaction.setPosition(3, of: key, in: "r")
        try transaction.setMutation("r", number: 1, key.mutation)
        try transaction.insertReceipt(receiptKey("ana", .numbered(8)), verdict(8, .confirmed))
        try transaction.addHome("r", of: receiptKey("ana", .numbered(8)))
        try transaction.captureReceipt(receiptKey("ana", .numbered(8)))
      }
      let storage = try world.reopen(Catalog(later()))
      let found = try storage.read { transaction in
        try (
          transaction.receipt(key), transaction.homes(of: key), transaction.mutation("r", number: 1),
          transaction.owner(of: "r"), transaction.liveSubjects(in: "replica:r", after: nil, target: .max, limit: 9),
          transaction.captures().map(\.subject)
        )
      }
      #expect(found.0 == verdict(7, .rejected))
      #expect(found.1 == ["r"] && found.2 == .numbered(7) && found.3 == "ana")
      // The later one waits for its position, or has it.
      let waits: Capture.Subject = .receipt(receiptKey("ana", .numbered(8)))
      #expect(found.4.contains(.receipt(key)))
      #expect(found.4.contains(waits) != found.5.contains(waits))
    },
    ContractCase("nothing is captured of a table that a later schema does not declare, and all of one that it declares")
    { world in
      try world.live()
      let storage = try world.reopen(Catalog(later()))
      try world.foreign("UPDATE seat SET owner = 'bob'")
      #expect(try !storage.read { try $0.hasCaptures() })
      try world.foreign("UPDATE item SET title = 'later' WHERE id = 'ours'")
      #expect(try storage.read { try $0.captures().map(\.subject) } == [.row(Sample.item("ours"))])
    },
    ContractCase("a storage that was opened with an earlier schema refuses from then on") { world in
      try world.live()
      _ = try world.reopen(Catalog(later()))
      #expect(throws: StorageError.self) { try world.storage.read { try $0.history() } }
      #expect(throws: StorageError.self) { try world.storage.write { try $0.register("r", of: "ana") } }
      #expect(throws: StorageError.self) { try world.storage.writeSoon { try $0.register("r", of: "ana") } }
    },
  ]

  /// Items have one space, seats and tickets are not declared.
  private static func later() -> Schema {
    var schema = Schema.contract
    schema.version += 1
    for feature in schema.features.indices {
      schema.features[feature].tables.removeAll { ["seat", "ticket"].contains($0.name) }
      for table in schema.features[feature].tables.indices where schema.features[feature].tables[table].name == "item" {
        schema.features[feature].tables[table].spaces = [.named(column: "home")]
      }
    }
    return schema
  }
}

extension StorageWorld {
  /// Rows of both kinds of writers, and something derived that the rows do not bear out.
  fileprivate func live() throws {
    try foreign("INSERT INTO team(id) VALUES ('t')")
    try foreign("INSERT INTO member(id, team, account) VALUES ('m', 't', 'ana')")
    try foreign("INSERT INTO seat(id, owner) VALUES (1, 'ana')")
    try foreign("INSERT INTO item(id, n, home, also) VALUES ('theirs', 0, 'user:ana', 'team:t')")
    try write(
      Sample.item("ours"), Sample.values(item: "ours", home: "user:ana", also: "team:t"), by: 1)
    try storage.write { transaction in
      try transaction.setEntry("team:t", Sample.item("ours"), at: 1, .live)
      try transaction.setEntry("user:ana", RowKey("seat", 1), at: 2, .live)
      try transaction.setEntry("team:old", Sample.item("ended"), at: 3, .deleted)
      try transaction.setMembership(Membership(user: "gone", space: "team:t"), at: 4, isInside: true)
      try transaction.setSequenced(
        Sample.item("ours"), SequencedRow(spaces: ["team:t"], hash: Sample.hash(1), memberships: []))
      var digest = SpaceDigest()
      digest.add(Sample.hash(1))
      try transaction.setHead(of: "team:t", position: 4, digest: digest)
      try transaction.addRun(last: 4, nonce: "four")
      var history = try transaction.history()
      history.head = 4
      try transaction.setHistory(history)
    }
  }

  fileprivate func everything() throws -> [String] {
    try storage.read { transaction in
      try [
        "\(transaction.history())", "\(transaction.captures())", "\(transaction.memberships(of: "gone"))",
        "\(transaction.entries(in: "team:t", after: 0, limit: 9))", "\(transaction.head(of: "team:t"))",
        "\(String(describing: transaction.row(Sample.item("ours"))))",
        "\(String(describing: transaction.sequenced(Sample.item("ours"))))",
      ]
    }
  }
}
