// SPDX-License-Identifier: Apache-2.0
import SkerryModel
import SkerrySQLiteKit
import SkerryServerCore
import SkerryStore
import SkerryTestSupport
import Testing

/// Whether server and devices are equal once nothing is on its way: row for row by the hand-written scope, and digest for
/// digest against a full recount on both sides.
struct Agreement {
  let world: World
  private let reader: LineReader

  init(_ world: World) {
    self.world = world
    reader = LineReader(world.catalog)
  }

  /// Throws what differs first, with the whole world as text.
  func check() throws {
    for (name, device) in world.devices.sorted(by: { $0.key < $1.key }) {
      do {
        try compareRows(device)
        try compareDigests(device)
        if try device.store.outboxCount() > 0 { throw WorldError("its outbox does not drain") }
        if device.store.digestMismatches > 0 { throw WorldError("its digests differed from the server's") }
      } catch {
        throw WorldError("\(name): \(error)\n\(try world.describe())")
      }
    }
  }

  private func compareRows(_ device: TestDevice) throws {
    let expected = try reader.server(world.foreign, where: Scope(user: device.user).condition).mapValues(\.line)
    let (screen, base) = try reader.device(device.store)
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

  private func compareDigests(_ device: TestDevice) throws {
    let kept = try device.store.digests()
    let (_, base) = try reader.device(device.store)
    for space in try Scope(user: device.user).spaces(world.foreign) {
      let rows = try reader.server(world.foreign) { Scope.condition($0, in: space) }.mapValues(\.line)
      let recount = try digest(rows)
      let mine = try digest(base.filter { rows[$0.key] != nil })
      if try world.server.digest(of: space) != recount { throw WorldError("the server's digest of \(space)") }
      if kept[space] ?? SpaceDigest() != recount { throw WorldError("the digest of \(space) that is kept") }
      if mine != recount { throw WorldError("the digest of \(space), recounted") }
    }
    for (space, digest) in kept where digest != SpaceDigest() {
      if try !Scope(user: device.user).spaces(world.foreign).contains(space) {
        throw WorldError("a digest of \(space), which is not the account's")
      }
    }
  }

  /// Adds up rows one by one.
  private func digest(_ rows: Lines) throws -> SpaceDigest {
    var out = SpaceDigest()
    for (name, line) in rows {
      guard let table = world.catalog.table(name.table), let version = VersionTag(bytes: line.tag),
        let incarnation = Incarnation(bytes: line.incarnation)
      else { throw WorldError("identity of \(name)") }
      let key = RowKey(name.table, .text(name.id))
      out.add(
        RowHash(of: RowImage(key: key, version: version, incarnation: incarnation, values: line.values), in: table))
    }
    return out
  }
}

/// The world comes to rest, and everyone agrees.
func expectAgreement(_ world: World, at location: SourceLocation = #_sourceLocation) {
  do {
    try world.settle()
    try Agreement(world).check()
  } catch {
    Issue.record("\(error)", sourceLocation: location)
  }
}
