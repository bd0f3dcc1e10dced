// SPDX-License-Identifier: Apache-2.0

import SkerryModel
import SkerryServerCore
import Testing

/// History, entries, back-fill, heads and runs: `ChangeLog` without memberships.
extension StorageContract {
  package static let log: [ContractCase] = [
    ContractCase("a new database has an epoch, and stands at 0") { world in
      let history = try world.history()
      #expect(!history.epoch.isEmpty)
      #expect([history.head, history.floor, history.safe] == [0, 0, 0])
    },
    ContractCase("the history is what was set last") { world in
      let history = History(epoch: "e\u{301}'", head: 9, floor: 3, safe: 5)
      try world.storage.write { try $0.setHistory(history) }
      #expect(try world.history() == history)
      #expect(try world.history().epoch.utf8.elementsEqual("e\u{301}'".utf8))
    },
    ContractCase("a space has one entry for each row, which moves") { world in
      try world.log("team:t", [("a", 1, .live), ("b", 2, .live), ("a", 3, .live), ("b", 4, .deleted), ("a", 5, .left)])
      #expect(try world.entries("team:t") == [entry("b", 4, .deleted), entry("a", 5, .left)])
      try world.log("team:t", [("b", 6, .live)])
      #expect(try world.entries("team:t") == [entry("a", 5, .left), entry("b", 6, .live)])
    },
    ContractCase("a row may have entries in several spaces, each space its own") { world in
      try world.log("team:t", [("a", 1, .live)])
      try world.log("team:u", [("a", 2, .live)])
      try world.log("team:t", [("a", 3, .left)])
      #expect(try world.entries("team:t") == [entry("a", 3, .left)])
      #expect(try world.entries("team:u") == [entry("a", 2, .live)])
      #expect(try world.entries("team:v").isEmpty)
    },
    ContractCase("entries after a position come in order of position, as many as are wanted") { world in
      let ids = ["d", "b", "a", "c", "e"]
      try world.log("team:t", ids.enumerated().map { ($1, Int64($0 * 10 + 10), .live) })
      for after in [0, 9, 10, 25, 49, 50, 99] as [Int64] {
        for limit in 1...6 {
          let expected = ids.enumerated().map { entry($1, Int64($0 * 10 + 10), .live) }.filter { $0.position > after }
          #expect(try world.entries("team:t", after: after, limit: limit) == Array(expected.prefix(limit)))
        }
      }
    },
    ContractCase("the live rows of a space are walked by keys, each once, whatever the step") { world in
      let space: SpaceID = "team:t"
      try world.storage.write { transaction in
        for (index, key) in Keys.all.enumerated() { try transaction.setEntry(space, key, at: Int64(index + 1), .live) }
      }
      let whole = try world.walk(space, step: Keys.all.count + 1)
      #expect(Set(whole) == Set(Keys.all.map { .row($0) }))
      for step in [1, 2, 3, 7] { #expect(try world.walk(space, step: step) == whole, "steps of \(step)") }
      let second = whole.dropFirst().first.map(\.key)
      #expect(try world.walk(space, from: second, step: 5) == Array(whole.dropFirst(2)))
    },
    ContractCase(
      "rows that changed after the target, left or ended are passed over, and the walk goes on at a lost key"
    ) {
      world in
      try world.log(
        "team:t",
        [("a", 1, .live), ("b", 2, .left), ("c", 3, .live), ("d", 4, .deleted), ("e", 5, .live), ("f", 6, .live)])
      #expect(try world.walk("team:t", target: 5, step: 10) == ["a", "c", "e"].map { .row(Sample.item($0)) })
      #expect(try world.walk("team:t", target: 4, step: 1) == ["a", "c"].map { .row(Sample.item($0)) })
      try world.log("team:t", [("c", 7, .live)])
      #expect(try world.walk("team:t", target: 6, step: 1) == ["a", "e", "f"].map { .row(Sample.item($0)) })
      #expect(
        try world.walk("team:t", from: Sample.item("c"), target: 6, step: 1)
          == ["e", "f"].map { .row(Sample.item($0)) })
      #expect(try world.walk("team:u", step: 1).isEmpty)
    },
    ContractCase("a space that was never seen has position 0 and an empty sum; later ones are as they were set") {
      world in
      let unseen = try world.storage.read { try $0.head(of: "team:t") }
      #expect(unseen.position == 0)
      #expect(unseen.digest == SpaceDigest())
      var digest = SpaceDigest()
      for number in 1...3 { digest.add(Sample.hash(UInt8(number))) }
      try world.storage.write { transaction in
        try transaction.setHead(of: "team:t", position: 8, digest: digest)
        try transaction.setHead(of: "replica:r", position: 9, digest: SpaceDigest())
      }
      let seen = try world.storage.read { try ($0.head(of: "team:t"), $0.head(of: "replica:r"), $0.head(of: "team:u")) }
      #expect([seen.0.position, seen.1.position, seen.2.position] == [8, 9, 0])
      #expect(seen.0.digest == digest)
      #expect(seen.0.digest.rows == 3)
      #expect(seen.2.digest == SpaceDigest())
    },
    ContractCase("a position has the nonce of the run that gave it, and one that nobody gave has none") { world in
      try world.storage.write { transaction in
        try transaction.addRun(last: 3, nonce: "first")
        try transaction.addRun(last: 7, nonce: "second")
      }
      let expected = [1: "first", 2: "first", 3: "first", 4: "second", 7: "second"]
      for (position, nonce) in expected { #expect(try world.nonce(Int64(position)) == nonce, "\(position)") }
      #expect(try world.nonce(8) == nil)
    },
    ContractCase("a run that gave no position changes nothing: the nonce of its end stays") { world in
      try world.storage.write { try $0.addRun(last: 3, nonce: "first") }
      try world.storage.write { try $0.addRun(last: 3, nonce: "empty") }
      #expect(try world.nonce(3) == "first")
      try world.storage.write { try $0.addRun(last: 4, nonce: "second") }
      #expect(try world.nonce(3) == "first")
      #expect(try world.nonce(4) == "second")
    },
    ContractCase("tombstones up to a position are removed, what lives stays, and so do the runs that a cursor can name")
    {
      world in
      try world.log(
        "team:t", [("a", 1, .live), ("b", 2, .deleted), ("c", 3, .left), ("d", 4, .deleted), ("e", 5, .live)])
      try world.log("team:u", [("a", 6, .left), ("b", 7, .live)])
      try world.storage.write { transaction in
        for run in 1...7 { try transaction.addRun(last: Int64(run), nonce: "run\(run)") }
        try transaction.removeTombstones(upTo: 3)
      }
      #expect(try world.entries("team:t") == [entry("a", 1, .live), entry("d", 4, .deleted), entry("e", 5, .live)])
      #expect(try world.entries("team:u").count == 2)
      #expect(try (3...7).map { try world.nonce($0) } == (3...7).map { "run\($0)" })
      try world.storage.write { try $0.removeTombstones(upTo: 7) }
      #expect(try world.entries("team:t") == [entry("a", 1, .live), entry("e", 5, .live)])
      #expect(try world.entries("team:u") == [entry("b", 7, .live)])
      #expect(try world.nonce(7) == "run7")
    },
  ]

  private static func entry(_ id: String, _ position: Int64, _ kind: EntryKind) -> LogEntry {
    LogEntry(position: position, subject: .row(Sample.item(id)), kind: kind)
  }
}

extension StorageWorld {
  fileprivate func history() throws -> History { try storage.read { try $0.history() } }

