// SPDX-License-Identifier: Apache-2.0
import Foundation
import Skerry
import SkerryAmbientKit
import SkerryFileKit
import SkerryModel
import SkerrySQLiteKit
import SkerryStore
import SkerryTestSupport
import SkerryTesting
import Synchronization
import Testing

/// Damaged files, and what waited in them.
@Suite(.serialized) struct SalvageTests {
  /// A store with 200 waiting mutations as files, closed and with its WAL.
  private struct Wreck {
    var file: [UInt8]
    var wal: [UInt8]
    /// By id: operations, label, void, in the order in which they were made.
    let written: [(id: MutationID, text: String)]
    /// The pages of the file that belong to the outbox.
    let outboxPages: Set<Int>
  }

  private static let count = 200
  private static let pageSize = 4_096
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private static func text(_ entries: [OutboxEntry]) -> [(id: MutationID, text: String)] {
    entries.map { ($0.id, "\(Hex.text(Operation.encode($0.operations))) \($0.label ?? "-") \($0.isVoid) \($0.madeAt)") }
  }

  private typealias Operation = SkerryModel.Operation

  private func fill(_ store: Store) throws {
    for number in 0..<SalvageTests.count / 2 {
      let id = "book \(number)"
      _ = try store.write(number % 3 == 0 ? nil : "add \(number)") { tx in
        // Some are longer than a page.
        let cover = [UInt8](repeating: UInt8(number), count: number % 10 == 0 ? 9_000 : number)
        try tx.insert(
          "book", ["id": .text(id), "owner": "ana", "title": .text("Title \(number)"), "cover": .blob(cover)])
      }
      _ = try store.write("count") { try $0.increment(RowKey("book", .text(id)), "copies", by: 1) }
    }
  }

  private func wreck(isClosed: Bool = true) throws -> Wreck {
    let path = folder.path("whole.db")
    for suffix in ["", "-wal", "-shm"] { try FileSystem.system.remove(path + suffix) }
    let store = try Store(
      path: path, account: "ana", catalog: try Catalog(.library), ambient: VirtualAmbient(seed: 61))
    try fill(store)
    if let voided = try store.outbox().last?.id { try store.discard(voided) }
    let written = SalvageTests.text(try store.outbox())
    var pages: Set<Int> = []
    if isClosed {
      _ = try store.withConnection { try $0.checkpoint(truncating: true) }
      pages = try store.withConnection {
        Set(try $0.query("SELECT pageno FROM dbstat WHERE name = 'skerry_outbox'") { Int($0.integer(0)) })
      }
    }
    return Wreck(
      file: try FileSystem.system.read(path) ?? [], wal: try FileSystem.system.read(path + "-wal") ?? [],
      written: written, outboxPages: pages)
  }

  private var place: StorePlace { StorePlace(folder.path("a.db"), files: FilePolicy()) }

  /// Puts the files there as those of a store.
  private func put(_ wreck: Wreck) throws {
    for name in try FileSystem.system.names(in: folder.path("")) where name.hasPrefix("a.db") {
      try FileSystem.system.remove(folder.path(name))
    }
    try Data(wreck.file).write(to: URL(fileURLWithPath: place.path))
    if !wreck.wal.isEmpty { try Data(wreck.wal).write(to: URL(fileURLWithPath: place.path + "-wal")) }
  }

  private func salvage(_ files: FileSystem = .system, schema: Schema = .library) throws -> SalvageReport {
    try Store.salvage(
      place.path, to: place, account: "ana", catalog: try Catalog(schema), ambient: VirtualAmbient(seed: 62),
      files: files)
  }

  private func opened(_ schema: Schema = .library) throws -> Store {
    try Store(at: place, account: "ana", catalog: try Catalog(schema), ambient: VirtualAmbient(seed: 63))
  }

