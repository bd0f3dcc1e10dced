// SPDX-License-Identifier: Apache-2.0

import Foundation
import SkerryMerge
import SkerryModel
import SkerrySQLiteKit
import SkerryServerCore
import SkerryStorageSQLite
import SkerryStore
import SkerryTestSupport
import SkerryTesting
import SkerryWire
import Synchronization

/// Drives the real server and real stores through a history of the executable model, and compares after every step.
final class HistoryReplay {
  struct Device {
    let user: AccountID
    let file: String
    var store: Store
    var screen: [String: String] = [:]
  }

  enum Request {
    case push(device: String, PushRequest)
    case pull(device: String, PullRequest, when: Int)
  }

  enum Answer {
    case verdicts([Verdict])
    case pull(PullAnswer, PullRequest, when: Int)
    case nothing
  }

  private let folder: TemporaryFolder
  private let ambient: VirtualAmbient
  private let catalog: Catalog
  private let events: [HistoryEvent]
  private let limit: Int
  private let bound: Int64
  private var names = Names()
  private var server: SyncServer
  private var storage: ScriptedStorage
  private var foreign: SQLiteConnection
  private var devices: [String: Device] = [:]
  private var requests: [Int: Request] = [:]
  private var answers: [Int: Answer] = [:]
  private var serverRows: [String: String] = [:]
  private var descriptions: [String: String] = [:]
  private let runs = RunQueue()
  /// The rows that the whole event changes, for the foreign writes that are told within it.
  private var serverChange: [String: Any] = [:]
  private(set) var steps = 0

  init(_ path: String) throws {
    events = try HistoryEvent.read(path)
    folder = try TemporaryFolder()
    ambient = VirtualAmbient(seed: UInt64(events[0].number("seed")))
    catalog = try Catalog(.model)
    limit = events[0].number("limit")
    bound = Int64(events[0].number("bound"))
    (server, storage, foreign) = try HistoryReplay.openServer(folder, catalog, ambient, runs)
    for entry in events[0].list("devices") {
      guard let name = entry[0] as? String, let user = entry[1] as? String else { continue }
      try open(name, user: AccountID(user), file: name + ".db")
      names.learn(replica: name, devices[name]?.store.replicaIDs.last ?? ReplicaID(name))
    }
  }

  private static func openServer(
    _ folder: TemporaryFolder, _ catalog: Catalog, _ ambient: VirtualAmbient, _ runs: RunQueue
  ) throws -> (SyncServer, ScriptedStorage, SQLiteConnection) {
    let path = folder.path("server.db")
    let storage = ScriptedStorage(try SQLiteStorage(path: path, catalog: catalog, ambient: ambient, readers: 1))
    let server = SyncServer(catalog: catalog, storage: storage, ambient: ambient) { runs.arrange($0) }
    return (server, storage, try SQLiteConnection(path: path, mode: .writer))
  }

  private func open(_ name: String, user: AccountID, file: String) throws {
    let store = try Store(path: folder.path(file), account: user, catalog: catalog, ambient: ambient)
    store.longCatchUp = bound
    let screen = devices[name]?.screen ?? [:]
    devices[name] = Device(user: user, file: file, store: store, screen: screen)
  }

  private func device(_ name: String) throws -> Device {
    guard let device = devices[name] else { throw Difference("no device \(name)") }
    return device
  }

  /// Runs the whole history.
  ///
  /// - Throws: `Difference` at the first step after which anything differs.
  func run() throws {
    for (index, event) in events.enumerated().dropFirst() {
      do {
        serverChange = event.object("server") ?? [:]
        try runs.expect(event.json["runs"] as? [[[Any]]] ?? [], names)
        try step(event)
        try runs.checkEmpty()
        try check(event)
      } catch {
        throw Difference("line \(index + 1), \(event.text("do")): \(error)\n\(event.json)")
      }
      steps += 1
    }
  }

