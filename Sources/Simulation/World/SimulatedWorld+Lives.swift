// SPDX-License-Identifier: Apache-2.0

import SkerryAmbientKit
import SkerryDiskKit
import SkerryModel
import SkerrySQLiteKit

extension SeededGenerator {
  mutating func milliseconds(below bound: UInt64) -> Int64 { Int64(next() % bound) }
}

/// Processes that end and begin again.
extension SimulatedWorld {
  // MARK: Devices

  /// The app's process ends at once.
  func kill(_ device: DeviceNode) {
    journal.say(now, device.name, .crash, "dies")
    disk.kill(process: device.label)
    device.stop()
  }

  /// The device loses its power: what was not synced may be gone, or torn.
  func cutPower(of device: DeviceNode) {
    journal.say(now, device.name, .crash, "loses power")
    disk.cutPower(of: device.name)
    device.closeObserver()
    device.stop()
  }

  func scheduleRestart(_ device: DeviceNode) {
    let pause = choices.milliseconds(below: 20_000)
    scheduler.after(pause) { [unowned self] in restart(device) }
  }

  /// Starts a device's process, now or, if its file cannot be opened yet, a little later.
  func restart(_ device: DeviceNode) {
    guard !device.isUp, broken == nil, !isOver else { return }
    do {
      try device.start(in: self)
      journal.say(now, device.name, .start, "starts")
      check { try checkIntegrity(device.observe(disk), device.name) }
      device.isChangeLocal = true
      look(device, always: true)
    } catch {
      journal.say(now, device.name, .crash, "cannot open its file: \(error)")
      check { try need(isExcused(device.label), "F-D04 a file cannot be opened", "\(device.name): \(error)") }
      disk.kill(process: device.label)
      device.closeObserver()
      device.stop()
      scheduleRestart(device)
    }
  }

  private func checkIntegrity(_ connection: SQLiteConnection, _ name: String) throws {
    let found = try connection.query("PRAGMA integrity_check") { $0.text(0) }
    try need(found == ["ok"], "I-19 a file is damaged", "\(name): \(found.prefix(3))")
  }

  /// The app is updated to the next version of the schema, whether or not the servers have it.
  func updateApp(_ device: DeviceNode) {
    guard device.version + 1 < lenses.count, device.isUp else { return }
    look(device, always: true)
    kill(device)
    device.version += 1
    figures.updates += 1
    journal.say(now, device.name, .start, "is updated to version \(lenses[device.version].version)")
    restart(device)
  }

  // MARK: Servers

  /// The servers are updated to the next version of the schema: they go down together, and come back with it.
  func updateServers() {
    guard serverVersion + 1 < lenses.count, !foreign.isOpen else { return }
    serverVersion += 1
    figures.updates += 1
    journal.say(now, "server 0", .start, "all are updated to version \(serverLens.version)")
    for node in servers where node.isUp {
      disk.kill(process: node.label)
      node.stop()
    }
    for node in servers { restart(node) }
  }

  /// A server's process has died over a request: by itself, or with its machine.
  func serverDied(_ node: ServerNode) {
    node.stop()
    if servers.contains(where: { disk.isDead($0.label) && $0.isUp }) { machineDied() }
    scheduleRestart(node)
  }

  func kill(_ node: ServerNode) {
    journal.say(now, node.name, .crash, "dies")
    disk.kill(process: node.label)
    node.stop()
    scheduleRestart(node)
  }

  func cutServerPower() {
    journal.say(now, "server 0", .crash, "the server's machine loses power")
    disk.cutPower(of: "server")
    machineDied()
  }

  private func machineDied() {
    foreign.stop()
    closeServerObserver()
    for node in servers {
      node.stop()
      scheduleRestart(node)
    }
  }

  /// - Parameter hasFailed: whether it has just tried: another program may have the file locked for long.
  func scheduleRestart(_ node: ServerNode, hasFailed: Bool = false) {
    let pause = choices.milliseconds(below: !hasFailed ? 10_000 : plan.profile.pace == .daily ? 1_800_000 : 120_000)
    scheduler.after(pause) { [unowned self] in restart(node) }
  }

  func restart(_ node: ServerNode) {
    guard !node.isUp, broken == nil, !isOver else { return }
    do {
      try node.start(on: disk, lenses.prefix(serverVersion + 1))
      journal.say(now, node.name, .start, "starts")
    } catch {
      journal.say(now, node.name, .crash, "cannot open its file: \(error)")
      check {
        let isBusy = "\(error)".contains("busy")
        try need(
          isBusy || isExcused(node.label), "F-D04 the server cannot open its file", "\(error)")
      }
      disk.kill(process: node.label)
      node.stop()
      return scheduleRestart(node, hasFailed: true)
    }
    check { if let connection = try serverObserver() { try checkIntegrity(connection, "server") } }
    lookAtServer()
    compareServer()
  }
}
