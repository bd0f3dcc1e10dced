// SPDX-License-Identifier: Apache-2.0

import Skerry
import SkerryDiskKit
import SkerryModel
import SkerrySQLiteKit
import SkerryServerCore

/// The end of a run: faults stop, nobody writes any more, and everything must come to agree by itself.
extension SimulatedWorld {
  /// How long everything may take to drain: twice the longest wait that anything can be in, and the time of some rounds.
  var bound: Int64 {
    let policy = plan.profile.policy
    let longest = max(policy.retry.retryAfterCap + policy.retry.cap, policy.refusal, policy.interval)
    return 2 * longest + 10 * plan.profile.timeOut + 600_000
  }

  func heal() {
    journal.say(now, "oracle", nil, "faults and writes stop")
    isStormy = false
    check { try foreign.end(isCommit: false) }
    for device in devices {
      device.partition = nil
      device.isAway = false
      device.talk.acted(isWish: true)
      device.frozenUntil = .min
      disk.setFreeBytes(nil, on: device.name)
      disk.clearPlan(for: device.label)
    }
    for node in servers { disk.clearPlan(for: node.label) }
    let start = now
    let end = now + bound
    // Processes that are down come back, and what was set aside is offered again by its user.
    scheduler.run(until: now + 30_000)
    // A device that is newer than its server waits for it.
    while serverVersion < devices.map(\.version).max() ?? 0 { updateServers() }
    for node in servers { restart(node) }
    for device in devices {
      restart(device)
      renewFile(device)
      retry(device)
    }
    // Somebody with a new device: what everybody else learned bit by bit comes to it at once.
    let user = author.users[Int(plan.seed % UInt64(author.users.count))]
    check { try addDevice(user: user) }
    while now < end, broken == nil {
      scheduler.run(until: min(end, now + bound / 40 + 1_000))
      if isQuiet { break }
    }
    figures.drained = now - start
    figures.stuck = devices.count { $0.oracle.last?.outbox.isEmpty != true }
    check { try checkEnd(start) }
  }

  /// A device whose file the system had locked gets a process that can read it.
  private func renewFile(_ device: DeviceNode) {
    guard plan.profile.faults.contains(.deviceLocked), device.isUp else { return }
    kill(device)
    restart(device)
  }

  private var isQuiet: Bool {
    guard let connection = try? serverObserver(),
      let head = try? connection.first("SELECT head FROM skerry_history", row: { $0.integer(0) }),
      (try? connection.first("SELECT count(*) FROM skerry_captures") { $0.integer(0) }) == 0
    else { return false }
    return devices.allSatisfy { device in
      guard let reading = device.oracle.last, let cursor = reading.cursor,
        device.replica?.assumeIsolated({ $0.condition() }) == .idle
      else { return false }
      return reading.outbox.isEmpty && cursor.position == head && cursor.isWhole && reading.heldItems == 0
    }
  }

  private func checkEnd(_ start: Int64) throws {
    compareServer()
    guard let connection = try serverObserver() else { throw Broken("I-13 no server is up", "") }
    let head = try connection.first("SELECT head FROM skerry_history") { $0.integer(0) } ?? 0
    try checkServerDigests(connection)
    for device in devices {
      look(device, always: true)
      guard let reading = device.oracle.last, let replica = device.replica else {
        throw Broken("I-13 a device is not up", device.name)
      }
      if !plan.looksAtPointsOnly { try device.news.check(device.name) }
      try checkDrained(device, reading, head, replica, start)
      try checkEquality(device, reading, replica)
      try checkBytes(device)
    }
  }

  private func checkDrained(
    _ device: DeviceNode, _ reading: DeviceReading, _ head: Int64, _ replica: Replica, _ start: Int64
  ) throws {
    let condition = replica.assumeIsolated { $0.condition() }
    try need(
      reading.outbox.isEmpty, "I-13 an outbox does not drain",
      "\(device.name) \(reading.outbox.map { "\($0.id) void \($0.isVoid) failed \($0.isFailed)" }), condition \(condition)"
    )
    try need(
      reading.cursor?.position == head && reading.cursor?.isWhole == true,
      "I-13 a replica does not reach the head",
      "\(device.name) \(String(describing: reading.cursor)), head \(head), condition \(condition)")
    try need(
      condition == .idle || condition == .working, "INV 9 all is well, and the condition says otherwise",
      "\(device.name) \(condition)")
    try need(reading.syncedAt != nil, "INV 9 all is well, and never synced", device.name)
    try need(
      reading.apart == 0 && reading.subjects == 0, "I-5 something of an outbox stays behind it",
      "\(device.name) \(reading.apart) bases apart, \(reading.subjects) subjects")
    let safe = model.lostTails == 0 ? model.safe : 0
    try need(
      reading.archive.allSatisfy { $0.position > safe }, "I-3 an archive keeps what is safe",
      "\(device.name) \(reading.archive.map(\.position)), safe \(safe)")
  }

