// SPDX-License-Identifier: Apache-2.0

import SkerryMerge
import SkerryModel
import SkerryServerCore
import Testing

/// `Storage.write`, `Storage.read` and `StorageTransaction.savepoint`.
extension StorageContract {
  package static let transactions: [ContractCase] = [
    ContractCase("a write sees everything that was committed before it, and gives its result") { world in
      try world.foreign(Sample.insert(item: "a"))
      try world.write(Sample.item("b"), Sample.values(item: "b"), by: 1)
      let seen = try world.storage.write { transaction in
        try ["a", "b", "c"].map { try transaction.row(Sample.item($0)) != nil }
      }
      #expect(seen == [true, true, false])
    },
    ContractCase("what a write did is there for everyone when it returns") { world in
      try world.write(Sample.item("a"), Sample.values(item: "a", title: "mine"), by: 1)
      #expect(try world.row(Sample.item("a"))?.values[0] == "mine")
      try world.foreign("UPDATE item SET title = title || '!' WHERE id = 'a'")
      #expect(try world.row(Sample.item("a"))?.values[0] == "mine!")
    },
    ContractCase("a write that throws leaves nothing behind, whatever it had done") { world in
      try world.foreign(Sample.insert(item: "a"))
      let before = try Everything(world)
      var isThrown = false
      do {
        try world.storage.write { transaction in
          try Everything.change(transaction)
          throw Refused()
        }
      } catch is Refused { isThrown = true }
      #expect(isThrown)
      #expect(try Everything(world) == before)
      try world.storage.write { try Everything.change($0) }
      #expect(try Everything(world) != before)
    },
    ContractCase("a write that meets another program's lock is busy, nothing has happened, and it passes later") {
      world in
      try world.foreign(Sample.insert(item: "a"))
      try world.clearCaptures()
      try world.foreign(world.begin)
      try world.foreign("UPDATE item SET title = 'theirs' WHERE id = 'a'")
      let write = { try world.write(Sample.item("a"), Sample.values(item: "a", title: "ours"), by: 1) }
      #expect(try isBusy(write))
      #expect(try world.captures().isEmpty)
      try world.foreign("COMMIT")
      #expect(try world.row(Sample.item("a"))?.values[0] == "theirs")
      #expect(try !isBusy(write))
      #expect(try world.row(Sample.item("a"))?.values[0] == "ours")
    },
    ContractCase("a read is one snapshot, whatever others commit meanwhile") { world in
      try world.foreign(Sample.insert(item: "a", title: "'old'"))
      try world.clearCaptures()
      let seen = try world.storage.read { transaction in
        var titles = [try transaction.row(Sample.item("a"))?.values[0]]
        try world.foreign("UPDATE item SET title = 'new' WHERE id = 'a'")
        try world.foreign(Sample.insert(item: "b"))
        titles.append(try transaction.row(Sample.item("a"))?.values[0])
        let others = try transaction.row(Sample.item("b")) != nil || transaction.hasCaptures()
        return (titles, others)
      }
      #expect(seen.0 == ["old", "old"])
      #expect(!seen.1)
      #expect(try world.row(Sample.item("a"))?.values[0] == "new")
      #expect(try world.capturedRows() == [Sample.item("a"), Sample.item("b")])
    },
    ContractCase("a read waits for no writer, and sees nothing of it before the commit") { world in
      try world.foreign(Sample.insert(item: "a", title: "'old'"))
      try world.clearCaptures()
      try world.foreign(world.begin)
      try world.foreign("UPDATE item SET title = 'new' WHERE id = 'a'")
      #expect(try world.row(Sample.item("a"))?.values[0] == "old")
      #expect(try world.captures().isEmpty)
      try world.foreign("COMMIT")
      #expect(try world.row(Sample.item("a"))?.values[0] == "new")
      #expect(try world.captures().count == 1)
    },
    ContractCase("a read beside a write of this server sees the state before it") { world in
      try world.storage.write { transaction in
        try transaction.put(
          Sample.item("a"), Sample.values(item: "a"), by: Writer(mutation: .numbered(1), index: 0))
        let beside = try world.row(Sample.item("a"))
        #expect(beside == nil)
      }
      #expect(try world.row(Sample.item("a")) != nil)
    },
    ContractCase("a savepoint that throws is undone alone, and the error comes out") { world in
      try world.foreign(Sample.insert(item: "a"))
      let before = try Everything(world)
      let isThrown = try world.storage.write { transaction in
        do {
          try transaction.savepoint {
            try Everything.change(transaction)
            throw Refused()
          }
          return false
        } catch is Refused { return true }
      }
      #expect(isThrown)
      #expect(try Everything(world) == before)
      // The same things can be done after it, in the same transaction.
      try world.storage.write { transaction in
        do {
          try transaction.savepoint {
            try Everything.change(transaction)
            throw Refused()
          }
        } catch is Refused {}
        try Everything.change(transaction)
      }
      let after = try Everything(world)
      #expect(after != before)
      #expect(after.head.position == 7)
      #expect(after.entries.count == 1)
    },
    ContractCase("savepoints nest and give their results") { world in
      let result = try world.storage.write { transaction in
        let writer = Writer(mutation: .numbered(1), index: 0)
        return try transaction.savepoint {
          try transaction.put(Sample.item("a"), Sample.values(item: "a"), by: writer)
          do {
            try transaction.savepoint {
              try transaction.put(Sample.item("b"), Sample.values(item: "b"), by: writer)
              throw Refused()
            }
          } catch is Refused {}
          return try transaction.savepoint {
            try transaction.put(Sample.item("c"), Sample.values(item: "c"), by: writer)
            return 42
          }
        }
      }
      #expect(result == 42)
      #expect(try world.capturedRows() == [Sample.item("a"), Sample.item("c")])
      #expect(try world.row(Sample.item("b")) == nil)
    },
  ]
}