  private func step(_ event: HistoryEvent) throws {
    switch event.text("do") {
    case "foreign": try commitForeign(event)
    case "write":
      let operations = try event.list("ops").map { try names.operation($0) }
      try device(event.text("device")).store.append(operations, id: names.mutation(event.text("mid")))
    case "discard": try device(event.text("device")).store.discard(names.mutation(event.text("mid")))
    case "coalesce": try coalesce(event)
    case "offer": try offer(event)
    case "ask": try ask(event)
    case "serve": try serve(event)
    case "receive": try receive(event)
    case "crash": try reopen(event.text("device"))
    case "clone", "image", "restore": try copyDevice(event)
    case "sequence": try server.sequence()
    case "expire": try server.expire(upTo: Int64(event.number("upto")))
    case "backup": try backUp()
    case "tail": try loseTail(event)
    case "attackPush": try attackPush(event)
    case "attackPull": try attackPull(event)
    case let other: throw Difference("unknown event \(other)")
    }
  }

  // MARK: Users

  private func coalesce(_ event: HistoryEvent) throws {
    let operations = try event.list("ops").map { try names.operation($0) }
    do {
      try device(event.text("device")).store.replace(
        names.mutation(event.text("mid")), with: operations, newID: names.mutation(event.text("as")))
      if event.flag("refused") { throw Difference("an edit of frozen work was accepted") }
    } catch let error as StoreError where error.code == .frozen && event.flag("refused") {}
  }

  private func reopen(_ name: String) throws {
    let old = try device(name)
    devices[name] = nil
    try open(name, user: old.user, file: old.file)
    devices[name]?.screen = old.screen
  }

  private func copyDevice(_ event: HistoryEvent) throws {
    let name = event.text("device")
    let old = try device(name)
    devices[name] = nil
    let image = name + ".image"
    switch event.text("do") {
    case "clone":
      let file = event.text("as") + ".db"
      try folder.copyDatabase(old.file, to: file)
      try open(event.text("as"), user: old.user, file: file)
      devices[event.text("as")]?.screen = [:]  // the event tells the clone's screen whole
    case "image": try folder.copyDatabase(old.file, to: image)
    default: try folder.copyDatabase(image, to: old.file)
    }
    try open(name, user: old.user, file: old.file)
    devices[name]?.screen = old.screen
  }

  // MARK: Network

  private func offer(_ event: HistoryEvent) throws {
    let store = try device(event.text("device")).store
    let mutations = try store.offer(event.texts("mids").map { names.mutation($0) })
    let after = event.object("after") ?? [:]
    for mutation in mutations {
      let expected = after[names.name(mutation.id)] as? [String] ?? []
      try require(mutation.after.map { names.name($0) }, expected, "predecessors of \(names.name(mutation.id))")
    }
    requests[event.number("message")] = .push(
      device: event.text("device"),
      PushRequest(
        schema: SchemaStamp(catalog.schema), replica: store.replicaIDs.last ?? "", cursor: store.cursor,
        settled: try store.settledMark(), mutations: mutations))
  }

  private func ask(_ event: HistoryEvent) throws {
    let store = try device(event.text("device")).store
    let request = PullRequest(
      schema: SchemaStamp(catalog.schema), replicas: store.replicaIDs, cursor: store.cursor,
      settled: try store.settledMark(), limit: limit)
    requests[event.number("message")] = .pull(device: event.text("device"), request, when: store.clock)
  }

  private func serve(_ event: HistoryEvent) throws {
    switch requests[event.number("message")] {
    case .push(let name, let request):
      let user = try device(name).user
      let verdicts = try push(request, as: user, event)
      answers[event.number("answer")] = .verdicts(verdicts)
    case .pull(let name, let request, let when):
      let user = try device(name).user
      let answer = try pull(request, as: user, event)
      answers[event.number("answer")] = answer.map { .pull($0, request, when: when) } ?? .nothing
    case nil: throw Difference("no message \(event.number("message"))")
    }
  }

  private func push(_ request: PushRequest, as user: AccountID, _ event: HistoryEvent) throws -> [Verdict] {
    let locked = Set(event.list("locked").map { names.key($0, at: 0) })
    storage.set { $0.locked = locked }
    defer { storage.set { $0.locked = [] } }
    let verdicts = try server.push(request, as: user).verdicts
    if event.flag("sequenced") { try server.sequence() }
    let expected = event.list("verdicts").map { $0.map { "\($0)" }.joined(separator: " ") }
    try require(verdicts.map { describe($0, request.replica) }, expected, "verdicts")
    return verdicts
  }

