// SPDX-License-Identifier: Apache-2.0

import Skerry
import SkerryAmbientKit
import SkerryDiskKit
import SkerryMachine
import SkerryModel
import SkerryServerCore
import SkerryWire

/// What goes wrong in one step.
extension SimulatedWorld {
  func inject(_ kind: FaultKind, _ device: DeviceNode, _ random: inout SeededGenerator) {
    let number = random.next()
    switch kind {
    case .partitionInward, .partitionOutward, .partitionBoth, .flapping: partition(device, kind, number)
    case .deviceKilled, .deviceKilledAtCall, .devicePaused, .deviceRunsCut, .devicePowerLoss, .deviceDiskError,
      .deviceDiskFull, .deviceLocked, .deviceClockJump:
      injectAtDevice(kind, device, number)
    case .serverKilled, .serverKilledAtCall, .serverPowerLoss, .serverDiskError: injectAtServer(kind, number)
    case .retention, .restoreAnnounced, .tailLost: changeHistory(kind, number)
    case .cloned:
      guard devices.count < 8, device.isUp else { return }
      note(kind, device)
      clone(device)
    case .setBack:
      if images[device.number] == nil || number % 3 == 0 { return image(device) }
      note(kind, device)
      setBack(device)
    case .reinstalled:
      guard number % 4 == 0 else { return }
      note(kind, device)
      reinstall(device)
    case .attack: attack(&random)
    default: break  // those of messages, and those that are drawn with other steps
    }
  }

  private func note(_ kind: FaultKind, _ device: DeviceNode) {
    faults.note(kind)
    journal.say(now, device.name, .fault, kind.rawValue)
  }

  private func partition(_ device: DeviceNode, _ kind: FaultKind, _ number: UInt64) {
    guard device.partition == nil else { return }
    note(kind, device)
    device.partition = kind
    let longest: UInt64 = plan.looksAtPointsOnly ? 10_000 : plan.profile.pace == .daily ? 7_200_000 : 60_000
    let length = Int64(number % longest)
    scheduler.after(length) { device.partition = nil }
  }

  // MARK: Devices

  private func injectAtDevice(_ kind: FaultKind, _ device: DeviceNode, _ number: UInt64) {
    guard device.isUp else { return }
    note(kind, device)
    switch kind {
    case .deviceKilled:
      kill(device)
      scheduleRestart(device)
    case .devicePowerLoss:
      if number % 2 == 0 {
        disk.plan(.powerLoss, for: device.label, atCall: 1 + Int(number >> 8 % 60))
      } else {
        cutPower(of: device)
        scheduleRestart(device)
      }
    case .deviceKilledAtCall: disk.plan(.death, for: device.label, atCall: 1 + Int(number >> 8 % 80))
    case .devicePaused: device.frozenUntil = now + Int64(number % 900_000)
    case .deviceRunsCut: cutRun(device, number)
    case .deviceDiskError:
      let code = DiskCodes.some[Int(number >> 16) % DiskCodes.some.count]
      disk.plan(.error(code, isLasting: false), for: device.label, atCall: 1 + Int(number >> 8 % 60))
    case .deviceLocked:
      disk.plan(.error(DiskCodes.locked, isLasting: true), for: device.label, atCall: 1)
    case .deviceDiskFull:
      disk.setFreeBytes(Int(number % 20_000), on: device.name)
      scheduler.after(Int64(number % 120_000)) { [disk] in disk.setFreeBytes(nil, on: device.name) }
    case .deviceClockJump:
      let jumps: [Int64] = [-3_600_000, 3_600_000, -86_400_000, 86_400_000, 31_536_000_000, -500]
      device.talk.acted(isClock: true)
      device.ambient.skew += jumps[Int(number % UInt64(jumps.count))]
    default: break
    }
  }

  /// The system gives some time in the background and takes it away, then the app is in front again.
  private func cutRun(_ device: DeviceNode, _ number: UInt64) {
    guard let engine = device.engine, !device.isCut else { return }
    device.isCut = true
    device.talk.acted(isWish: true)
    device.task?.cancel()
    let life = device.life
    let limit = Int64(number % 20_000)
    scheduler.spawn { [unowned self] in
      await device.task?.value
      let points = device.oracle.consistentPoints
      let report = try? await engine.syncOnce(within: .milliseconds(limit))
      if device.life == life, report?.isConsistent == true {
        check {
          try need(
            device.oracle.consistentPoints > points, "INV 9 reports a consistent point that it did not reach",
            device.name)
        }
      }
      device.talk.acted(isWish: true)
      device.isCut = false
      if device.life == life, device.isUp { device.run(in: self) }
    }
  }

  // MARK: Servers

  private func injectAtServer(_ kind: FaultKind, _ number: UInt64) {
    let up = servers.filter(\.isUp)
    guard !up.isEmpty else { return }
    let node = up[Int(number % UInt64(up.count))]
    faults.note(kind)
    journal.say(now, node.name, .fault, kind.rawValue)
    let call = 1 + Int(number >> 8 % 120)
    switch kind {
    case .serverKilled: kill(node)
    case .serverKilledAtCall: disk.plan(.death, for: node.label, atCall: call)
    case .serverPowerLoss:
      if number >> 4 % 2 == 0 { disk.plan(.powerLoss, for: node.label, atCall: call) } else { cutServerPower() }
    case .serverDiskError:
      let code = DiskCodes.some[Int(number >> 16) % DiskCodes.some.count]
      disk.plan(.error(code, isLasting: false), for: node.label, atCall: call)
    default: break
    }
  }

