// SPDX-License-Identifier: Apache-2.0
import SkerryModel
import SkerrySQLiteKit
import SkerryStore
import SkerryTesting

/// Holds server, devices and the user's own account against each other.
struct WorldAudit {
  private let world: MortalWorld
  private let server: ServerContent
  private let faults = Faults()

  /// What is wrong with any file, or between them, at any moment; empty if nothing is.
  static func faults(_ world: MortalWorld) throws -> [String] {
    let connection = try world.observer(MortalWorld.serverFile)
    let audit = WorldAudit(world: world, server: try ServerContent(connection, world.catalog))
    audit.faults.add(try ServerAudit.faults(connection, world.catalog), of: "server")
    for name in world.names {
      let found = try world.store(name).withConnection { try StoreAudit.faults($0, world.catalog, world.ledger) }
      audit.faults.add(found, of: name)
    }
    audit.checkEffects()
    try audit.checkWrites()
    return audit.faults.list
  }

  /// The same, and what must be true when all have come to rest.
  static func faultsAtRest(_ world: MortalWorld) throws -> [String] {
    let audit = WorldAudit(
      world: world, server: try ServerContent(world.observer(MortalWorld.serverFile), world.catalog))
    audit.faults.add(try faults(world))
    for name in world.names { try audit.checkConverged(name) }
    audit.checkLedger()
    return audit.faults.list
  }

  private init(world: MortalWorld, server: ServerContent) {
    self.world = world
    self.server = server
  }

  // MARK: Effects and receipts

  private var tally: Int64 { server.rows[ServerContent.Name("item", id: "tally")]?["n"]?.integer ?? 0 }
  private func isInTally(_ bit: Int) -> Bool { tally >> Int64(bit) & 1 == 1 }
  private var outcomes: [MutationID: String] {
    var out: [MutationID: String] = [:]
    for receipts in server.receipts.values { out.merge(receipts.mapValues(\.outcome)) { first, _ in first } }
    return out
  }

  /// A receipt says confirmed if and only if all effects of its mutation are there, and each is there once.
  private func checkEffects() {
    for bit in 0..<62 {
      let isMarked = server.rows[ServerContent.Name("item", id: "mark-\(bit)")] != nil
      let isInTally = isInTally(bit)
      let isWhole = isInTally == isMarked || world.ledger.unmarked.contains(bit)
      faults.expect(isWhole, "write \(bit): the counter says \(isInTally), its own row \(isMarked)")
      faults.expect(
        !isInTally || world.ledger.begun.contains(bit), "write \(bit) was never made, or one took effect twice")
    }
    let outcomes = outcomes
    for (id, bit) in world.ledger.acknowledged {
      let ids = [id] + [world.ledger.edits[id]].compactMap { $0 }
      let isConfirmed = ids.contains { outcomes[$0] == "confirmed" }
      faults.expect(isConfirmed == isInTally(bit), "write \(bit): receipt \(isConfirmed), effect \(isInTally(bit))")
    }
  }

  /// Each acknowledged write is on its device, or has a receipt on the server.
  private func checkWrites() throws {
    var known = Set(outcomes.keys)
    for name in world.names {
      for place in ["outbox", "archive", "inbox"] {
        let ids = try world.store(name).withConnection {
          try $0.query("SELECT mid FROM skerry_\(place)") { MutationID(bytes: $0.blob(0)) }
        }
        known.formUnion(ids.compactMap { $0 })
      }
    }
    for (id, bit) in world.ledger.acknowledged {
      let isKnown = known.contains(id) || world.ledger.edits[id].map(known.contains) == true
      faults.expect(isKnown, "the acknowledged write \(bit) is nowhere")
    }
  }

  // MARK: At rest

  private func checkConverged(_ name: String) throws {
    let store = try world.store(name)
    let content = try store.withConnection { try StoreContent($0, world.catalog) }
    let mine = server.spaces(ofUser: name)
    var expected: [RowKey: RowContent] = [:]
    for row in server.rows.keys where !server.spaces(of: row).isDisjoint(with: mine) {
      expected[RowKey(row.table, .text(row.id))] = server.content(row)
    }
    let found = content.visible.mapValues(\.row)
    for key in Set(expected.keys).union(found.keys) where expected[key] != found[key] {
      faults.add("\(name): \(key) is \(String(describing: found[key])), not \(String(describing: expected[key]))")
    }
    faults.expect(store.digestMismatches == 0, "\(name): digests differed \(store.digestMismatches) times")
    for space in server.spaces.values where mine.contains(space.name) {
      let own = content.spaces.values.first { $0.name == space.name }?.digest ?? SpaceDigest()
      faults.expect(own == space.digest, "\(name): digest of \(space.name)")
    }
    let refused = (server.receipts[name] ?? [:]).filter {
      $0.value.outcome == "rejected" || $0.value.outcome == "conflicted"
    }
    let inbox = Set(try store.rejections().map(\.id)).union(world.ledger.seen)
    let silent = Set(refused.keys).subtracting(inbox)
    faults.expect(silent.isEmpty, "\(name): refused silently: \(silent)")
    faults.expect(!store.isCatchingUp, "\(name) is still catching up")
  }

  /// Every acknowledged write has taken effect once, or ended in a refusal that its user can see.
  private func checkLedger() {
    let ledger = world.ledger
    let outcomes = outcomes
    for (id, bit) in ledger.acknowledged {
      let outcome = outcomes[id] ?? ledger.edits[id].flatMap { outcomes[$0] }
      switch outcome {
      case "confirmed":
        faults.expect(!ledger.mustVanish.contains(id), "write \(bit) took effect though it was discarded in time")
      case "rejected", "conflicted": break  // `checkConverged` looks for the refusal
      case "void": faults.expect(ledger.mayVanish.contains(id), "write \(bit) is void, and nobody discarded it")
      default: faults.add("the acknowledged write \(bit) never got its outcome")
      }
    }
  }
}