  private func describe(_ verdict: Verdict, _ replica: ReplicaID) -> String {
    switch verdict {
    case .settled(let id, let outcome): "verdict \(names.name(id)) \(outcome.rawValue)"
    case .notYet(let id): "notYet \(names.name(id)) "
    case .busy(let id): "busy \(names.name(id)) "
    case .identityReused(let replica): "identityReused \(names.name(replica)) "
    case .otherHistory: "history \(names.name(replica)) "
    case .forbidden: "forbidden \(names.name(replica)) "
    }
  }

  private func pull(_ request: PullRequest, as user: AccountID, _ event: HistoryEvent) throws -> PullAnswer? {
    let between = (event.json["between"] as? [[String: Any]] ?? []).map { HistoryEvent($0) }
    let later = Later()
    let isBusy = event.flag("busy")
    let isAwaited = !between.isEmpty
    later.action = { for event in between { try self.commitForeign(event) } }
    let hook: @Sendable () throws -> Void = { try later.run() }
    storage.set { script in
      script.isSequencerBusy = isBusy
      script.afterSequencer = isAwaited ? hook : nil
    }
    defer { storage.set { $0 = .init() } }
    let answer = try server.pull(request, as: user)
    if !between.isEmpty, !later.isDue { throw Difference("nothing was done between sequencer and page") }
    try compare(answer, event.object("page") ?? [:])
    return answer
  }

  private func compare(_ answer: PullAnswer, _ expected: [String: Any]) throws {
    switch answer {
    case .reset(let reset):
      try require(reset.reason.rawValue, expected["reset"] as? String ?? "no reset", "reset")
      try require(reset.spaces.map { names.name($0) }, expected["spaces"] as? [String] ?? [], "spaces of the reset")
    case .page(let page):
      let items = (expected["items"] as? [[Any]] ?? []).map { item in
        item.map { part in
          if let list = part as? [String] { return "[" + list.joined(separator: ", ") + "]" }
          let text = "\(part)"
          return item.first as? String == "receipt" ? String(text.split(separator: "/").last ?? "") : text
        }.joined(separator: " ")
      }
      try require(page.items.map(describe), items, "items")
      try require(page.closes, expected["closes"] as? Bool ?? false, "closes")
      try require(page.cursor.open.map { names.name($0.space) }, expected["open"] as? [String] ?? [], "open spaces")
    }
  }

  private func describe(_ item: PageItem) -> String {
    func row(_ kind: String, _ space: SpaceID, _ key: RowKey) -> String {
      "\(kind) \(names.name(space)) \(key.table) \(key.values.first?.text ?? "")"
    }
    return switch item {
    case .gain(let space): "gain \(names.name(space))"
    case .lose(let space): "lose \(names.name(space))"
    case .filled(let space): "filled \(names.name(space))"
    case .put(let space, let image): row("put", space, image.key)
    case .left(let space, let key, let still):
      row("left", space, key) + " [" + still.map { names.name($0) }.joined(separator: ", ") + "]"
    case .deleted(let space, let key): row("deleted", space, key)
    case .receipt(let space, let receipt): "receipt \(names.name(space)) $receipt \(names.name(receipt.id))"
    }
  }

  private func receive(_ event: HistoryEvent) throws {
    let name = event.text("device")
    let store = try device(name).store
    switch answers[event.number("message")] {
    case .verdicts(let verdicts):
      try store.take(verdicts)
      if event.has("minted") { names.learn(replica: event.text("minted"), store.replicaIDs.last ?? "") }
    case .pull(.page(let page), let request, let when):
      let effect = try store.apply(page, asked: request.cursor, when: when)
      try require(effect.isApplied, event.flag("fits"), "whether the page applies")
      try require(effect.mismatches, [], "digests that differ (\(try explain(effect.mismatches, name)))")
    case .pull(.reset(let reset), let request, _):
      let effect = try store.apply(reset, asked: request.cursor)
      try require(effect.isApplied, event.flag("fits"), "whether the reset applies")
    case .nothing: break
    case nil: throw Difference("no answer \(event.number("message"))")
    }
  }

