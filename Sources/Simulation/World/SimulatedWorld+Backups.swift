// SPDX-License-Identifier: Apache-2.0

import SkerryDiskKit
import SkerryModel
import SkerrySQLiteKit
import SkerryServerCore

/// What a backup of the server holds, by the model's account; the files are on the machine `backup`.
struct ServerBackup {
  let image: ModelServer.Image
  let head: Int64
}

/// What an image of a device holds; the files are on a machine of their own.
struct DeviceBackup {
  let oracle: DeviceOracle.Image
}

extension SimulatedWorld {
  // MARK: The server's file

  func backUp() {
    guard !foreign.isOpen else { return }
    lookAtServer()
    check {
      guard let connection = try serverObserver() else { return }
      disk.copy(from: "server", "server.db", to: "backup", "server.db")
      let head = try connection.first("SELECT head FROM skerry_history") { $0.integer(0) } ?? 0
      backup = ServerBackup(image: model.image, head: head)
      journal.say(now, "server 0", .server, "backup at \(head)")
    }
  }

  /// Devices may forget what they kept in case that the last backup is all that is left.
  func markSafe() {
    guard let node = servers.first(where: \.isUp), let backup else { return }
    do {
      try node.server?.markSafe(upTo: backup.head)
      model.markSafe(backup.image, upTo: backup.head)
    } catch {}  // busy: another time
  }

  /// The backup takes the server's place.
  func restore(announcedAs epoch: String?) {
    guard let backup else { return }
    for node in servers {
      disk.kill(process: node.label)
      node.stop()
    }
    foreign.stop()
    closeServerObserver()
    disk.copy(from: "backup", "server.db", to: "server", "server.db")
    model.goBack(to: backup.image)
    journal.say(
      now, "server 0", .server, "falls back to its backup at \(backup.head)\(epoch.map { ", epoch \($0)" } ?? "")")
    for node in servers { restart(node) }
    if let epoch {
      check { try servers.first(where: \.isUp)?.server?.beginEpoch(epoch) }
    }
  }

  // MARK: Devices' files

  func image(_ device: DeviceNode) {
    disk.copy(from: device.name, "store.db", to: "image \(device.number)", "store.db")
    images[device.number] = DeviceBackup(oracle: device.oracle.image)
    journal.say(now, device.name, nil, "is imaged")
  }

  /// The device's file is an older one from now on.
  func setBack(_ device: DeviceNode) {
    guard let image = images[device.number] else { return }
    kill(device)
    disk.cutPower(of: device.name)  // whoever still looks at the old file has lost it
    device.closeObserver()
    disk.copy(from: "image \(device.number)", "store.db", to: device.name, "store.db")
    device.oracle.become(image.oracle)
    // The app has stayed as it is, and brings the older file along.
    journal.say(now, device.name, .fault, "is set back to its image")
    restart(device)
  }

  /// Another device gets a copy of this one's file.
  func clone(_ device: DeviceNode) {
    let name = "device \(devices.count)"
    disk.copy(from: device.name, "store.db", to: name, "store.db")
    journal.say(now, device.name, .fault, "is cloned as \(name)")
    let image = device.oracle.image
    device.oracle.isCopied()
    check {
      try addDevice(user: device.user, skew: device.ambient.skew) { clone in
        clone.version = device.version
        clone.oracle.become(image)
        clone.highestClock = device.latestClock
      }
    }
  }

  /// The app is removed and installed again: whatever was unsent is gone, by its user's doing.
  func reinstall(_ device: DeviceNode) {
    kill(device)
    disk.cutPower(of: device.name)
    device.closeObserver()
    for file in disk.files(on: device.name) { disk.setBytes(nil, of: file, on: device.name) }
    device.renew(DeviceOracle(name: device.name, user: device.user, model: model))
    journal.say(now, device.name, .fault, "is installed anew")
    restart(device)
  }
}
