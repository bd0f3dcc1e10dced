// SPDX-License-Identifier: Apache-2.0

import SkerryMerge
import SkerryModel
import SkerrySQLiteKit
import SkerryServerCore
import SkerryStorageSQLite
import SkerryStore
import SkerryTestSupport
import SkerryTesting
import SkerryWire

/// Drives the real server and real stores through a history of the executable model, and compares after every step.
final class HistoryReplay {
  enum Message {
    case push(device: String, PushRequest)
    case pull(device: String, PullRequest, when: Int)
    case verdicts([Verdict])
    case answer(PullAnswer, PullRequest, when: Int)
  }

  let folder: TemporaryFolder
  let ambient: VirtualAmbient
  let catalog: Catalog
  var reader: HistoryReader
  /// Nil while its files are replaced.
  var host: HistoryHost?
  var stores: [String: Store] = [:]
  /// By number, from 1, as the model counts them.
  var messages: [Message?] = [nil]
  let runs = RunQueue()
  private(set) var steps = 0

  let names: HistoryNames

  init(_ text: HistoryText) throws {
    reader = try HistoryReader(text)
    names = reader.names
    folder = try TemporaryFolder()
    ambient = VirtualAmbient(seed: UInt64(reader.head.seed))
    catalog = try Catalog(.model)
    host = try HistoryHost(folder.path("server.db"), catalog, ambient, runs)
    for (name, user) in reader.head.devices {
      let store = try open(name + ".db", user)
      stores[name] = store
      names.learn(replica: name, store.replicaID)
    }
  }

  private func open(_ file: String, _ user: String) throws -> Store {
    let store = try Store(path: folder.path(file), account: AccountID(user), catalog: catalog, ambient: ambient)
    store.longCatchUp = Int64(reader.head.bound)
    return store
  }

  func server() throws -> HistoryHost {
    guard let host else { throw Difference("the server is down") }
    return host
  }

  func store(_ name: String) throws -> Store {
    guard let store = stores[name] else { throw Difference("no device \(name)") }
    return store
  }

  func user(_ device: String) throws -> AccountID { AccountID(try reader.state.device(device).user) }

  /// Runs the whole history.
  ///
  /// - Throws: `Difference` at the first step after which anything differs.
  func run() throws {
    do {
      while let event = try reader.next() {
        steps += 1
        runs.expect(reader.runs)
        try step(event)
        try runs.checkEmpty()
        try compare(after: event)
      }
      for name in stores.keys.sorted() { try compareAnswers(name) }
    } catch {
      throw Difference("seed \(reader.head.seed), line \(reader.line): \(names.readable("\(error)"))")
    }
  }

  private func step(_ event: HistoryEvent) throws {
    switch event {
    case .foreign(let commit): try self.commit(commit)
    case .write(let device, let mutation, let operations):
      try store(device).append(operations.map(operation), id: names.mutations[mutation])
    case .edit(let device, let mutation, let new, let operations, let isRefused):
      try edit(device, mutation, new, operations, isRefused: isRefused)
    case .discard(let device, let mutation): try store(device).discard(names.mutations[mutation])
    case .offer(let device, let offered): try offer(device, offered)
    case .ask(let device): try ask(device)
    case .push(let message, let outcome): try push(message, outcome)
    case .pull(let message, let outcome): try pull(message, outcome)
    case .receive(let message, let device, let fits, let minted): try receive(message, device, fits, minted)
    case .crash(let device): try whileClosed(device) {}
    case .image(let device):
      try whileClosed(device) { try folder.copyDatabase(device + ".db", to: device + ".image") }
    case .restore(let device):
      try whileClosed(device) { try folder.copyDatabase(device + ".image", to: device + ".db") }
    case .clone(let device, let new): try clone(device, new)
    case .sequence: try server().core.sequence()
    case .expire(let position): try server().core.expire(upTo: Int64(position))
    case .backUp: try backUp()
    case .loseTail(let epoch): try loseTail(epoch)
    case .attackPush(let user, let number, let mutation, let operations, let outcome):
      try attack(user, Int64(number), mutation, operations, outcome)
    case .attackPull(let user, let device, let open, let limit, let outcome):
      try attack(user, device, open, limit, outcome)
    }
  }

  // MARK: Users and their files

  func operation(_ told: HistoryOperation) throws -> SkerryModel.Operation {
    let key = names.keys[told.key]
    let columns = HistoryTable.all[names.tables[told.key]].columns
    let fields = told.values.map { Field(columns[$0.column].name, $0.value) }.sorted { $0.column < $1.column }
    let life = try told.incarnation.map { try names.incarnation($0, of: told.key) }
    switch told.action {
    case .insert: return SkerryModel.Operation(key, nil, .insert(fields))
    case .set:
      return SkerryModel.Operation(
        key, life, .set(fields, base: try told.base.map { try names.version($0, of: told.key) }))
    case .add: return SkerryModel.Operation(key, life, .increment("n", by: told.values.first?.value.integer ?? 0))
    case .delete: return SkerryModel.Operation(key, life, .delete)
    }
  }

  private func edit(
    _ device: String, _ mutation: Int, _ new: Int, _ operations: [HistoryOperation], isRefused: Bool
  ) throws {
    do {
      try store(device).replace(
        names.mutations[mutation], with: operations.map(operation), newID: names.mutations[new])
      if isRefused { throw Difference("an edit of frozen work was accepted") }
    } catch let error as StoreError where error.code == .frozen && isRefused {}
  }

  /// Does something while nobody has the device's file open.
  private func whileClosed(_ device: String, _ body: () throws -> Void) throws {
    stores[device] = nil
    try body()
    stores[device] = try open(device + ".db", reader.state.device(device).user)
  }

  private func clone(_ device: String, _ new: String) throws {
    try whileClosed(device) { try folder.copyDatabase(device + ".db", to: new + ".db") }
    stores[new] = try open(new + ".db", reader.state.device(new).user)
  }
}
