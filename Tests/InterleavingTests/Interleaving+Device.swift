// SPDX-License-Identifier: Apache-2.0

import SkerryAmbientKit
import SkerryModel
import SkerryServerCore
import SkerryStore
import SkerryTesting
import SkerryWire

/// What a device does when it is its turn: write, push, pull, or take in a page that was on its way.
extension Interleaving {
  func act(_ device: Device) throws {
    if device.inFlight != nil, random.chance(0.5) { return try deliver(device) }
    let dice = device.writes ? Int.random(in: 0..<10, using: &random) : 9
    switch dice {
    case 0...3 where device.watcher.isFresh && device.pending.count < 3:
      try write(device)
      if random.chance(0.6) { try push(device) }
    case 4...5 where !device.pending.isEmpty: try push(device)
    default:
      guard device.inFlight == nil else { return }
      try pull(device, limit: random.pick([1, 2, 3, 5, 8, 13, 21, 30, 40, 40]) ?? 40)
      if random.chance(0.7) { try deliver(device) }
    }
  }

  func pull(_ device: Device, limit: Int) throws {
    let store = device.store
    let request = PullRequest(
      schema: stamp, replicas: store.replicaIDs, cursor: store.cursor, settled: try store.settledMark(), limit: limit)
    let answer = try server.pull(request, as: Place.users[device.user])
    count.pulls += 1
    if holder == nil { noteRun(answer.cursor.head) } else { count.besideWriter += 1 }
    device.inFlight = Pull(answer: answer, asked: request.cursor, when: store.clock, commits: log.commits)
  }

  func deliver(_ device: Device) throws {
    guard let pull = device.inFlight else { return }
    if random.chance(0.95) { device.inFlight = nil }  // else it comes twice, and must not fit the second time
    switch pull.answer {
    case .reset(let reset): _ = try device.store.apply(reset, asked: pull.asked)
    case .page(let page):
      let page = spoiled(page)
      let effect = try device.store.apply(page, asked: pull.asked, when: pull.when)
      guard effect.isApplied else { return }
      for id in effect.settled { device.pending[id] = nil }
      device.watcher.received(page, log, head: commits(at: page.cursor.head))
      count.cut += effect.isConsistent ? 0 : 1
      countItems(page)
      let reach = Watcher.Reach(
        read: pull.commits, head: commits(at: page.cursor.head), whole: commits(at: page.cursor.position),
        runs: runCommits)
      try device.watcher.applied(effect, device.store, log, reach, pending: device.touched)
    }
  }

  /// The commits before the newest run whose positions are all at or below this one.
  private func commits(at position: Int64) -> Int { runs.lastIndex { $0 <= position }.map { runCommits[$0] } ?? 0 }

  private func spoiled(_ page: Page) -> Page {
    var page = page
    switch sabotage {
    case .none, .publishedAtOnce: break
    case .leavesLost: page.items.removeAll { if case .left = $0 { true } else { false } }
    case .changesLost:
      if let last = page.items.lastIndex(where: { if case .put = $0 { true } else { false } }) {
        page.items.remove(at: last)
      }
    case .readFreely:
      page.items = page.items.map { item in
        guard case .put(let space, var image) = item, let row = image.key.values.first?.integer,
          let token = log.rows[Int(row)]?.token
        else { return item }
        image.values[1] = .integer(Int64(token))
        return .put(space, image)
      }
    case .lossesLost: page.items.removeAll { if case .lose = $0 { true } else { false } }
    }
    return page
  }

  private func countItems(_ page: Page) {
    for item in page.items {
      switch item {
      case .gain: count.gains += 1
      case .lose: count.losses += 1
      case .left: count.leaves += 1
      default: break
      }
    }
  }
}

extension Interleaving {
  /// One operation of a device, for the commit log.
  enum Deed {
    case insert(Int, Content)
    case set(Int, token: Int, home: SpaceBits?)
    case delete(Int)

