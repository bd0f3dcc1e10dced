// SPDX-License-Identifier: Apache-2.0

import SkerryMerge
import SkerryModel
import SkerryServerCore
import Testing

/// "Ids, spaces, names and keys are compared by bytes": each pair is one text to somebody, and two to us.
extension StorageContract {
  private static let pairs: [(String, String)] = [
    ("\u{E9}", "e\u{301}"), ("K", "\u{212A}"), ("\u{C5}", "\u{212B}"), ("ana", "Ana"), ("ana", "ana "), ("ana", " ana"),
    ("\u{FB01}", "fi"), ("a", "a\u{200D}"), ("\u{3B1}", "\u{391}"), ("stra\u{DF}e", "strasse"), ("1", "01"),
    ("\u{301}x", "x"), ("a", "\u{FF41}"),
  ]

  package static let identity: [ContractCase] = [
    ContractCase("keys are compared by bytes") { world in
      for (one, other) in pairs {
        try world.foreign("DELETE FROM item")
        try world.foreign(Sample.insert(item: one, title: "'one'"))
        #expect(try world.row(Sample.item(other)) == nil, "\(other.debugDescription)")
        try world.foreign(Sample.insert(item: other, title: "'other'"))
        #expect(try world.row(Sample.item(one))?.values[0] == "one")
        try world.write(Sample.item(other), nil, by: 1)
        #expect(try world.row(Sample.item(one)) != nil)
      }
    },
    ContractCase("accounts and spaces of memberships are compared by bytes") { world in
      for (one, other) in pairs {
        try world.foreign("DELETE FROM member")
        let (user, space) = (AccountID(one), SpaceID(kind: "team", id: one))
        try world.foreign(
          "INSERT INTO member(id, team, account) VALUES ('m', \(Sample.literal(one)), \(Sample.literal(one)))")
        #expect(try world.isMember(user, space), "\(one.debugDescription)")
        #expect(try !world.isMember(AccountID(other), space), "\(other.debugDescription)")
        #expect(try !world.isMember(user, SpaceID(kind: "team", id: other)), "\(other.debugDescription)")
        #expect(try world.isUsed(space))
        #expect(try !world.isUsed(SpaceID(kind: "team", id: other)), "\(other.debugDescription)")
      }
    },
    ContractCase("spaces that rows name are compared by bytes") { world in
      for (one, other) in pairs {
        try world.foreign("DELETE FROM item")
        try world.foreign(Sample.insert(item: "a", home: Sample.literal("team:" + one)))
        #expect(try world.isUsed(SpaceID(kind: "team", id: one)), "\(one.debugDescription)")
        #expect(try !world.isUsed(SpaceID(kind: "team", id: other)), "\(other.debugDescription)")
      }
    },
    ContractCase("parents are compared by bytes") { world in
      for (one, other) in pairs {
        try world.foreign("DELETE FROM note")
        try world.foreign("INSERT INTO note(id, item) VALUES ('n', \(Sample.literal(one)))")
        #expect(try world.children(of: Sample.item(one)) == [RowKey("note", "n")], "\(one.debugDescription)")
        #expect(try world.children(of: Sample.item(other)).isEmpty, "\(other.debugDescription)")
      }
    },
    ContractCase("spaces in the log, heads and memberships are compared by bytes") { world in
      for (index, (one, other)) in pairs.enumerated() {
        let (space, twin) = (SpaceID(kind: "p\(index)", id: one), SpaceID(kind: "p\(index)", id: other))
        try world.storage.write { transaction in
          try transaction.setEntry(space, Sample.item(one), at: 1, .live)
          try transaction.setEntry(space, Sample.item(other), at: 2, .live)
          try transaction.setHead(of: space, position: 2, digest: SpaceDigest())
          try transaction.setMembership(Membership(user: AccountID(one), space: space), at: 3, isInside: true)
        }
        let found = try world.storage.read { transaction in
          try (
            transaction.entries(in: space, after: 0, limit: 9).count,
            transaction.entries(in: twin, after: 0, limit: 9).count,
            transaction.head(of: twin).position,
            transaction.memberships(of: AccountID(one)).count { $0.space == space },
            transaction.memberships(of: AccountID(other)).count { $0.space == space || $0.space == twin },
            transaction.membership(Membership(user: AccountID(one), space: twin))
          )
        }
        #expect((found.0, found.1, found.2, found.3, found.4) == (2, 0, 0, 1, 0), "\(one.debugDescription)")
        #expect(found.5 == nil)
      }
    },
    ContractCase("accounts of receipts, and replicas, are compared by bytes") { world in
      for (index, (one, other)) in pairs.enumerated() {
        let (replica, twin) = (ReplicaID("\(index)" + one), ReplicaID("\(index)" + other))
        let key = ReceiptKey(user: AccountID(one), mutation: .numbered(index))
        let mirror = ReceiptKey(user: AccountID(other), mutation: .numbered(index))
        try world.storage.write { transaction in
          try transaction.register(replica, of: key.user)
          try transaction.insertReceipt(key, verdict(index, .confirmed))
          try transaction.addHome(replica, of: key)
          try transaction.setPosition(1, of: key, in: replica)
          try transaction.setMutation(replica, number: 1, key.mutation)
        }
        let found = try world.storage.read { transaction in
          try [
            transaction.owner(of: replica) == key.user, transaction.owner(of: twin) == nil,
            transaction.receipt(key) != nil, transaction.receipt(mirror) == nil, transaction.homes(of: mirror).isEmpty,
            transaction.entries(in: .replica(replica), after: 0, limit: 9).count == 1,
            transaction.entries(in: .replica(twin), after: 0, limit: 9).isEmpty,
            transaction.mutation(twin, number: 1) == nil,
          ]
        }
        #expect(found == Array(repeating: true, count: 8), "\(one.debugDescription) and \(other.debugDescription)")
      }
    },
  ]
}
