// SPDX-License-Identifier: Apache-2.0
import Foundation
import SkerryModel
import SkerrySQLiteKit
import SkerryServerCore
import SkerryStore
import SkerryTestSupport
import SkerryTesting
import Testing

/// A process dies while SQLite writes to the file: within a commit, and within the opening of a file, which is a commit too.
/// No call of ours stands between, so the WAL is cut instead, after each of its frames and within each.
@Suite struct TornCommitTests {
  @Test(arguments: [Script.writes[0], Script.pages[0], Script.servers[0], Script.servers[2]])
  func `a commit that was cut off within its WAL never happened`(_ script: Script) throws {
    let recording = try Recording.of(script)
    var cuts = 0
    for (before, after) in zip(recording.states.indices, recording.states.indices.dropFirst()) {
      let image = recording.states[after].image
      let name = script.file + "-wal"
      let length = recording.states[before].image.files[name]?.count ?? 0
      for part in WriteAheadLog(image.files[name] ?? Data()).parts(from: length) {
        let dump = try Recording.dump(image.with(name, part), script.file)
        #expect(dump == recording.dumps[before], "\(part.count) bytes of the WAL")
        cuts += 1
      }
    }
    #expect(cuts > 10)
  }

  /// What is left of a file whose opening was cut off, from nothing to all of it.
  private func leftovers(_ name: String, _ start: FileImage, _ image: FileImage) throws -> [FileImage] {
    let log = WriteAheadLog(try #require(image.files[name + "-wal"]))
    #expect(log.commits == 1, "opening is one transaction")
    let empty = start.holds(name) ? start : start.with(name, Data())
    return [start, empty, image.with(name + "-wal", nil)] + log.parts(from: 0).map { image.with(name + "-wal", $0) }
      + [image]
  }

  @Test func `a device's file whose first opening was cut off is opened anew`() throws {
    let base = try Recording.base.get()
    let start = base.image.with("ana.db", nil)
    let world = try MortalWorld(start.restored())
    let replica = try world.store("ana").replicaID
    let images = try leftovers("ana.db", start, FileImage(of: world.folder))
    #expect(images.count > 50)
    for (index, image) in images.enumerated() {
      let next = try MortalWorld(image.restored(), seed: 2)
      next.ledger = base.ledger
      let store = try next.store("ana")
      #expect((store.replicaID == replica) == (index == images.count - 1), "an id is kept with the file or not at all")
      let faults = try store.withConnection { try StoreAudit.faults($0, next.catalog, next.ledger) }
      #expect(faults == [])
      guard index < 3 || index > images.count - 3 else { continue }
      try next.settle()
      try next.write("ana", 1)
      try next.settle()
      #expect(try WorldAudit.faultsAtRest(next) == [])
    }
  }

  /// The app's own tables and rows, from before Skerry.
  private func makeOlderDatabase() throws -> FileImage {
    let folder = try TemporaryFolder()
    let connection = try SQLiteConnection(path: folder.path(MortalWorld.serverFile), mode: .writer)
    try connection.execute(
      """
      CREATE TABLE member(id TEXT PRIMARY KEY NOT NULL, a TEXT, b TEXT, n INTEGER NOT NULL DEFAULT 0, team TEXT, user TEXT);
      CREATE TABLE item(id TEXT PRIMARY KEY NOT NULL, a TEXT, b TEXT, n INTEGER NOT NULL DEFAULT 0, home TEXT, also TEXT);
      INSERT INTO member(id, team, user) VALUES ('m1', 't1', 'ana'), ('m2', 't1', 'bob');
      INSERT INTO item(id, home) VALUES ('tally', 'team:t1'), ('i1', 'team:t1');
      """)
    try connection.checkpoint(truncating: true)
    return try FileImage(of: folder).with(MortalWorld.serverFile + "-wal", nil)
  }

  @Test func `a database whose adoption was cut off is adopted anew, with what was written since`() throws {
    let start = try makeOlderDatabase()
    let world = try MortalWorld(start.restored())
    _ = try world.server
    let images = try leftovers(MortalWorld.serverFile, start, FileImage(of: world.folder))
    #expect(images.count > 50)
    let (before, after) = try (dump(start), dump(images[images.count - 1]))
    for (index, image) in images.enumerated() {
      #expect(try dump(image) == (index < images.count - 1 ? before : after), "leftover \(index)")
      guard index < 3 || index > images.count - 3 else { continue }
      let next = try MortalWorld(image.restored(), seed: 2)
      try next.commitForeign("INSERT INTO item(id, home) VALUES ('i2', 'team:t1')", "UPDATE item SET a = 'new'")
      for name in MortalWorld.people { _ = try next.store(name) }
      try next.settle()
      try next.write("ana", 1)
      try next.settle()
      #expect(try WorldAudit.faultsAtRest(next) == [])
      #expect(try next.foreign().query("SELECT id FROM item") { $0.text(0) }.count == 4)
    }
  }

  private func dump(_ image: FileImage) throws -> String { try Recording.dump(image, MortalWorld.serverFile) }
}
