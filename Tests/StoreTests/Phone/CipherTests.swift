// SPDX-License-Identifier: Apache-2.0
import Foundation
import SkerryFileKit
import SkerryModel
import SkerrySQLiteKit
import SkerryStore
import SkerryTestSupport
import SkerryTesting
import Testing

/// The seam to SQLCipher. It exports what SQLite exports, so a process that is started with it in front has it in place of SQLite.
///
/// Debian's is of 2016, with a SQLite of 3.15: too old for a store, which says so; connections, which are what a key has to do
/// with, work with it.
@Suite struct CipherTests {
  static let variable = "SKERRY_CIPHER_STAGE"
  static let canary = "the canary that must not sing"
  private static let folders = ["/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib"]
  private static var library: String? {
    folders.map { $0 + "/libsqlcipher.so.0" }.first { FileManager.default.fileExists(atPath: $0) }
  }

  @Test(.enabled(if: CipherTests.library != nil, "needs libsqlcipher-dev"), .timeLimit(.minutes(2)))
  func `with SQLCipher in place of SQLite, files are encrypted from their first byte on`() throws {
    let folder = try TemporaryFolder()
    let process = Process()
    process.executableURL = URL(
      fileURLWithPath: try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
    process.arguments = ["--testing-library", "swift-testing", "--filter", "StoreTests.CipherStage"]
    var environment = ProcessInfo.processInfo.environment
    environment["LD_PRELOAD"] = CipherTests.library
    environment[CipherTests.variable] = folder.path("")
    process.environment = environment
    let output = Pipe()
    process.standardOutput = output
    process.standardError = output
    try process.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    #expect(process.terminationStatus == 0, "\(text)")
    #expect(text.contains("with 1 test"), "\(text)")

    // What the other process has left, read by this one with another SQLite.
    let path = folder.path("copy-a.db")
    for suffix in ["", "-wal"] {
      let bytes = try #require(try FileSystem.system.read(path + suffix))
      #expect(bytes.count > 4_096)
      #expect(!Data(bytes).contains(Data(CipherTests.canary.utf8)))
      #expect(!bytes.starts(with: Array("SQLite format 3".utf8)))
    }
    let plain = try #require(try FileSystem.system.read(folder.path("plain.db")))
    #expect(Data(plain).contains(Data(CipherTests.canary.utf8)))
    #expect(throws: SQLiteError.self) {
      try SQLiteConnection(path: path, mode: .immutable).first("SELECT count(*) FROM t") { $0.integer(0) }
    }
  }
}

extension Data {
  fileprivate func contains(_ other: Data) -> Bool { range(of: other) != nil }
}

/// What the process with SQLCipher in front does; nothing in any other.
@Suite(.enabled(if: ProcessInfo.processInfo.environment[CipherTests.variable] != nil)) struct CipherStage {
  private let right: CipherKey = { (0..<32).map { UInt8($0) } }
  private let wrong: CipherKey = { (0..<32).map { UInt8($0 + 1) } }
  private let folder = ProcessInfo.processInfo.environment[CipherTests.variable] ?? ""

  private func write(_ path: String, _ key: CipherKey?) throws -> SQLiteConnection {
    let connection = try SQLiteConnection(path: path, mode: .writer, key: key)
    try connection.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, text TEXT)")
    try connection.transaction(.immediate) {
      for _ in 0..<200 { _ = try connection.run("INSERT INTO t(text) VALUES (?)", .text(CipherTests.canary)) }
    }
    return connection
  }

  private func count(_ connection: SQLiteConnection) throws -> Int64? {
    try connection.first("SELECT count(*) FROM t WHERE text = ?", .text(CipherTests.canary)) { $0.integer(0) }
  }

  @Test func `a key opens the file that it was made with, another one leaves it as it is`() throws {
    let path = folder + "/a.db"
    #expect(try count(write(folder + "/plain.db", nil)) == 200)
    #expect(try count(write(path, right)) == 200)
    let before = try #require(try FileSystem.system.read(path))
    do {
      let error = #expect(throws: CipherError.self) { try SQLiteConnection(path: path, mode: .writer, key: wrong) }
      guard case .refused(let cause)? = error else { throw CipherError.unavailable }
      #expect(cause.isDamage)
      #expect(!"\(cause)".contains("PRAGMA"))
      #expect(StoreError(.refused(cause)).code == .wrongKey)
      #expect(throws: CipherError.self) { try SQLiteConnection(path: path, mode: .reader, key: wrong) }
      #expect(throws: CipherError.self) { try SQLiteConnection(path: folder + "/plain.db", mode: .writer, key: right) }
      #expect(throws: CipherError.malformedKey(count: 3)) {
        try SQLiteConnection(path: path, mode: .reader, key: { [1, 2, 3] })
      }
      #expect(try FileSystem.system.read(path) == before)
    }
    #expect(try count(SQLiteConnection(path: path, mode: .reader, key: right)) == 200)
    let pool = ReaderPool(path: path, lanes: .caller, vfs: nil, key: right)
    #expect(try pool.read { try count($0) } == 200)
    try refuseStore()
    // A WAL is left for the other process to look into.
    let writer = try SQLiteConnection(path: path, mode: .writer, key: right)
    let reader = try SQLiteConnection(path: path, mode: .reader, key: right)
    try writer.execute("UPDATE t SET text = text || ' any more'")
    #expect(try reader.first("SELECT count(*) FROM t") { $0.integer(0) } == 200)
    for name in ["a.db", "a.db-wal"] {
      let bytes = try #require(try FileSystem.system.read(folder + "/" + name))
      #expect(bytes.count > 4_096)
      try Data(bytes).write(to: URL(fileURLWithPath: folder + "/copy-" + name))
    }
    pool.closeIdle()
  }

  /// The store needs a SQLite of 3.37.
  private func refuseStore() throws {
    let path = folder + "/store.db"
    let bytes = try right()
    let place = StorePlace(path, key: { try EncryptionKey(bytes) }, files: FilePolicy())
    if SQLiteConnection.libraryVersion < 3_037_000 {
      let error = #expect(throws: StoreError.self) {
        try Store(at: place, account: "ana", catalog: try Catalog(.library), ambient: VirtualAmbient(seed: 1))
      }
      #expect(error?.code == .unsupported)
      #expect(!FileSystem.system.exists(path))
    } else {
      let store = try Store(at: place, account: "ana", catalog: try Catalog(.library), ambient: VirtualAmbient(seed: 1))
      _ = try store.write { try $0.insert("book", ["id": "dune", "owner": "ana", "title": .text(CipherTests.canary)]) }
      let file = try #require(try FileSystem.system.read(path + "-wal"))
      #expect(!Data(file).contains(Data(CipherTests.canary.utf8)))
    }
  }
}