  /// What the spaces add up to by a scan of the server's rows and by what both sides keep.
  private func explain(_ spaces: [SpaceID], _ name: String) throws -> String {
    var out: [String] = []
    for space in spaces {
      let kept = try server.digest(of: space)
      var scanned = SpaceDigest()
      try storage.read { transaction in
        for table in catalog.tables {
          for id in try foreign.query("SELECT id FROM \"\(table.name)\" ORDER BY id", row: { $0.text(0) }) {
            let key = RowKey(table.name, .text(id))
            guard let row = try transaction.row(key), try transaction.sequenced(key)?.spaces.contains(space) == true
            else { continue }
            scanned.add(
              RowHash(
                of: RowImage(key: key, version: row.version, incarnation: row.incarnation, values: row.values),
                in: table))
            out.append("\(key)")
          }
        }
      }
      let own = try device(name).store.withConnection { connection in
        try connection.first("SELECT sum, count FROM skerry_spaces WHERE name = ?", .text(space.text)) {
          SpaceDigest(bytes: $0.blob(0), rows: $0.integer(1))
        }
      }
      out.append(
        "\(space): server keeps \(kept.rows) \(kept), holds \(scanned.rows) \(scanned), device \(String(describing: own))"
      )
    }
    return out.joined(separator: "; ")
  }

  // MARK: The server's life

  private func commitForeign(_ event: HistoryEvent) throws {
    let writes = event.list("writes")
    try foreign.transaction(.immediate) {
      for write in writes {
        let key = names.key(write, at: 0)
        let id = SQLiteValue.text(write[1] as? String ?? "")
        let fields = write[2] as? [String: Any] ?? [:]
        let columns = fields.keys.sorted()
        let values = columns.map { sqlite(Names.value(fields[$0])) }
        func insert() throws {
          let list = (["id"] + columns).map { "\"\($0)\"" }.joined(separator: ", ")
          let marks = Array(repeating: "?", count: columns.count + 1).joined(separator: ", ")
          try foreign.statement("INSERT INTO \"\(key.table)\"(\(list)) VALUES (\(marks))").run([id] + values)
        }
        func delete() throws { try foreign.run("DELETE FROM \"\(key.table)\" WHERE id = ?", id) }
        switch write[4] as? String {
        case "insert": try insert()
        case "update":
          let sets = columns.map { "\"\($0)\" = ?" }.joined(separator: ", ")
          // A write of the same values is a new version in the model, and none here: two updates make it one.
          try foreign.run("UPDATE \"\(key.table)\" SET n = n + 1 WHERE id = ?", id)
          try foreign.statement("UPDATE \"\(key.table)\" SET \(sets) WHERE id = ?").run(values + [id])
        case "delete": try delete()
        case "replace":
          try delete()
          try insert()
        default:
          let extra = key.table == "member" ? ", team, user) VALUES (?, 'x', 'x')" : ") VALUES (?)"
          try foreign.statement("INSERT INTO \"\(key.table)\"(id\(extra)").run([id])
          try delete()
        }
      }
    }
    for write in writes {
      guard let version = write[3] as? String, !(write[2] is NSNull) else { continue }
      let key = names.key(write, at: 0)
      let found = try storage.read { try $0.row(key) }
      guard let found else { throw Difference("\(key) is not there after a foreign write") }
      try names.learn(version, found.version)
      let row = (event.object("server") ?? serverChange)["\(key.table)/\(key.values.first?.text ?? "")"]
      if let name = (row as? [String: Any])?["inc"] as? String { try names.learn(name, found.incarnation) }
    }
  }

  private func sqlite(_ value: Value) -> SQLiteValue {
    value.text.map { .text($0) } ?? value.integer.map { .integer($0) } ?? .null
  }

  private func backUp() throws {
    // The mark is in the backup too, as in the model; nothing is written in between.
    try server.markSafe(upTo: server.history().head)
    try foreign.checkpoint(truncating: true)
    try folder.copyDatabase("server.db", to: "backup.db")
  }

