// SPDX-License-Identifier: Apache-2.0
import SkerryAmbientKit
import SkerryModel
import SkerryServerCore
import SkerryStore
import SkerryTesting
import Testing

/// Random histories of devices and a server that are brought to later versions at any time, with work waiting everywhere.
@Suite("Versions that change while everyone works") struct MixedVersionsTests {
  private struct World {
    let desk: UpgradeDesk
    var generator: SeededGenerator
    var server: Int
    var devices: [String: Int] = [:]
    /// What was added to each note, by its id.
    var sums: [String: Int64] = [:]
    var written = 0

    init(seed: UInt64) throws {
      generator = SeededGenerator(seed: seed)
      server = Int.random(in: 1...2, using: &generator)
      desk = try UpgradeDesk(Versions.schema(server), seed: seed)
      for name in ["a", "b", "c"] { try start(name, Int.random(in: 1...server, using: &generator)) }
    }

    mutating func start(_ name: String, _ version: Int) throws {
      devices[name] = version
      try desk.start(name, Versions.schema(version))
    }

    mutating func step() throws {
      let name = ["a", "b", "c"][Int.random(in: 0..<3, using: &generator)]
      let version = devices[name] ?? 1
      switch Int.random(in: 0..<20, using: &generator) {
      case 0 where server < Versions.count:
        server = Int.random(in: server + 1...Versions.count, using: &generator)
        try desk.startServer(Versions.schema(server), earlier: (1..<server).map(Versions.schema))
      case 1 where version < Versions.count: try start(name, version + 1)
      case 2: try start(name, version)
      case 3..<9: try desk.sync(name, exchanges: Int.random(in: 1...6, using: &generator))
      default: try write(name, version)
      }
    }

    private mutating func write(_ name: String, _ version: Int) throws {
      guard let store = desk.stores[name] else { return }
      let (table, title) = (Versions.table(version), Versions.title(version))
      let ids = try desk.rows("SELECT id FROM \(table) ORDER BY id", of: name)
      guard let id = ids.randomElement(using: &generator), Int.random(in: 0..<3, using: &generator) > 0 else {
        written += 1
        let fresh = "n\(written)"
        _ = try store.write { write in
          if version < 5 { try write.insert("drafts", ["id": .text("d" + fresh), "owner": "ana"]) }
          try write.insert(table, ["id": .text(fresh), "owner": "ana", title: "new"])
        }
        return
      }
      let key = RowKey(table, .text(id))
      let amount = Int64.random(in: 1...9, using: &generator)
      _ = try store.write { write in
        try write.increment(key, "visits", by: amount)
        try write.update(key, [title: .text("\(name)\(amount)")])
        if version >= 2 { try write.update(key, ["color": .text("\(name)\(amount)")]) }
      }
      sums[id, default: 0] += amount
    }

    mutating func settle() throws {
      server = Versions.count
      try desk.startServer(Versions.schema(server), earlier: (1..<server).map(Versions.schema))
      for _ in 0..<3 { for name in ["a", "b", "c"] { try desk.sync(name) } }
      for name in ["a", "b", "c"] { try start(name, server) }
      for _ in 0..<3 { for name in ["a", "b", "c"] { try desk.sync(name) } }
    }
  }

  @Test(arguments: UInt64(1)...25)
  func `all come to the same rows, with every write in them once`(seed: UInt64) throws {
    var world = try World(seed: seed)
    for _ in 0..<120 { try world.step() }
    try world.settle()
    let list = "SELECT id, heading, visits, starred, color, calls, title FROM memos ORDER BY id"
    let shown = try world.desk.rows(list)
    #expect(shown.count == world.written)
    for name in ["a", "b", "c"] {
      #expect(try world.desk.rows(list, of: name) == shown, "\(name)")
      let store = try #require(world.desk.stores[name])
      #expect(try store.outboxCount() == 0)
      #expect(try store.rejections().map(\.reason) == [])
    }
    for line in try world.desk.rows("SELECT id, visits FROM memos") {
      let parts = line.split(separator: " ").map(String.init)
      #expect(Int64(parts[1]) == world.sums[parts[0], default: 0], "\(parts[0])")
    }
    #expect(world.desk.mismatches() == 0)
  }
}