    var row: Int {
      switch self {
      case .insert(let row, _), .set(let row, _, _), .delete(let row): row
      }
    }
  }

  /// A user changes two or three rows in one action.
  private func write(_ device: Device) throws {
    tokens += 1
    let token = tokens
    var deeds: [Deed] = []
    let homes = SpaceBits.single.filter { log.sight(device.user, at: log.commits).contains($0) || random.chance(0.1) }
    let shown = device.watcher.shown
    let (seen, gone) = (shown.indices.filter { shown[$0] != nil }, Place.items.filter { shown[$0] == nil })
    for _ in 0..<Int.random(in: 2...3, using: &random) {
      let isNew = random.chance(0.1)
      guard let row = random.pick(isNew ? gone : seen), !deeds.contains(where: { $0.row == row }) else { continue }
      if isNew {
        deeds.append(.insert(row, Content(token: token, home: random.pick(homes) ?? .ana)))
      } else if random.chance(0.1) {
        deeds.append(.delete(row))
      } else {
        let moves = Place.items.contains(row) && random.chance(0.2)
        deeds.append(.set(row, token: token, home: moves ? random.pick(homes) : nil))
      }
    }
    do {
      let id = try device.store.write { transaction in
        for deed in deeds { try Interleaving.carryOut(deed, &transaction) }
      }
      guard let id else { return }
      device.pending[id] = deeds.map(\.row)
    } catch is StoreError {}  // an own write that waits has changed what is shown: nothing happens
  }

  private static func carryOut(_ deed: Deed, _ transaction: inout WriteTransaction) throws {
    switch deed {
    case .insert(let row, let content):
      try transaction.insert(
        "item",
        [
          "id": .integer(Int64(row)), "token": .integer(Int64(content.token)),
          "home": content.home.name.map { .text($0) } ?? .null,
        ])
    case .set(let row, let token, let home):
      var values: [String: Value] = ["token": .integer(Int64(token))]
      if let name = home?.name { values["home"] = .text(name) }
      try transaction.update(Place.key(row), values)
    case .delete(let row): try transaction.delete(Place.key(row))
    }
  }

  func push(_ device: Device) throws {
    let store = device.store
    let mutations = try store.offer(try store.ready(limit: 4))
    if mutations.isEmpty { return }
    let request = PushRequest(
      schema: stamp, replica: store.replicaIDs.last ?? "", cursor: store.cursor, settled: try store.settledMark(),
      mutations: mutations)
    let verdicts = try server.push(request, as: Place.users[device.user]).verdicts
    for case .settled(let id, let outcome) in verdicts where judged.insert(id).inserted {
      guard outcome == .confirmed, let mutation = mutations.first(where: { $0.id == id }) else {
        count.refused += 1
        continue
      }
      count.confirmed += 1
      commit(mutation)
    }
    if random.chance(0.85) { try store.take(verdicts) }  // else the answer is lost
  }

  /// Notes what a confirmed mutation has done: only the fields that it names have changed.
  private func commit(_ mutation: Mutation) {
    var token = 0
    var changes: [(row: Int, content: Content?)] = []
    for operation in mutation.operations {
      let row = Int(operation.key.values.first?.integer ?? 0)
      var content = operation.isInsert ? Content(token: 0) : operation.isDelete ? nil : log.rows[row]
      for field in operation.fields {
        if field.column == "home" { content?.home = SpaceBits(name: field.value.text) }
        if field.column == "token", let number = field.value.integer {
          token = Int(number)
          content?.token = token
        }
      }
      changes.append((row, content))
    }
    if token == 0 {  // nothing but deletions
      tokens += 1
      token = tokens
    }
    log.commit(token, changes)
  }
}

extension PullAnswer {
  var cursor: Cursor {
    switch self {
    case .page(let page): page.cursor
    case .reset(let reset): reset.cursor
    }
  }
}