  /// All that a report calls salvaged is as it was written, and the damaged file is kept.
  private func check(_ wreck: Wreck, _ report: SalvageReport, _ name: String) throws -> Int {
    let store = try opened()
    let found = SalvageTests.text(try store.outbox())
    #expect(found.count == report.salvaged, "\(name)")
    let written = Dictionary(uniqueKeysWithValues: wreck.written.map { ($0.id, $0.text) })
    for (id, text) in found { #expect(written[id] == text, "\(name): \(id)") }
    let order = wreck.written.map(\.id).filter(Set(found.map(\.id)).contains)
    #expect(found.map(\.id) == order, "\(name)")
    #expect(try FileSystem.system.read(report.damaged) == wreck.file, "\(name)")
    if !wreck.wal.isEmpty { #expect(try FileSystem.system.read(report.damaged + "-wal") == wreck.wal, "\(name)") }
    #expect(report.unverified == 0)
    #expect(try store.integrityFaults() == [], "\(name)")
    return found.count
  }

  @Test(arguments: [true, false]) func `all is salvaged from a file that is whole, with its WAL or without`(
    _ isClosed: Bool
  ) throws {
    let wreck = try wreck(isClosed: isClosed)
    #expect(wreck.wal.isEmpty == isClosed)
    try put(wreck)
    let report = try salvage()
    #expect(report.unreadable == 0)
    #expect(try check(wreck, report, "whole") == SalvageTests.count)
    // What is visible of the outbox is visible at once, without a sync.
    let rows = try opened().withConnection { try $0.query("SELECT count(*) FROM book") { $0.integer(0) } }
    #expect(rows == [100])
  }

  @Test func `damage that misses the outbox loses nothing, wherever it is, the first page too`() throws {
    let whole = try wreck()
    #expect(whole.outboxPages.count > 10)
    var random = SeededGenerator(seed: 64)
    for round in 0..<10 {
      var wreck = whole
      for page in 1...(whole.file.count / SalvageTests.pageSize) where !whole.outboxPages.contains(page) {
        // The first page in each round: nothing can be opened then.
        guard page == 1 || random.chance(0.5) else { continue }
        damage(&wreck.file, page, &random)
      }
      try put(wreck)
      #expect(throws: (any Error).self) { _ = try opened().outbox() }
      #expect(try check(wreck, try salvage(), "round \(round)") == SalvageTests.count)
    }
  }

  private func damage(_ file: inout [UInt8], _ page: Int, _ random: inout SeededGenerator) {
    let start = (page - 1) * SalvageTests.pageSize
    if page == 1 || random.chance(0.3) {
      for index in start..<start + SalvageTests.pageSize { file[index] = UInt8(truncatingIfNeeded: random.next()) }
    } else {
      for _ in 0..<8 {
        file[start + Int.random(in: 0..<SalvageTests.pageSize, using: &random)] ^=
          1 << UInt8.random(in: 0..<8, using: &random)
      }
    }
  }

  @Test(arguments: [true, false]) func `whatever is flipped or cut off, what is salvaged is what was written`(
    _ isClosed: Bool
  ) throws {
    let whole = try wreck(isClosed: isClosed)
    var random = SeededGenerator(seed: isClosed ? 65 : 66)
    var counts: [Int] = []
    for round in 0..<25 {
      var wreck = whole
      func flip(_ bytes: inout [UInt8], _ random: inout SeededGenerator) {
        if bytes.isEmpty { return }
        let places = 1 << Int.random(in: 0..<8, using: &random)
        for _ in 0..<places {
          bytes[Int.random(in: bytes.indices, using: &random)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        }
        if random.chance(0.25) { bytes = Array(bytes.prefix(Int.random(in: 1..<bytes.count, using: &random))) }
      }
      flip(&wreck.file, &random)
      flip(&wreck.wal, &random)
      try put(wreck)
      counts.append(try check(wreck, try salvage(), "round \(round)"))
    }
    #expect(counts.contains { $0 > SalvageTests.count / 2 })
    #expect(counts.contains { $0 < SalvageTests.count })
    #expect(counts.reduce(0, +) > SalvageTests.count * 12, "\(counts)")
  }

  @Test func `a changed letter in a mutation is not passed off as what was written`() throws {
    var wreck = try wreck()
    let word = Array("Title 77".utf8)
    var hits = 0
    for start in 0..<wreck.file.count - word.count where wreck.file[start..<start + word.count].elementsEqual(word) {
      wreck.file[start] = UInt8(ascii: "L")
      hits += 1
    }
    // In the app's table, and in the outbox.
    #expect(hits == 2)
    try put(wreck)
    let report = try salvage()
    #expect(report.unreadable > 0)
    #expect(try check(wreck, report, "a letter") == SalvageTests.count - 1)
  }

  @Test func `a call that is cut off anywhere can be made again`() throws {
    let wreck = try wreck(isClosed: false)
    struct Death: Error {}
    var (number, isThrough) = (0, false)
    while !isThrough {
      try put(wreck)
      let left = Mutex(number)
      do {
        _ = try salvage(
          FileSystem { _ in
            let isOver = left.withLock { left in
              left -= 1
              return left < 0
            }
            if isOver { throw Death() }
          })
        isThrough = true
      } catch is Death {
        // Without the call, there is the damaged file or the new one.
        #expect(FileSystem.system.exists(place.path))
        if try FileSystem.system.read(place.path) == wreck.file {
          #expect(try check(wreck, try salvage(), "step \(number)") == SalvageTests.count)
        } else {
          #expect(try opened().outboxCount() == SalvageTests.count)
        }
        let kept = try FileSystem.system.names(in: folder.path("")).filter { $0.contains("damaged-") }
        #expect(kept.count == 2, "step \(number): \(kept)")
      }
      number += 1
    }
    #expect(number > 8)
  }

  @Test func `another account's file, another app's and a place that is taken are refused`() throws {
    let wreck = try wreck()
    try put(wreck)
    func refusal(_ account: AccountID = "ana", _ schema: Schema = .library, to other: String? = nil) -> StoreError.Code?
    {
      let place = other.map { StorePlace($0) } ?? place
      return #expect(throws: StoreError.self) {
        try Store.salvage(
          self.place.path, to: place, account: account, catalog: try Catalog(schema), ambient: VirtualAmbient(seed: 1))
      }?.code
    }
    #expect(refusal("ben") == .otherAccount)
    var museum = Schema.library
    museum.name = "museum"
    #expect(refusal("ana", museum) == .otherSchema)
    #expect(refusal(to: folder.path("whole.db")) == .exists)
    #expect(try FileSystem.system.read(place.path) == wreck.file)
    #expect(try salvage(schema: .nextLibrary).salvaged == SalvageTests.count)
    #expect(try opened(.nextLibrary).outboxCount() == SalvageTests.count)
  }

  /// The server has the first half of it, whose answers never came.
  @Test(.timeLimit(.minutes(1))) func `after a salvage the device syncs, and the server has each mutation once`()
    async throws
  {
    let harbour = try Harbour()
    let bench = Bench(folder: folder)
    let name = Replica.fileName(of: "ana")
    do {
      let store = try Store(
        path: folder.path("first.db"), account: "ana", catalog: try Catalog(.library), ambient: bench.ambient)
      try fill(store)
      let half = try store.outbox().prefix(SalvageTests.count / 2).map(\.id)
      _ = try store.withConnection { try $0.checkpoint(truncating: true) }
      // A copy goes on to the server with the first half.
      try FileManager.default.copyItem(atPath: folder.path("first.db"), toPath: folder.path("copy.db"))
      let copy = try await bench.replica("copy")
      for entry in try await copy.read(.outbox) where !half.contains(entry.id) { try await copy.discardLocally(entry) }
      _ = try await bench.engine(copy, harbour).syncOnce(within: .seconds(30))
      await copy.suspend()
    }
    var file = try #require(try FileSystem.system.read(folder.path("first.db")))
    for index in 0..<SalvageTests.pageSize { file[index] = 0x5A }
    try Data(file).write(to: URL(fileURLWithPath: folder.path(name)))
    let report = try await Replica.salvage(
      from: folder.path(name), into: folder.path(""), account: "ana", schema: .library)
    #expect(report.salvaged == SalvageTests.count)
    let replica = try await Replica.open(
      path: folder.path(name), account: "ana", schema: .library, ambient: bench.ambient)
    let engine = bench.engine(replica, harbour)
    for _ in 0..<4 { _ = try await engine.syncOnce(within: .seconds(30)) }
    #expect(try await replica.facts().pending == 0)
    #expect(try await replica.read(.rejections).isEmpty)
    let rows = try harbour.withWorld {
      try $0.foreign.query("SELECT id, copies FROM book ORDER BY id") { "\($0.text(0)) \($0.integer(1))" }
    }
    #expect(rows.count == 100)
    #expect(rows.allSatisfy { $0.hasSuffix(" 1") })
    #expect(try await replica.checkIntegrity() == [])
  }

  private struct Bench: EngineBench {
    let folder: TemporaryFolder
    let ambient = VirtualAmbient(seed: 67)
    let clock = ManualClock()
  }
}

extension Replica {
  /// Takes an entry out of a copy of the file without a word to the server.
  fileprivate func discardLocally(_ entry: OutboxEntry) throws {
    try withConnection { connection in
      let mid = SQLiteValue.blob(entry.id.raw.bytes)
      _ = try connection.run(
        "DELETE FROM skerry_subjects WHERE made = (SELECT made FROM skerry_outbox WHERE mid = ?)", mid)
      _ = try connection.run("DELETE FROM skerry_outbox WHERE mid = ?", mid)
    }
  }
}