  fileprivate func nonce(_ position: Int64) throws -> String? { try storage.read { try $0.nonce(at: position) } }

  /// Sets entries of items.
  fileprivate func log(_ space: SpaceID, _ entries: [(String, Int64, EntryKind)]) throws {
    try storage.write { transaction in
      for (id, position, kind) in entries { try transaction.setEntry(space, Sample.item(id), at: position, kind) }
    }
  }

  fileprivate func entries(_ space: SpaceID, after: Int64 = 0, limit: Int = 100) throws -> [LogEntry] {
    try storage.read { try $0.entries(in: space, after: after, limit: limit) }
  }

  /// All that a back-fill sees, in steps of so many.
  fileprivate func walk(
    _ space: SpaceID, from: RowKey? = nil, target: Int64 = .max, step: Int
  ) throws -> [Capture.Subject] {
    var out: [Capture.Subject] = []
    var key = from
    while true {
      let found = try storage.read { try $0.liveSubjects(in: space, after: key, target: target, limit: step) }
      out += found
      guard found.count == step, let last = found.last else { return out }
      key = last.key
    }
  }
}

extension Capture.Subject {
  /// The key under which a cursor names it.
  var key: RowKey {
    switch self {
    case .row(let key): key
    case .receipt(let key): key.rowKey
    }
  }
}