  private func changeHistory(_ kind: FaultKind, _ number: UInt64) {
    guard let node = servers.first(where: \.isUp), !foreign.isOpen else { return }
    if kind == .retention {
      do {
        guard let history = try node.server?.history(), history.head > history.floor else { return }
        let position = history.floor + 1 + Int64(number % UInt64(history.head - history.floor))
        try node.server?.expire(upTo: position)
        faults.note(kind)
        journal.say(now, node.name, .server, "keeps no tombstones up to \(position)")
      } catch {}  // the disk failed; another time
      if disk.isDead(node.label) { serverDied(node) }
      return lookAtServer()
    }
    // A backup first, sometimes: one from long ago is passed by few new commits.
    if number % 3 == 0 { return backUp() }
    guard number % 3 == 1 else { return }
    faults.note(kind)
    // Some hear of it only after the new history has gone beyond the end of the old one.
    for device in devices where number >> UInt64(8 + device.number) % 4 == 0 && !device.isAway {
      device.isAway = true
      returns.append((device, after: performed + 20 + Int(number >> 20 % 60)))
    }
    restore(announcedAs: kind == .restoreAnnounced ? "epoch-\(number % 1_000_000)" : nil)
  }

  // MARK: Hostile clients

  /// A person with a client of their own: any row, any cursor.
  private func attack(_ random: inout SeededGenerator) {
    let up = servers.filter(\.isUp)
    guard !up.isEmpty else { return }
    let node = up[Int(random.next() % UInt64(up.count))]
    let user = author.users[Int(random.next() % UInt64(author.users.count))]
    // Under a name of its own, or in the name of somebody's device.
    let stolen = devices[Int(random.next() % UInt64(devices.count))].oracle.last?.replicas.last
    let isKnown = stolen.map { model.owners[$0] != nil } ?? false
    let replica = isKnown && random.chance(0.3) ? stolen ?? "" : ReplicaID("evil-\(user)")
    faults.note(.attack)
    let stamp = SchemaStamp(serverLens.schema)
    let request: TransportRequest
    if random.chance(0.7) {
      let mutation = hostileMutation(user, &random)
      let push = PushRequest(schema: stamp, replica: replica, cursor: nil, settled: 0, mutations: [mutation])
      request = TransportRequest(path: "/v1/push", contentType: "application/json", body: codec.encode(push))
    } else {
      let other = devices[Int(random.next() % UInt64(devices.count))]
      guard var cursor = other.oracle.last?.cursor else { return }
      cursor.owner = [replica]
      let spaces = Set(model.rows.keys.flatMap { key in model.rules.spaces(key, { self.model.rows[$0]?.values }) })
      cursor.open = spaces.sorted().map { OpenSpace(space: $0, target: 1_000_000) }
      let pull = PullRequest(schema: stamp, replicas: [replica], cursor: cursor, settled: 0, limit: 1_000)
      request = TransportRequest(path: "/v1/pull", contentType: "application/json", body: codec.encode(pull))
    }
    _ = serve(request, at: node, as: user, by: "a hostile client of \(user)", isHostile: true)
  }

  private func hostileMutation(_ user: AccountID, _ random: inout SeededGenerator) -> Mutation {
    hostileNumber += 1
    let rows = model.rows.mapValues { Row($0) }
    let deeds = author.deeds(1 + Int(random.next() % 2), seeing: rows, as: user, &random)
    let operations = deeds.map { deed -> Operation in
      let incarnation = rows[deed.key]?.incarnation
      switch deed {
      case .insert(let key, let values):
        let keys = Set(model.rules.tables[key.table]?.definition.key ?? [])
        let fields = values.filter { !keys.contains($0.key) }.sorted { $0.key < $1.key }.map { Field($0.key, $0.value) }
        return Operation(key, nil, .insert(fields))
      case .update(let key, let values):
        let isChecked = model.rules.tables[key.table]?.definition.detection == .version
        let fields = values.sorted { $0.key < $1.key }.map { Field($0.key, $0.value) }
        return Operation(key, incarnation, .set(fields, base: isChecked ? rows[key]?.tag : nil))
      case .increment(let key, let column, let amount):
        return Operation(key, incarnation, .increment(column, by: amount))
      case .delete(let key): return Operation(key, incarnation, .delete)
      }
    }
    // An id of its own, or one that somebody has used.
    let used = random.chance(0.2) ? model.receipts.keys.map(\.mutation).sorted() : []
    let pick = random.next()
    let id =
      used.isEmpty
      ? NodeAmbient(scheduler, seed: pick).makeMutationID() : used[Int(pick % UInt64(used.count))]
    // Now and then it claims to wait for what nobody has ever sent.
    let after = random.chance(0.2) ? [NodeAmbient(scheduler, seed: pick &+ 1).makeMutationID()] : []
    return Mutation(id: id, number: hostileNumber, after: after, operations: operations)
  }
}

/// Extended result codes of SQLite (https://www.sqlite.org/rescode.html) that a disk may give.
enum DiskCodes {
  private static let ioError: Int32 = 10
  /// READ, SHORT_READ apart: WRITE, FSYNC, TRUNCATE, FSTAT, full, cannot open.
  static let some: [Int32] = [
    ioError | 1 << 8, ioError | 3 << 8, ioError | 4 << 8, ioError | 6 << 8, ioError | 7 << 8, 13, 14,
  ]
  /// A file that the system keeps closed while the device is locked.
  static let locked: Int32 = ioError | 1 << 8
}
