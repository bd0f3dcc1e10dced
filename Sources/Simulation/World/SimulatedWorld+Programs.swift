// SPDX-License-Identifier: Apache-2.0

import SkerryAmbientKit
import SkerryDiskKit
import SkerryModel
import SkerryServerCore

/// What programs beside the server do.
extension SimulatedWorld {
  func foreignStep(_ random: inout SeededGenerator) {
    let user = author.users[Int(random.next() % UInt64(author.users.count))]
    let deeds = author.deeds(1 + Int(random.next() % 3), seeing: foreign.rows, as: user, &random)
    let rollsBack = random.chance(0.1) && isStormy && plan.profile.faults.contains(.foreignRollback)
    let staysOpen = random.chance(0.25) && isStormy && plan.profile.faults.contains(.foreignLock)
    check {
      if foreign.isOpen {
        try foreign.add(deeds)
      } else if staysOpen {
        faults.note(.foreignLock)
        journal.say(now, "programs", .write, "opens a transaction and leaves it open")
        try foreign.begin(deeds)
      } else if rollsBack {
        faults.note(.foreignRollback)
        try foreign.begin(deeds)
        try foreign.end(isCommit: false)
      } else {
        try foreign.write(deeds)
      }
    }
    lookAtServer()
  }

  func access(_ random: inout SeededGenerator) {
    guard !foreign.isOpen,
      let deed = author.accessChange(serverLens.schema, seeing: model.rows.mapValues { Row($0) }, &random)
    else { return }
    journal.say(now, "programs", .access, "\(deed)")
    check { try foreign.write([deed]) }
    lookAtServer()
  }

  func sequence(_ random: inout SeededGenerator) {
    let up = servers.filter(\.isUp)
    guard !up.isEmpty else { return }
    let node = up[Int(random.next() % UInt64(up.count))]
    _ = try? node.server?.sequence()
    if disk.isDead(node.label) { serverDied(node) }
    lookAtServer()
  }
}