  private func checkEquality(_ device: DeviceNode, _ reading: DeviceReading, _ replica: Replica) throws {
    var expected: [RowKey: Version] = [:]
    let mine = model.rules.spaces(of: device.user, in: model.rows)
    var digests: [SpaceID: SpaceDigest] = [:]
    for (key, version) in model.rows {
      let spaces = model.rules.spaces(key, { self.model.rows[$0]?.values }).intersection(mine)
      if spaces.isEmpty || !reading.lens.knows(key.table) { continue }
      expected[key] = version
      guard let hash = rowHash(version, by: reading.lens) else { continue }
      for space in spaces { digests[space, default: SpaceDigest()].add(hash) }
    }
    for (key, row) in reading.screen {
      try need(
        expected[key].map { reading.lens.shows($0, row) } == true, "I-1 diverged",
        "\(device.name) \(key): \(row), expected \(Version.text(expected[key]))")
    }
    for key in expected.keys where reading.screen[key] == nil {
      throw Broken("I-1 diverged", "\(device.name) lacks \(key)")
    }
    let found = try replica.assumeIsolated { try $0.digests() }.filter { $0.value.rows > 0 }
    try need(found == digests, "I-12 a device's digests are not its rows'", "\(device.name) \(found) \(digests)")
  }

  private func rowHash(_ version: Version, by lens: Lens) -> RowHash? {
    lens.catalog.table(version.key.table).map { table in
      let values = lens.own(table.name, version.values)
      return RowHash(
        of: RowImage(key: version.key, version: version.tag, incarnation: version.incarnation, values: values),
        in: table)
    }
  }

  private func checkServerDigests(_ connection: SQLiteConnection) throws {
    var digests: [SpaceID: SpaceDigest] = [:]
    for (key, version) in model.rows {
      guard let hash = rowHash(version, by: serverLens) else { continue }
      for space in model.rules.spaces(key, { self.model.rows[$0]?.values }) {
        digests[space, default: SpaceDigest()].add(hash)
      }
    }
    guard let server = servers.first(where: \.isUp)?.server else { return }
    let names = try connection.query("SELECT name FROM skerry_spaces") { SpaceID($0.text(0)) }
    for space in Set(names).union(digests.keys) where !space.holdsReceipts {
      let found = try server.digest(of: space)
      try need(found == digests[space] ?? SpaceDigest(), "I-12 the server's digest is not its rows'", "\(space)")
    }
  }

  /// No byte of others' values in spaces that the user has lost.
  private func checkBytes(_ device: DeviceNode) throws {
    let mine = model.rules.spaces(of: device.user, in: model.rows)
    for file in disk.files(on: device.name) where !file.hasSuffix("-shm") {
      for mark in ValueMaker.marks(in: disk.bytes(of: file, on: device.name) ?? []) {
        guard let (writer, key) = marks[mark], writer != device.user, let row = model.rows[key] else { continue }
        let isLive = row.values.contains { value in
          switch value {
          case .text(let text): text.contains(mark)
          case .blob(let bytes): String(decoding: bytes, as: UTF8.self).contains(mark)
          default: false
          }
        }
        let spaces = model.rules.spaces(key, { self.model.rows[$0]?.values })
        try need(
          !isLive || !spaces.isDisjoint(with: mine), "INV 6 bytes of a foreign row stay on the disk",
          "\(device.name) \(file) \(key) \(mark)")
      }
    }
  }

  /// Ends everything that still waits.
  func tearDown() {
    isOver = true
    scheduler.afterStep = { true }
    for device in devices where device.isUp { kill(device) }
    for node in servers { node.stop() }
    foreign.stop()
    scheduler.run(until: now + 2 * 3_600_000)
    closeServerObserver()
    for device in devices { device.closeObserver() }
  }
}