  private func loseTail(_ event: HistoryEvent) throws {
    // The files are replaced while nothing has them open.
    (server, storage, foreign) = try HistoryReplay.closedServer(catalog, ambient)
    try folder.copyDatabase("backup.db", to: "server.db")
    (server, storage, foreign) = try HistoryReplay.openServer(folder, catalog, ambient, runs)
    if event.has("epoch") { try server.beginEpoch(event.text("epoch")) }
  }

  private static func closedServer(
    _ catalog: Catalog, _ ambient: VirtualAmbient
  ) throws -> (SyncServer, ScriptedStorage, SQLiteConnection) {
    let empty = try TemporaryFolder()
    let storage = ScriptedStorage(try SQLiteStorage(path: empty.path("none.db"), catalog: catalog, ambient: ambient))
    return (
      SyncServer(catalog: catalog, storage: storage, ambient: ambient), storage,
      try SQLiteConnection(path: ":memory:", mode: .writer)
    )
  }

  private func attackPush(_ event: HistoryEvent) throws {
    let operations = try event.list("ops").map { try names.operation($0) }
    let mutation = Mutation(
      id: names.mutation(event.text("mid")), number: Int64(event.number("n")), operations: operations)
    let request = PushRequest(
      schema: SchemaStamp(catalog.schema), replica: names.replica(event.text("replica")), cursor: nil, settled: 0,
      mutations: [mutation])
    _ = try push(request, as: AccountID(event.text("user")), event)
  }

  private func attackPull(_ event: HistoryEvent) throws {
    let owner = [names.replica(event.text("replica"))]
    guard var cursor = try device(event.text("cursorOf")).store.cursor else { throw Difference("no cursor to forge") }
    cursor.owner = owner
    cursor.open = event.texts("open").map { OpenSpace(space: names.space($0), target: 1_000_000) }
    let request = PullRequest(
      schema: SchemaStamp(catalog.schema), replicas: owner, cursor: cursor, settled: 0, limit: event.number("limit"))
    _ = try pull(request, as: AccountID(event.text("user")), event)
  }

  // MARK: Comparing

  private func check(_ event: HistoryEvent) throws {
    for (key, row) in event.object("server") ?? [:] { serverRows[key] = names.describe(row) }
    if event.has("verdicts") || ["foreign", "tail"].contains(event.text("do")) || !serverChange.isEmpty {
      try require(try serverScreen(), serverRows, "rows of the server")
    }
    let changes = event.object("devices") ?? [:]
    for (name, change) in changes {
      guard let change = change as? [String: Any] else { continue }
      for (key, row) in change["screen"] as? [String: Any] ?? [:] { devices[name]?.screen[key] = names.describe(row) }
      try compare(name, HistoryEvent(change))
    }
    // What only reads a store changes no screen.
    let named =
      ["ask", "offer", "image"].contains(event.text("do"))
      ? [] : [event.text("device"), event.text("as")].filter { devices[$0] != nil }
    for name in Set(named + changes.keys) {
      try require(try screen(name), try device(name).screen, "screen of \(name)")
    }
  }

  private func compare(_ name: String, _ change: HistoryEvent) throws {
    let store = try device(name).store
    if change.has("outbox") {
      let found = try store.outbox().map {
        "\(names.name($0.id)) \($0.number) \($0.isVoid) \($0.isSent) \($0.isDormant)"
      }
      let expected = change.list("outbox").map { entry in
        "\(entry[0]) \(entry[1]) \(entry[2] as? Bool ?? false) \(entry[3] as? Bool ?? false) \(entry[4] as? Bool ?? false)"
      }
      try require(found, expected, "outbox of \(name)")
    }
    if change.has("inbox") {
      let found = try store.rejections().map { "\(names.name($0.id)) \($0.outcome.rawValue) \($0.code?.text ?? "-")" }
      let expected = change.list("inbox").map { "\($0[0]) \($0[1]) \($0[2] as? String ?? "-")" }
      try require(found.sorted(), expected.sorted(), "inbox of \(name)")
    }
    if change.has("staged") {
      let count = try store.withConnection { try $0.first("SELECT count(*) FROM skerry_stage") { $0.integer(0) } }
      try require(count ?? 0, Int64(change.number("staged")), "staged items of \(name)")
    }
    if change.has("ids") { try require(store.replicaIDs.map { names.name($0) }, change.texts("ids"), "ids of \(name)") }
    if change.has("archive") {
      try require(try store.archived().map { names.name($0) }.sorted(), change.texts("archive"), "archive of \(name)")
    }
  }

