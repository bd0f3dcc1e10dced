// SPDX-License-Identifier: Apache-2.0
import SkerryModel
import SkerrySQLiteKit
import SkerryServerCore
import SkerryStore
import SkerryTesting
import Testing

/// Whether server and devices are equal once nothing is on its way: row for row by the hand-written scope, and digest for
/// digest against a full recount on both sides.
struct Agreement {
  private let catalog: Catalog
  private let connection: SQLiteConnection
  private let server: SyncServer
  private let devices: [(name: String, user: AccountID, store: Store)]
  private let reader: LineReader

  init(_ world: World) {
    (catalog, connection, server) = (world.catalog, world.foreign, world.server)
    devices = world.devices.sorted { $0.key < $1.key }.map { ($0.key, $0.value.user, $0.value.store) }
    reader = LineReader(world.catalog)
  }

  init(_ coast: Coast) {
    (catalog, connection, server) = (coast.catalog, coast.foreign, coast.server)
    devices = coast.devices.sorted { $0.key < $1.key }.map { ($0.key, $0.value.user, $0.value.store) }
    reader = LineReader(coast.catalog)
  }

  /// Throws what differs first.
  func check() throws {
    for (name, user, store) in devices {
      do {
        try compareRows(user, store)
        try compareDigests(user, store)
        if try store.outboxCount() > 0 { throw WorldError("its outbox does not drain") }
        if store.digestMismatches > 0 { throw WorldError("its digests differed from the server's") }
      } catch {
        throw WorldError("\(name): \(error)")
      }
    }
  }

  private func compareRows(_ user: AccountID, _ store: Store) throws {
    let expected = try reader.server(connection, where: Scope(user: user).condition).mapValues(\.line)
    let (screen, base) = try reader.device(store)
    try Agreement.compare(screen, expected, "screen")
    try Agreement.compare(base, expected, "confirmed rows")
  }

  static func compare(_ found: Lines, _ expected: Lines, _ what: String) throws {
    if found == expected { return }
    for key in Set(found.keys).union(expected.keys).sorted() where found[key] != expected[key] {
      let (left, right) = (found[key].map { "\($0)" } ?? "none", expected[key].map { "\($0)" } ?? "none")
      throw WorldError("\(what), \(key):\n  expected \(right)\n  found    \(left)")
    }
  }

  private func compareDigests(_ user: AccountID, _ store: Store) throws {
    let kept = try store.digests()
    let (_, base) = try reader.device(store)
    let spaces = try Scope(user: user).spaces(connection)
    for space in spaces {
      let rows = try reader.server(connection) { Scope.condition($0, in: space) }.mapValues(\.line)
      let recount = try digest(rows)
      let mine = try digest(base.filter { rows[$0.key] != nil })
      if try server.digest(of: space) != recount { throw WorldError("the server's digest of \(space)") }
      if kept[space] ?? SpaceDigest() != recount { throw WorldError("the digest of \(space) that is kept") }
      if mine != recount { throw WorldError("the digest of \(space), recounted") }
    }
    for (space, digest) in kept where digest != SpaceDigest() {
      if !spaces.contains(space) { throw WorldError("a digest of \(space), which is not the account's") }
    }
  }

  /// Adds up rows one by one.
  private func digest(_ rows: Lines) throws -> SpaceDigest {
    var out = SpaceDigest()
    for (name, line) in rows {
      guard let table = catalog.table(name.table), let version = VersionTag(bytes: line.tag),
        let incarnation = Incarnation(bytes: line.incarnation)
      else { throw WorldError("identity of \(name)") }
      let key = RowKey(name.table, .text(name.id))
      out.add(
        RowHash(of: RowImage(key: key, version: version, incarnation: incarnation, values: line.values), in: table))
    }
    return out
  }
}

/// The world comes to rest, and everyone agrees; if not, the whole world is shown as text.
func expectAgreement(_ world: World, at location: SourceLocation = #_sourceLocation) {
  do {
    try world.settle()
    try Agreement(world).check()
  } catch {
    Issue.record("\(error)\n\((try? world.describe()) ?? "")", sourceLocation: location)
  }
}

/// The same of a coast.
func expectAgreement(_ coast: Coast, at location: SourceLocation = #_sourceLocation) {
  do {
    try coast.settle()
    try Agreement(coast).check()
  } catch { Issue.record("\(error)", sourceLocation: location) }
}
