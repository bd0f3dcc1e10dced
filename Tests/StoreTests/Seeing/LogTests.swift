// SPDX-License-Identifier: Apache-2.0
import Skerry
import SkerryAmbientKit
import SkerryMachine
import SkerryModel
import SkerrySQLiteKit
import SkerryStore
import SkerryTestSupport
import SkerryTesting
import Synchronization
import Testing

/// What an app is told to write into its log, and what a support bundle holds.
@Suite struct LogTests {
  /// Takes entries, and can be handed to a sink.
  final class Book: Sendable {
    private let entries = Mutex<[LogEntry]>([])
    var all: [LogEntry] { entries.withLock { $0 } }
    func add(_ entry: LogEntry) { entries.withLock { $0.append(entry) } }
    var sink: LogSink { { [self] in add($0) } }
    func take() -> [LogEntry] {
      entries.withLock { entries in
        defer { entries = [] }
        return entries
      }
    }
  }

  private let folder: TemporaryFolder
  private let book = Book()
  private let harbour: Harbour

  init() throws {
    folder = try TemporaryFolder()
    harbour = try Harbour()
  }

  private func open(_ schema: Schema = .library, logs: Bool = true) async throws -> Replica {
    try await Replica.open(
      path: folder.path("a.db"), account: "ana", schema: schema, ambient: VirtualAmbient(seed: 4),
      log: logs ? book.sink : nil)
  }

  private func sync(_ replica: Replica) async throws {
    _ = try await SyncEngine(replica, transport: harbour).syncOnce(within: .seconds(600))
  }

  @Test func `opening, exchanges, pages, refusals and the engine's condition are told, begins with their ends`()
    async throws
  {
    let replica = try await open()
    #expect(book.all.map(\.event) == [.open, .open])
    #expect(book.all.map(\.phase) == [.begin, .end])
    #expect(book.take().last?.numbers == ["pending": 0, "version": 1])
    try await replica.write { try $0.insert("book", ["id": "dune", "owner": "ana"]) }
    harbour.withWorld { try? $0.foreign.execute("INSERT INTO book(id, owner) VALUES ('dune', 'ana')") }
    try await sync(replica)
    let entries = book.take()
    let pushes = entries.filter { $0.event == .push }
    #expect(pushes.map(\.phase) == [.begin, .end])
    #expect(pushes.first?.numbers["mutations"] == 1)
    #expect((pushes.first?.numbers["bytes"] ?? 0) > 100)
    #expect(pushes.last?.numbers["status"] == 200)
    #expect(pushes.last?.interval == pushes.first?.interval)
    #expect(pushes.last?.milliseconds != nil)
    #expect(entries.contains { $0.event == .reset && $0.words == ["reason": "first"] })
    #expect(entries.contains { $0.event == .page && $0.numbers["consistent"] == 1 })
    #expect(entries.contains { $0.event == .refusal && $0.words == ["code": "exists"] })
    let conditions = entries.filter { $0.event == .engine }.map { $0.words["condition"] }
    #expect(conditions == ["working", "idle"])
    let begun = entries.filter { $0.phase == .begin }.map(\.interval)
    let ended = entries.filter { $0.phase == .end }.map(\.interval)
    #expect(begun == ended)
  }

  @Test func `a network that is away, a lost history and rows that cannot be read are told`() async throws {
    let replica = try await open()
    harbour.set(.fails(.unreachable("secret host")))
    try await sync(replica)
    let away = book.take()
    #expect(away.contains { $0.event == .pull && $0.words == ["failure": "unreachable"] })
    #expect(away.contains { $0.event == .engine && $0.words == ["condition": "unreachable"] })
    _ = try await replica.read(
      Query<Int>("SELECT 1 AS n") { _ in throw StoreError(.invalid, "not so") })
    #expect(book.take().map(\.event) == [.unreadable])
  }

  @Test func `a file that is brought to a later schema is told with both versions`() async throws {
    do {
      let replica = try await open(logs: false)
      _ = try await replica.facts()
    }
    let replica = try await open(.nextLibrary)
    _ = try await replica.facts()
    let entry = try #require(book.all.first { $0.event == .migration })
    #expect(entry.numbers == ["from": 1, "to": Int64(Schema.nextLibrary.version)])
    #expect(entry.level == .notice)
  }

