// SPDX-License-Identifier: Apache-2.0
import Foundation
import Skerry
import SkerryFileKit
import SkerryModel
import SkerryStore
import SkerryTestSupport
import SkerryTesting
import Synchronization
import Testing

/// Who may read the files of a store, and what the app wants to do with each.
@Suite("Files of a store") struct FileTests {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private final class Seen: Sendable {
    private let all = Mutex<[(path: String, bytes: Int64)]>([])
    func note(_ path: String) {
      all.withLock { $0.append((path, FileSystem.system.size(of: path) ?? -1)) }
    }
    func take() -> [(path: String, bytes: Int64)] {
      all.withLock { all in
        defer { all = [] }
        return all
      }
    }
  }

  private func open(_ policy: FilePolicy) async throws -> Replica {
    try await Replica.open(in: folder.path(""), account: "ana", schema: .library, files: policy)
  }

  private var names: [String] {
    let name = Replica.fileName(of: "ana")
    return ["", "-wal", "-shm"].map { name + $0 }
  }

  @Test func `each file is handed over when it is made, before anything is written into it`() async throws {
    let seen = Seen()
    let replica = try await open(FilePolicy { seen.note($0) })
    let first = seen.take()
    #expect(first.map { String($0.path.split(separator: "/").last ?? "") } == names)
    // SQLite gives the last one its size when it makes it; what is in it are numbers of pages.
    #expect(first.prefix(1).map(\.bytes) == [0])
    try await replica.write { try $0.insert("book", ["id": "dune", "owner": "ana"]) }
    #expect(seen.take().isEmpty)
    await replica.suspend()
    #expect(!FileSystem.system.exists(first[1].path))
    try await replica.resume()
    #expect(seen.take().map(\.path) == first.map(\.path))
  }

  @Test func `the owner alone may read them, also those that were made otherwise before`() async throws {
    let path = folder.path("/" + names[0])
    do {
      let ambient = VirtualAmbient(seed: 1)
      _ = try Store(path: path, account: "ana", catalog: try Catalog(.library), ambient: ambient)
      try FileSystem.system.setMode(0o644, of: path)
    }
    let replica = try await open(FilePolicy())
    try await replica.write { try $0.insert("book", ["id": "dune", "owner": "ana"]) }
    for name in names { #expect(FileSystem.system.mode(of: folder.path(name)) == 0o600, "\(name)") }
    await replica.suspend()
    var wide = FilePolicy()
    wide.mode = 0o640
    let other = folder.path("other")
    try FileManager.default.createDirectory(atPath: other, withIntermediateDirectories: false)
    let shared = try await Replica.open(in: other, account: "ana", schema: .library, files: wide)
    #expect(FileSystem.system.mode(of: other + "/" + names[0]) == 0o640)
    await shared.suspend()
  }

  @Test func `what the app's hook throws is thrown, and no store is made`() async throws {
    struct No: Error {}
    await #expect(throws: No.self) { _ = try await open(FilePolicy { _ in throw No() }) }
    #expect(FileSystem.system.size(of: folder.path(names[0])) == 0)
    let replica = try await open(FilePolicy())
    try await replica.write { try $0.insert("book", ["id": "dune", "owner": "ana"]) }
  }

  // MARK: Keys

  @Test func `a key with a SQLite that cannot encrypt is refused, with the remedy, and no file is made`() async throws {
    let key = try EncryptionKey(repeatElement(7, count: 32))
    let error = await #expect(throws: StoreError.self) {
      _ = try await Replica.open(in: folder.path(""), account: "ana", schema: .library, key: { key })
    }
    #expect(error?.code == .encryptionUnavailable)
    #expect(error?.message.contains("SQLCipher") == true)
    #expect(try FileSystem.system.names(in: folder.path("")) == [])
    let replica = try await open(FilePolicy())
    try await replica.write { try $0.insert("book", ["id": "dune", "owner": "ana"]) }
    await replica.suspend()
    let before = try FileSystem.system.read(folder.path(names[0]))
    let again = #expect(throws: StoreError.self) {
      _ = try Store(
        at: StorePlace(folder.path(names[0]), key: { key }), account: "ana", catalog: replica.catalog,
        ambient: VirtualAmbient(seed: 1))
    }
    #expect(again?.code == .encryptionUnavailable)
    #expect(try FileSystem.system.read(folder.path(names[0])) == before)
  }

  @Test func `a key shows nothing of itself, and has 32 bytes or 48`() throws {
    let key = try EncryptionKey((0..<32).map { UInt8(0xA0 + $0) })
    var dumped = ""
    dump(key, to: &dumped)
    for text in ["\(key)", String(reflecting: key), "\([key])", dumped] {
      #expect(!text.lowercased().contains("a0") && !text.contains("160"), "\(text)")
    }
    for count in [0, 16, 31, 33, 64] {
      #expect(throws: StoreError.self) { try EncryptionKey(repeatElement(1, count: count)) }
    }
  }
}