  private func screen(_ name: String) throws -> [String: String] {
    let store = try device(name).store
    var out: [String: String] = [:]
    for table in catalog.tables {
      let sql =
        "SELECT id, \(Self.image(table, "")) || hex(skerry_tag) || ' ' || hex(skerry_inc) FROM \"\(table.name)\""
      let rows = try store.withConnection { try $0.query(sql) { ($0.text(0), $0.text(1)) } }
      for (id, image) in rows {
        out["\(table.name)/\(id)"] = try described(table, id, image) {
          try store.withConnection { connection in
            try connection.first(
              "SELECT \(Self.list(table, "")), skerry_tag, skerry_inc FROM \"\(table.name)\" WHERE id = ?", .text(id)
            ) { row in
              let count = table.columns.count
              return (
                table.columns.indices.map { row.value($0) }, VersionTag(bytes: row.blob(count)),
                Incarnation(bytes: row.blob(count + 1))
              )
            }
          }
        }
      }
    }
    return out
  }

  /// A row's values as one text, by SQL.
  private static func image(_ table: TableInfo, _ prefix: String) -> String {
    table.columns.map { "quote(\(prefix)\"\($0.name)\") || ' ' || " }.joined() + "''"
  }

  private static func list(_ table: TableInfo, _ prefix: String) -> String {
    table.columns.map { "\(prefix)\"\($0.name)\"" }.joined(separator: ", ")
  }

  /// The description of a row, remembered by its image: what a tag is called never changes.
  private func described(
    _ table: TableInfo, _ id: String, _ image: String, read: () throws -> ([SQLiteValue], VersionTag?, Incarnation?)?
  ) throws -> String {
    let key = "\(table.name) \(image)"
    if let known = descriptions[key] { return known }
    guard case (let values, let version?, let incarnation?)? = try read() else {
      throw Difference("hidden columns of \(table.name)/\(id)")
    }
    let row = Dictionary(uniqueKeysWithValues: zip(table.columns.map(\.name), values.map(model)))
    let text = names.describe(row, version, incarnation)
    descriptions[key] = text
    return text
  }

  private func model(_ value: SQLiteValue) -> Value {
    switch value {
    case .text(let text): .text(text)
    case .integer(let number): .integer(number)
    default: .null
    }
  }

  /// The server's rows with their headers, by plain SQL.
  private func serverScreen() throws -> [String: String] {
    var out: [String: String] = [:]
    for table in catalog.tables {
      let from = """
        FROM "\(table.name)" AS t LEFT JOIN skerry_rows AS h ON h.tbl = '\(table.name)' AND h.key = quote(t.id)
        """
      let header = "hex(coalesce(h.tag, '')) || ' ' || hex(coalesce(h.inc, '')) || ' ' || coalesce(h.idx, '')"
      let sql = "SELECT t.id, \(Self.image(table, "t.")) || 'server ' || \(header) \(from)"
      for (id, image) in try foreign.query(sql, row: { ($0.text(0), $0.text(1)) }) {
        out["\(table.name)/\(id)"] = try described(table, id, image) {
          try foreign.first("SELECT \(Self.list(table, "t.")), h.tag, h.inc, h.idx \(from) WHERE t.id = ?", .text(id)) {
            row in
            let count = table.columns.count
            let insert = VersionTag(bytes: row.blob(count + 1))
            return (
              table.columns.indices.map { row.value($0) }, VersionTag(bytes: row.blob(count)),
              insert.map { Incarnation(tag: $0, index: UInt16(row.integer(count + 2))) }
            )
          }
        }
      }
    }
    return out
  }
}

/// What is done between two transactions of one request, by the test's own thread.
// Unchecked: the server calls it on the thread on which the test called the server.
private final class Later: @unchecked Sendable {
  var action: (() throws -> Void)?
  var isDue = false

  func run() throws {
    isDue = true
    try action?()
  }
}
