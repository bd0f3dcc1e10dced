// SPDX-License-Identifier: Apache-2.0

import SkerryModel
import SkerryServerCore
import Testing

/// Verdicts, homes, numbers and the settled mark: `Receipts`.
extension StorageContract {
  package static let receipts: [ContractCase] = [
    ContractCase("a replica that is not known has no owner, and is known when it has been registered") { world in
      #expect(try world.storage.read { try $0.owner(of: "r") } == nil)
      try world.storage.write { try $0.register("r", of: "ana") }
      #expect(try world.storage.read { try $0.owner(of: "r") } == "ana")
      #expect(try world.storage.read { try $0.owner(of: "s") } == nil)
      #expect(try world.storage.read { try $0.settled("r") } == 0)
    },
    ContractCase("a receipt is found by account and mutation, as it was stored") { world in
      let stored = [
        StoredReceipt(receipt: Receipt(id: .numbered(1), outcome: .confirmed), hash: [1]),
        StoredReceipt(receipt: Receipt(id: .numbered(2), outcome: .void), hash: []),
        StoredReceipt(
          receipt: Receipt(id: .numbered(3), outcome: .rejected, code: "odd code", reason: "it's \u{301}"),
          hash: [0, 255]),
        StoredReceipt(receipt: Receipt(id: .numbered(4), outcome: .conflicted, code: .stale, reason: ""), hash: [9]),
      ]
      try world.storage.write { transaction in
        for item in stored { try transaction.insertReceipt(receiptKey("ana", item.receipt.id), item) }
      }
      for item in stored {
        #expect(try world.receipt("ana", item.receipt.id) == item)
        #expect(try world.receipt("bob", item.receipt.id) == nil)
      }
      #expect(try world.receipt("ana", .numbered(5)) == nil)
    },
    ContractCase("two accounts may use one mutation id, each with a verdict of its own") { world in
      let (mine, theirs) = (verdict(1, .confirmed), verdict(1, .rejected))
      try world.storage.write { transaction in
        try transaction.insertReceipt(receiptKey("ana", .numbered(1)), mine)
        try transaction.insertReceipt(receiptKey("bob", .numbered(1)), theirs)
        try transaction.addHome("r", of: receiptKey("ana", .numbered(1)))
      }
      #expect(try world.receipt("ana", .numbered(1)) == mine)
      #expect(try world.receipt("bob", .numbered(1)) == theirs)
      #expect(try world.homes("bob", 1).isEmpty)
    },
    ContractCase("an id is taken once a mutation of another account was confirmed under it") { world in
      try world.storage.write { transaction in
        try transaction.insertReceipt(receiptKey("ana", .numbered(1)), verdict(1, .confirmed))
        try transaction.insertReceipt(receiptKey("ana", .numbered(2)), verdict(2, .rejected))
        try transaction.insertReceipt(receiptKey("ana", .numbered(3)), verdict(3, .void))
      }
      let taken = try world.storage.read { transaction in
        try (1...4).map { number in
          try ["ana", "bob", "Ana"].map { try transaction.isTaken(.numbered(number), byOtherThan: AccountID($0)) }
        }
      }
      #expect(taken == [[false, true, true], [false, false, false], [false, false, false], [false, false, false]])
    },
    ContractCase("the homes of a receipt are the replicas that read it, each once") { world in
      try world.storage.write { transaction in
        for replica in ["r", "s", "r"] as [ReplicaID] {
          try transaction.addHome(replica, of: receiptKey("ana", .numbered(1)))
        }
      }
      #expect(try world.homes("ana", 1) == ["r", "s"])
      #expect(try world.homes("ana", 2).isEmpty)
    },
    ContractCase("a receipt is in a replica's log once the sequencer has given it a position") { world in
      try world.settle("r", numbers: 1...3)
      #expect(try world.entries("r").isEmpty)
      #expect(try world.walk("r", step: 10).isEmpty)
      try world.position(["r": [2: 5, 1: 8]])
      #expect(try world.entries("r") == [entry(2, 5), entry(1, 8)])
      #expect(try world.walk("r", step: 10) == [1, 2].map { .receipt(receiptKey("ana", .numbered($0))) })
      #expect(try world.entries("s").isEmpty)
    },
    ContractCase("a receipt has a position of its own in each replica that reads it") { world in
      try world.settle("r", numbers: 1...1)
      try world.storage.write { try $0.addHome("s", of: receiptKey("ana", .numbered(1))) }
      try world.position(["r": [1: 4], "s": [1: 9]])
      #expect(try world.entries("r") == [entry(1, 4)])
      #expect(try world.entries("s") == [entry(1, 9)])
      try world.storage.write { try $0.addHome("r", of: receiptKey("ana", .numbered(1))) }
      #expect(try world.entries("r") == [entry(1, 4)])
    },
    ContractCase("receipts after a position come in order of position, as many as are wanted") { world in
      try world.settle("r", numbers: 1...5)
      try world.position(["r": [1: 50, 2: 40, 3: 30, 4: 20, 5: 10]])
      for after in [0, 10, 35, 50] as [Int64] {
        for limit in 1...6 {
          let expected = [entry(5, 10), entry(4, 20), entry(3, 30), entry(2, 40), entry(1, 50)]
            .filter { $0.position > after }.prefix(limit)
          #expect(try world.entries("r", after: after, limit: limit) == Array(expected))
        }
      }
    },
    ContractCase("a refill walks all sequenced receipts, whatever their position, each once and whatever the step") {
      world in
      try world.settle("r", numbers: 1...7)
      try world.position(["r": [1: 70, 2: 60, 3: 50, 4: 40, 5: 30, 6: 20]])
      let whole = try world.walk("r", step: 100)
      #expect(whole == (1...6).map { .receipt(receiptKey("ana", .numbered($0))) })
      for step in 1...4 { #expect(try world.walk("r", step: step) == whole, "steps of \(step)") }
      #expect(try world.walk("r", step: 2, target: 30) == whole)
    },
    ContractCase("receipts outlive the tombstones") { world in
      try world.settle("r", numbers: 1...3)
      try world.position(["r": [1: 1, 2: 2, 3: 3]])
      try world.storage.write { try $0.removeTombstones(upTo: 3) }
      #expect(try world.entries("r").count == 3)
      #expect(try world.walk("r", step: 10).count == 3)
      #expect(try world.receipt("ana", .numbered(1)) != nil)
    },
    ContractCase("a number is a replica's own, free until it is noted, and the first who notes it keeps it") { world in
      try world.storage.write { transaction in
        try transaction.setMutation("r", number: 1, .numbered(1))
        try transaction.setMutation("r", number: 1, .numbered(2))
        try transaction.setMutation("s", number: 1, .numbered(3))
      }
      let found = try world.storage.read { transaction in
        try [
          transaction.mutation("r", number: 1), transaction.mutation("s", number: 1),
          transaction.mutation("r", number: 2),
        ]
      }
      #expect(found == [.numbered(1), .numbered(3), nil])
    },
    ContractCase("settling moves the mark forward and reduces the receipts up to it to id, hash and outcome") { world in
      try world.settle("r", numbers: 1...4)
      #expect(try world.unshrunk("r", 4) && world.unshrunk("r", 1))
      try world.storage.write { try $0.settle("r", upTo: 2) }
      #expect(try world.storage.read { try $0.settled("r") } == 2)
      for number in 1...2 {
        let expected = StoredReceipt(
          receipt: Receipt(id: .numbered(number), outcome: .rejected), hash: verdict(number, .rejected).hash)
        #expect(try world.receipt("ana", .numbered(number)) == expected)
      }
      for number in 3...4 { #expect(try world.receipt("ana", .numbered(number)) == verdict(number, .rejected)) }
      #expect(try !world.unshrunk("r", 2))
      #expect(try world.unshrunk("r", 3))
    },
    ContractCase("the mark never goes back, and a receipt that comes late is reduced by the next settling") { world in
      try world.settle("r", numbers: 1...2)
      try world.storage.write { try $0.settle("r", upTo: 5) }
      try world.storage.write { try $0.settle("r", upTo: 1) }
      #expect(try world.storage.read { try $0.settled("r") } == 5)
      #expect(try !world.unshrunk("r", 5))
      try world.settle("r", numbers: 3...3)
      #expect(try world.unshrunk("r", 5))
      #expect(try world.receipt("ana", .numbered(3))?.receipt.reason != nil)
      try world.storage.write { try $0.settle("r", upTo: 4) }
      #expect(try world.receipt("ana", .numbered(3))?.receipt.reason == nil)
      #expect(try world.receipt("ana", .numbered(3))?.receipt.outcome == .rejected)
      #expect(try world.storage.read { try $0.settled("r") } == 5)
    },
    ContractCase("settling a replica reduces no other's receipts") { world in
      try world.settle("r", numbers: 1...1)
      try world.storage.write { transaction in
        try transaction.register("s", of: "bob")
        try transaction.insertReceipt(receiptKey("bob", .numbered(1)), verdict(1, .rejected))
        try transaction.setMutation("s", number: 1, .numbered(1))
        try transaction.settle("r", upTo: 9)
      }
      #expect(try world.receipt("ana", .numbered(1))?.receipt.reason == nil)
      #expect(try world.receipt("bob", .numbered(1)) == verdict(1, .rejected))
      #expect(try world.storage.read { try $0.settled("s") } == 0)
    },
  ]

  static func receiptKey(_ user: AccountID, _ mutation: MutationID) -> ReceiptKey {
    ReceiptKey(user: user, mutation: mutation)
  }

  static func verdict(_ number: Int, _ outcome: Outcome) -> StoredReceipt {
    let refusal: RefusalCode? = outcome == .rejected ? .gone : nil
    return StoredReceipt(
      receipt: Receipt(
        id: .numbered(number), outcome: outcome, code: refusal, reason: refusal.map { "\($0) \(number)" }),
      hash: [UInt8(number), 7])
  }

  private static func entry(_ number: Int, _ position: Int64) -> LogEntry {
    LogEntry(position: position, subject: .receipt(receiptKey("ana", .numbered(number))), kind: .live)
  }
}

extension StorageWorld {
  fileprivate func receipt(_ user: AccountID, _ mutation: MutationID) throws -> StoredReceipt? {
    try storage.read { try $0.receipt(ReceiptKey(user: user, mutation: mutation)) }
  }

  fileprivate func homes(_ user: AccountID, _ mutation: Int) throws -> [ReplicaID] {
    try storage.read { try $0.homes(of: ReceiptKey(user: user, mutation: .numbered(mutation))) }.sorted()
  }

  fileprivate func unshrunk(_ replica: ReplicaID, _ number: Int64) throws -> Bool {
    try storage.read { try $0.hasUnshrunkReceipts(replica, upTo: number) }
  }

  /// Stores refusals of Ana's mutations with these numbers, which `replica` made.
  fileprivate func settle(_ replica: ReplicaID, numbers: ClosedRange<Int>) throws {
    try storage.write { transaction in
      if try transaction.owner(of: replica) == nil { try transaction.register(replica, of: "ana") }
      for number in numbers {
        let key = ReceiptKey(user: "ana", mutation: .numbered(number))
        try transaction.insertReceipt(key, StorageContract.verdict(number, .rejected))
        try transaction.addHome(replica, of: key)
        try transaction.setMutation(replica, number: Int64(number), .numbered(number))
      }
    }
  }

  /// Gives Ana's receipts positions in replicas' spaces.
  fileprivate func position(_ positions: [ReplicaID: [Int: Int64]]) throws {
    try storage.write { transaction in
      for (replica, numbers) in positions {
        for (number, position) in numbers {
          try transaction.setPosition(
            position, of: ReceiptKey(user: "ana", mutation: .numbered(number)), in: replica)
        }
      }
    }
  }

  fileprivate func entries(_ replica: ReplicaID, after: Int64 = 0, limit: Int = 100) throws -> [LogEntry] {
    try storage.read { try $0.entries(in: .replica(replica), after: after, limit: limit) }
  }

  fileprivate func walk(_ replica: ReplicaID, step: Int, target: Int64 = .max) throws -> [Capture.Subject] {
    var out: [Capture.Subject] = []
    while true {
      let last = out.last?.key
      let found = try storage.read {
        try $0.liveSubjects(in: .replica(replica), after: last, target: target, limit: step)
      }
      out += found
      if found.count < step { return out }
    }
  }
}