/// Everything that a storage keeps, about a few names.
struct Everything: Equatable {
  static let space: SpaceID = "team:everything"
  static let membership = Membership(user: "ana", space: space)
  static let receipt = ReceiptKey(user: "ana", mutation: .numbered(90))

  let row: [Value]?
  let captures: [Capture]
  let sequenced: SequencedRow?
  let history: History
  let entries: [LogEntry]
  let membership: MembershipEntry?
  let head: Head
  let nonce: String?
  let owner: AccountID?
  let stored: StoredReceipt?
  let homes: [ReplicaID]
  let number: MutationID?

  struct Head: Equatable {
    let position: Int64
    let digest: SpaceDigest
  }

  init(_ world: StorageWorld) throws {
    self = try world.storage.read { try Everything($0) }
  }

  private init(_ transaction: any StorageTransaction) throws {
    row = try transaction.row(Sample.item("a"))?.values
    captures = try transaction.captures()
    sequenced = try transaction.sequenced(Sample.item("a"))
    history = try transaction.history()
    entries = try transaction.entries(in: Everything.space, after: 0, limit: 10)
    membership = try transaction.membership(Everything.membership)
    let found = try transaction.head(of: Everything.space)
    head = Head(position: found.position, digest: found.digest)
    nonce = try transaction.nonce(at: 7)
    owner = try transaction.owner(of: "r")
    stored = try transaction.receipt(Everything.receipt)
    homes = try transaction.homes(of: Everything.receipt)
    number = try transaction.mutation("r", number: 1)
  }

  /// Changes all of it. `item/a` must be there.
  static func change(_ transaction: any StorageTransaction) throws {
    let key = Sample.item("a")
    try transaction.put(key, Sample.values(item: "a", title: "x"), by: Writer(mutation: .numbered(90), index: 0))
    try transaction.setSequenced(
      key, SequencedRow(spaces: [space], hash: Sample.hash(1), memberships: [membership]))
    try transaction.setEntry(space, key, at: 7, .live)
    try transaction.setMembership(membership, at: 6, isInside: true)
    var digest = SpaceDigest()
    digest.add(Sample.hash(1))
    try transaction.setHead(of: space, position: 7, digest: digest)
    try transaction.addRun(last: 7, nonce: "seven")
    var history = try transaction.history()
    history.head = 7
    try transaction.setHistory(history)
    try transaction.register("r", of: "ana")
    let verdict = Receipt(id: receipt.mutation, outcome: .rejected, code: .gone, reason: "because")
    try transaction.insertReceipt(receipt, StoredReceipt(receipt: verdict, hash: [1, 2, 3]))
    try transaction.addHome("r", of: receipt)
    try transaction.setPosition(7, of: receipt, in: "r")
    try transaction.setMutation("r", number: 1, receipt.mutation)
    try transaction.captureReceipt(receipt)
  }
}

extension Sample {
  /// A row hash that a test can name.
  static func hash(_ number: UInt8) -> RowHash {
    guard let hash = RowHash(bytes: Array(repeating: number, count: 32)) else {
      preconditionFailure("thirty-two bytes are a hash")
    }
    return hash
  }
}
