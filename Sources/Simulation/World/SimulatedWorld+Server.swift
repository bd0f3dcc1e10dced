// SPDX-License-Identifier: Apache-2.0

import SkerryAmbientKit
import SkerryDiskKit
import SkerryMachine
import SkerryModel
import SkerrySQLiteKit
import SkerryWire

/// The server as its clients meet it, and what its file says afterwards.
extension SimulatedWorld {
  /// Carries out a request at one of the servers.
  ///
  /// - Returns: nil if none is up, or if its process died over it.
  func serve(_ request: TransportRequest, from device: DeviceNode) -> TransportResponse? {
    let up = servers.filter(\.isUp)
    guard !up.isEmpty else { return nil }
    return serve(request, at: up[Int(choices.next() % UInt64(up.count))], as: device.user, by: device.name)
  }

  func serve(
    _ request: TransportRequest, at node: ServerNode, as user: AccountID, by name: String, isHostile: Bool = false
  ) -> TransportResponse? {
    figures.requests += 1
    served = node.name
    let response = node.serve(request, as: user)
    let isDead = disk.isDead(node.label)
    let mark: Journal.Mark? = isDead ? .crash : journal.isKept && holdsRefusal(response) ? .refusal : nil
    journal.say(now, node.name, mark, "\(name) \(request.path): \(isDead ? "dies" : tell(response))")
    let push = request.path == "/v1/push" ? try? codec.decodePushRequest(request.body) : nil
    if let push { unseen.append((push, user, isHostile)) }
    if isDead { serverDied(node) }
    lookAtServer()
    if isDead { return nil }
    check { try checkAnswer(request, push, response, user, node) }
    return response
  }

  private func holdsRefusal(_ response: TransportResponse) -> Bool {
    guard response.status == 200, let push = try? codec.decodePushAnswer(response.body) else { return false }
    return push.verdicts.contains { verdict in
      if case .settled(_, let outcome) = verdict { [.rejected, .conflicted].contains(outcome) } else { false }
    }
  }

  /// An answer in a few words.
  private func tell(_ response: TransportResponse) -> String {
    guard response.status == 200 else { return "\(response.status)" }
    if let push = try? codec.decodePushAnswer(response.body) {
      return push.verdicts.map { verdict in
        switch verdict {
        case .settled(let id, let outcome): "\(id) \(outcome.rawValue)"
        case .notYet(let id): "\(id) not yet"
        case .busy(let id): "\(id) busy"
        case .identityReused: "identity reused"
        case .otherHistory: "other history"
        case .forbidden: "forbidden"
        }
      }.joined(separator: ", ")
    }
    switch try? codec.decodePullAnswer(response.body) {
    case .reset(let reset): return "reset, \(reset.reason.rawValue)"
    case .page(let page):
      return "page of \(page.items.count) to \(page.cursor.position)\(page.closes ? ", closing" : "")"
        + (page.cursor.isWhole ? "" : ", \(page.cursor.open.count) spaces open")
    case nil: return "200"
    }
  }

  private func checkAnswer(
    _ request: TransportRequest, _ push: PushRequest?, _ response: TransportResponse, _ user: AccountID,
    _ node: ServerNode
  ) throws {
    if response.status == 500 {
      try need(
        isExcused(node.label), "F-S23 the server failed", "\(request.path): \(node.failure.map { "\($0)" } ?? "-")")
    }
    try checkOwner(request, push, response, user)
    guard response.status == 200 else { return }
    guard let (epoch, floor) = try historyFacts() else { return }
    if let push {
      try PageOracle.check(
        try codec.decodePushAnswer(response.body), to: push, user, model, epoch: epoch, floor: floor)
    } else {
      let pull = try codec.decodePullRequest(request.body)
      guard let lens = lenses.first(where: { $0.version == pull.schema.version }), lens.version <= serverLens.version
      else { throw Broken("I-21 a newer version than the server's is served", "\(pull.schema)") }
      try PageOracle.check(
        try lens.codec.decodePullAnswer(response.body), to: pull, user, model, by: lens, isOwn: lens === serverLens,
        epoch: epoch, floor: floor)
    }
  }

