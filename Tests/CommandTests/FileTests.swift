// SPDX-License-Identifier: Apache-2.0
import Foundation
import SkerryCommands
import SkerryModel
import SkerrySQLiteKit
import SkerryStore
import SkerryTestSupport
import SkerryTesting
import Testing

/// In which state a file may be when somebody looks into it.
@Suite struct FileTests {
  private func files(_ shore: Shore) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: shore.folder.url.path).sorted()
  }

  @Test func `a file that is open elsewhere is read as of one moment and not changed`() throws {
    let shore = try Shore()
    try shore.insert("x")
    let before = [shore.device, shore.device + "-wal"].map { FileManager.default.contents(atPath: $0) }
    let names = try files(shore)
    #expect(shore.inspect().output.contains("outbox: 1 entry"))
    #expect(shore.explain("item", "x").code == 0)
    #expect([shore.device, shore.device + "-wal"].map { FileManager.default.contents(atPath: $0) } == before)
    #expect(try files(shore) == names)
    // The device goes on as if nobody had looked.
    try shore.sync()
    #expect(shore.inspect().output.contains("outbox: empty"))
  }

  @Test func `a file is read while a write is going on in it`() throws {
    let shore = try Shore()
    try shore.write { write in
      try write.insert("item", ["id": "x", "home": "user:ana"])
      #expect(shore.inspect().output.contains("outbox: empty"))
    }
    #expect(shore.inspect().output.contains("outbox: 1 entry"))
  }

  @Test func `a copied file without its WAL is read, and nothing is made beside it`() throws {
    let shore = try Shore()
    try shore.insert("x")
    try shore.store.withConnection { _ = try $0.checkpoint(truncating: true) }
    let folder = try TemporaryFolder()
    // A name with what a URI takes for its own.
    let copy = folder.path("a copy? 100% #1.db")
    try FileManager.default.copyItem(atPath: shore.device, toPath: copy)
    #expect(shore.inspect(file: copy).output.contains("outbox: 1 entry"))
    #expect(shore.inspect(file: copy).output.contains("no WAL beside it"))
    #expect(shore.explain("item", "x", file: copy).output.contains("made here"))
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == ["a copy? 100% #1.db"])
    try FileManager.default.setAttributes([.posixPermissions: 0o444], ofItemAtPath: copy)
    #expect(shore.inspect(file: copy).code == 0)
  }

  @Test func `a copy with its WAL is read with what is in it, and so is a link to a file`() throws {
    let shore = try Shore()
    try shore.insert("x")
    let folder = try TemporaryFolder()
    for suffix in ["", "-wal"] {
      try FileManager.default.copyItem(atPath: shore.device + suffix, toPath: folder.path("b.db") + suffix)
    }
    #expect(shore.inspect(file: folder.path("b.db")).output.contains("outbox: 1 entry"))
    try FileManager.default.createSymbolicLink(atPath: folder.path("link"), withDestinationPath: shore.device)
    #expect(shore.inspect(file: folder.path("link")).output.contains("outbox: 1 entry"))
  }

  @Test func `a copy whose content is all in a WAL that was left behind says so`() throws {
    let shore = try Shore()
    let folder = try TemporaryFolder()
    try FileManager.default.copyItem(atPath: shore.server, toPath: folder.path("s.db"))
    let answer = shore.inspect(file: folder.path("s.db"))
    #expect(answer.code == 3)
    #expect(answer.error.contains("copy the -wal beside the original too"))
  }

  @Test func `what is no file of Skerry's gives a clear error and exit code 3`() throws {
    let shore = try Shore()
    let folder = try TemporaryFolder()
    try Data("hello, this is no database, whatever its name says".utf8).write(
      to: URL(fileURLWithPath: folder.path("t.db")))
    try Data().write(to: URL(fileURLWithPath: folder.path("empty.db")))
    do {
      let other = try SQLiteConnection(path: folder.path("other.db"), mode: .writer)
      try other.execute("CREATE TABLE t(x)")
      try other.checkpoint(truncating: true)
    }
    let expected = [
      ("t.db", "a SQLite database was expected"), ("empty.db", "neither the tables of a device's store"),
      ("other.db", "neither the tables of a device's store"), ("missing.db", "there is no such file"),
      ("", "this is a folder"),
    ]
    for (name, text) in expected {
      let path = name.isEmpty ? folder.url.path : folder.path(name)
      for answer in [shore.inspect(file: path), shore.explain("item", "x", file: path)] {
        #expect(answer.code == 3)
        #expect(answer.output.isEmpty)
        #expect(answer.error.hasPrefix("skerry: \(path): ") && answer.error.contains(text), "\(answer.error)")
      }
    }
  }

  @Test func `a damaged file gives a clear error and exit code 3`() throws {
    let shore = try Shore()
    for number in 0..<40 { try shore.insert("n\(number)") }
    try shore.store.withConnection { _ = try $0.checkpoint(truncating: true) }
    var data = try #require(FileManager.default.contents(atPath: shore.device))
    let whole = data
    let folder = try TemporaryFolder()
    let copy = folder.path("a.db")
    // Past the table of contents, so that the file is known for what it is and then cannot be read.
    for page in 6..<(data.count / 4096) { data.replaceSubrange(page * 4096..<page * 4096 + 64, with: Data(count: 64)) }
    try data.write(to: URL(fileURLWithPath: copy))
    let answer = shore.inspect(file: copy)
    #expect(answer.code == 3)
    #expect(answer.error.contains("damaged"))
    try whole.prefix(whole.count / 2).write(to: URL(fileURLWithPath: copy))
    #expect(shore.inspect(file: copy).code == 3)
  }

  @Test func `a cursor that cannot be read, and another format, give a clear error`() throws {
    let shore = try Shore()
    try shore.store.withConnection { _ = try $0.run("UPDATE skerry_state SET cursor = x'00'") }
    #expect(shore.inspect().error.contains("a cursor that cannot be read"))
    #expect(shore.inspect().code == 3)
    try shore.store.withConnection { _ = try $0.run("UPDATE skerry_state SET format = 9") }
    #expect(shore.inspect().error.contains("the file has format 9, this program reads 2; use a newer one"))
  }

  @Test func `another schema than the file's is refused`() throws {
    let shore = try Shore()
    var schema = Schema.shore
    schema.version = 4
    try JSONEncoder().encode(schema).write(to: URL(fileURLWithPath: shore.schemaFile))
    #expect(shore.explain("item", "x").code == 3)
    #expect(shore.explain("item", "x").error.contains("the file was made with shore 3, the schema given is shore 4"))
    #expect(shore.explain("item", "x", file: shore.server).error.contains("another declaration (shore 3)"))
  }
}
