// SPDX-License-Identifier: Apache-2.0

import SkerryMerge
import SkerryModel
import SkerrySQLiteKit
import SkerryServerCore
import SkerryStore
import SkerryTestSupport

/// What other programs and operators do to the server's database, and the comparison after each step.
extension HistoryReplay {
  func commit(_ commit: ForeignCommit) throws {
    let host = try server()
    try host.foreign.transaction(.immediate) {
      for (key, action, values) in commit.writes { try write(key, action, values, by: host.foreign) }
    }
    for (key, action, _) in commit.writes where action != .delete && action != .none {
      guard let found = try host.storage.read({ try $0.row(names.keys[key]) }) else {
        throw Difference("\(names.keys[key]) is not there after a foreign write")
      }
      try names.learn(commit.transaction, of: key, found.version)
      if action != .update { try names.learn(commit.transaction, of: key, found.incarnation) }
    }
  }

  private func write(_ key: Int, _ action: ForeignCommit.Action, _ values: [Value], by foreign: SQLiteConnection) throws
  {
    let table = HistoryTable.all[names.tables[key]]
    let id = SQLiteValue.text(names.ids[key])
    let name = "\"\(table.name)\""
    func delete() throws { try foreign.run("DELETE FROM \(name) WHERE id = ?", id) }
    func insert() throws {
      let marks = Array(repeating: "?", count: values.count + 1).joined(separator: ", ")
      let columns = (["id"] + table.columns.map(\.name)).map { "\"\($0)\"" }.joined(separator: ", ")
      try foreign.statement("INSERT INTO \(name)(\(columns)) VALUES (\(marks))").run([id] + values.map(sqlite))
    }
    switch action {
    case .insert: try insert()
    case .update:
      // A write of the same values is a new version in the model, and none here: two updates make it one.
      try foreign.run("UPDATE \(name) SET n = n + 1 WHERE id = ?", id)
      let sets = table.columns.map { "\"\($0.name)\" = ?" }.joined(separator: ", ")
      try foreign.statement("UPDATE \(name) SET \(sets) WHERE id = ?").run(values.map(sqlite) + [id])
    case .delete: try delete()
    case .replace:
      try delete()
      try insert()
    case .none:
      let extra = table.name == "member" ? ", team, user) VALUES (?, 'x', 'x')" : ") VALUES (?)"
      try foreign.statement("INSERT INTO \(name)(id\(extra)").run([id])
      try delete()
    }
  }

  private func sqlite(_ value: Value) -> SQLiteValue {
    value.text.map { .text($0) } ?? value.integer.map { .integer($0) } ?? .null
  }

  func backUp() throws {
    // The mark is in the backup too, as in the model; nothing is written in between.
    let host = try server()
    try host.core.markSafe(upTo: host.core.history().head)
    try host.foreign.checkpoint(truncating: true)
    try folder.copyDatabase("server.db", to: "backup.db")
  }

  /// The files are replaced while nothing has them open.
  func loseTail(_ epoch: String?) throws {
    host = nil
    try folder.copyDatabase("backup.db", to: "server.db")
    host = try HistoryHost(folder.path("server.db"), catalog, ambient, runs)
    if let epoch { try server().core.beginEpoch(epoch) }
  }

  // MARK: Comparing

  /// All of the server's rows after whatever may write them, and all of the device to which the event belongs.
  func compare(after event: HistoryEvent) throws {
    switch event {
    case .foreign, .push, .loseTail, .attackPush: try compareServer()
    case .pull(_, let outcome), .attackPull(_, _, _, _, let outcome):
      if !outcome.between.isEmpty { try compareServer() }
    case .ask: return  // reads only
    default: break
    }
    if let device = event.device { try compare(device) }
  }

  private func compareServer() throws {
    let expected = HistoryImage(rows: reader.state.showImage(names))
    let found = try HistoryImage.ofServer(server().foreign)
    if found != expected, let difference = found.difference(from: expected) {
      throw Difference("the server, \(difference)")
    }
  }

  private func compare(_ name: String) throws {
    let store = try store(name)
    let expected = reader.state.devices[name]?.image(names) ?? HistoryImage(rows: "")
    let found = try store.withConnection { try HistoryImage.ofDevice($0) }
    if found != expected, let difference = found.difference(from: expected) {
      throw Difference("\(name), \(difference)")
    }
    try require(store.replicaIDs, try reader.state.device(name).ids.map { try names.replica($0) }, "ids of \(name)")
  }

  /// What a store answers about its lists must be what its file holds.
  func compareAnswers(_ name: String) throws {
    let (store, expected) = (try store(name), try reader.state.device(name))
    try require(
      try store.outbox().map(\.id), expected.outbox.map { names.mutations[$0.mutation] }, "outbox of \(name)")
    try require(
      Set(try store.rejections().map(\.id)), Set(expected.inbox.map { names.mutations[$0.mutation] }),
      "inbox of \(name)")
    try require(
      Set(try store.archived()), Set(expected.archive.map { names.mutations[$0] }), "archive of \(name)")
  }
}