  @Test func `an adoption is told with its numbers, and an opening that fails with a word`() async throws {
    let path = folder.path("crm.db")
    func open(_ account: AccountID) async throws -> Replica {
      try await Replica.open(
        path: path, account: account, schema: Crm.schema, ambient: VirtualAmbient(seed: 4), log: book.sink)
    }
    do {
      let replica = try await open("ana")
      try await replica.adopt([Crm.Search(text: "a")], as: .unsent(batch: 1))
      let entry = try #require(book.take().last)
      #expect(entry.event == .adoption)
      #expect(entry.numbers["added"] == 1)
      #expect(entry.words == ["table": "searches"])
    }
    await #expect(throws: StoreError.self) { try await open("bob") }
    #expect(book.all.map(\.phase) == [.begin, .end])
    #expect(book.all.last?.words == ["error": "otherAccount"])
    #expect(book.all.last?.level == .error)
  }

  @Test func `an entry is one line for a person`() async throws {
    _ = try await open()
    #expect(book.all.last?.description.hasPrefix("open end #1 ") == true)
    #expect(book.all.last?.description.hasSuffix(" ms pending=0 version=1") == true)
  }
}

/// What a user sends to whoever supports the app.
@Suite struct SupportBundleTests {
  private static let canary = "Kanarienvogel-7f3a"

  private func busy(_ folder: TemporaryFolder, _ harbour: Harbour, _ book: LogTests.Book) async throws -> Replica {
    let canary = Self.canary
    let replica = try await Replica.open(
      path: folder.path("a.db"), account: AccountID(canary), schema: .library, ambient: VirtualAmbient(seed: 4),
      log: book.sink)
    try harbour.withWorld { world in
      try world.foreign.execute(
        "INSERT INTO shelf(id, name) VALUES ('\(canary)', '\(canary)')",
      )
      try world.foreign.execute("INSERT INTO reader(id, shelf, user) VALUES ('r\(canary)', '\(canary)', '\(canary)')")
      try world.foreign.execute("INSERT INTO box(id, shelf, content) VALUES ('b\(canary)', '\(canary)', '\(canary)')")
      try world.foreign.execute(
        "CREATE TRIGGER app_no BEFORE INSERT ON draft BEGIN SELECT RAISE(ABORT, 'no \(canary)'); END")
    }
    let engine = SyncEngine(replica, transport: harbour)
    let full: [String: Value] = [
      "id": .text("id \(canary)"), "owner": .text(canary), "title": .text(canary),
      "meta": .text("{\"a\":\"\(canary)\"}"),
      "cover": .blob(Array(canary.utf8)), "pages": 918_273_645, "rating": 9182.73645, "copies": 918_273_645,
    ]
    try await replica.write(canary) { try $0.insert("book", full) }
    try await replica.write(canary) {
      try $0.insert("draft", ["id": .text(canary), "owner": .text(canary), "body": .text(canary)])
    }
    _ = try await engine.syncOnce(within: .seconds(600))
    try await replica.write(canary) {
      try $0.update(RowKey("book", .text("id \(canary)")), ["title": .text(canary + "!")])
    }
    harbour.set(.fails(.broken(canary)))
    _ = try await engine.syncOnce(within: .seconds(1))
    return replica
  }

  @Test func `a bundle has names, counts, states and decisions, and nothing that a user has written`() async throws {
    let (folder, book) = (try TemporaryFolder(), LogTests.Book())
    let harbour = try Harbour(user: AccountID(Self.canary))
    let replica = try await busy(folder, harbour, book)
    let text = try await replica.supportBundle()
    for planted in [Self.canary, "918273645", "9182.73645", Hex.text(Array(Self.canary.utf8))] {
      #expect(!text.contains(planted), "\(planted)")
    }
    for needed in [
      #""name":"book","pending":1"#, #""phase":"atRest""#, #""code":"constraint""#, #""kind":"rejected""#,
      #""state":"sent""#,
      #""condition":"unreachable""#, #""event":"push""#, #""batch":100"#, #""name":"library","version":1"#,
    ] { #expect(text.contains(needed), "\(needed)") }
    #expect(book.all.allSatisfy { !"\($0)".contains(Self.canary) })
    // Another bundle has other hashes: nobody can put two together, or try out what they stand for.
    let names = { (text: String) in Set(text.matches(of: /#[0-9a-f]{12}/).map { String($0.output) }) }
    let other = try await replica.supportBundle()
    #expect(!names(text).isEmpty)
    #expect(names(text).isDisjoint(with: names(other)))
  }
}