  private func historyFacts() throws -> (epoch: String, floor: Int64)? {
    try serverObserver()?.first("SELECT epoch, floor FROM skerry_history") { ($0.text(0), $0.integer(1)) }
  }

  /// Who names a replica of another account is turned away.
  private func checkOwner(
    _ request: TransportRequest, _ push: PushRequest?, _ response: TransportResponse, _ user: AccountID
  ) throws {
    guard response.status == 200 || response.status == 403 else { return }
    let named = try push.map { [$0.replica] } ?? codec.decodePullRequest(request.body).replicas
    let isForeign = named.contains { model.owners[$0] ?? user != user }
    var isForbidden = response.status == 403
    if push != nil, response.status == 200 {
      let verdicts = try codec.decodePushAnswer(response.body).verdicts
      // A database that is busy has not been asked whose replica it is.
      if verdicts.allSatisfy({ if case .busy = $0 { true } else { false } }) { return }
      isForbidden = verdicts.contains { if case .forbidden = $0 { true } else { false } }
    }
    try need(
      isForeign == isForbidden, "INV 7 an account speaks for another's replica",
      "\(user) \(named) \(response.status)")
    if !isForbidden { for replica in named { model.own(replica, user) } }
  }

  /// Tells the model what the file holds now: verdicts, rows, and the newest run of the sequencer.
  func lookAtServer() {
    check {
      guard let connection = try serverObserver() else { return }
      for (request, user, isHostile) in unseen { try see(request, user, isHostile, connection) }
      unseen.removeAll()
      try seeRun(connection)
    }
  }

  /// Nil while the machine is without power, or nobody has the file open.
  func serverObserver() throws -> SQLiteConnection? {
    if let observer, !disk.isDead(observerLabel) { return observer }
    guard servers.contains(where: \.isUp) else { return nil }
    observer = nil
    observers += 1
    observerLabel = "look.\(observers)"
    let path = MemoryDisk.path(process: observerLabel, machine: "server", file: "server.db")
    observer = try SQLiteConnection(path: path, mode: .reader, busyTimeout: 0, vfs: disk.vfsName)
    return observer
  }

  func closeServerObserver() { observer = nil }

  private func see(
    _ request: PushRequest, _ user: AccountID, _ isHostile: Bool, _ connection: SQLiteConnection
  ) throws {
    var found: [MutationID: ModelServer.Judged] = [:]
    for mutation in request.mutations {
      found[mutation.id] = try connection.first(
        "SELECT outcome, code FROM skerry_receipts WHERE user = ? AND mid = ?", .text(user.text),
        .blob(mutation.id.raw.bytes)
      ) { row in
        ModelServer.Judged(
          outcome: Outcome(rawValue: row.text(0)) ?? .void, code: row.isNull(1) ? nil : RefusalCode(row.text(1)))
      }
    }
    var rows: [RowKey: Row] = [:]
    for key in Set(request.mutations.flatMap(\.operations).map(\.key)) where rows[key] == nil {
      rows[key] = try reader.row(key, connection)
    }
    try model.pushed(request, by: user, found: found, now: rows, isHostile: isHostile)
  }

  private func seeRun(_ connection: SQLiteConnection) throws {
    let run = try connection.first(
      "SELECT nonce FROM skerry_runs WHERE last = (SELECT head FROM skerry_history) LIMIT 1"
    ) { $0.text(0) }
    if let nonce = run, nonce != model.lastRun { model.sequenced(nonce) }
  }

  /// Every row of the server's file against the model's.
  func compareServer() {
    check {
      guard let connection = try serverObserver() else { return }
      let rows = try reader.rows(connection)
      for (key, row) in rows {
        let expected = model.rows[key]
        try need(
          expected?.says(row.values, row.tag, row.incarnation) == true, "I-3 the server holds what nobody wrote",
          "\(key): \(row), expected \(Version.text(expected))")
      }
      for key in model.rows.keys where rows[key] == nil { throw Broken("I-3 the server has lost a row", "\(key)") }
      let count = try connection.first("SELECT count(*) FROM skerry_receipts") { Int($0.integer(0)) } ?? 0
      try need(
        count == model.receipts.count, "I-3 the server has lost a verdict", "\(count) of \(model.receipts.count)")
    }
  }
}
