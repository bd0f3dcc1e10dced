// SPDX-License-Identifier: Apache-2.0
import SkerryTestSupport
import SkerryTesting
import Synchronization

/// Where a script begins, and what it takes.
struct Recording: Sendable {
  let start: Moment
  /// How often the victim calls SQLite, from the first step to the last.
  let calls: Int

  init(_ script: Script) throws {
    let setting = try MortalWorld(Recording.base.get().image.restored(), bound: script.bound, seed: 2)
    setting.ledger = try Recording.base.get().ledger
    try script.prepare(setting)
    setting.shutDown()
    start = Moment(image: FileImage(of: setting.disk), ledger: setting.ledger)

    let world = try start.wakened(script, seed: 3)
    let steps = try script.steps(world)
    let watch = Watch(.lives)
    try world.attach(watch, to: script.victim)
    for step in steps { try step() }
    watch.isActive = false
    calls = watch.calls
  }

  private static let cache = Mutex<[String: Recording]>([:])

  /// The recording of a script, made once.
  static func of(_ script: Script) throws -> Recording {
    if let known = cache.withLock({ $0[script.name] }) { return known }
    let made = try Recording(script)
    cache.withLock { $0[script.name] = made }
    return made
  }

  /// Where all scripts begin: three teams and rows, two devices that hold what they may see.
  static let base = Result { try makeBase() }

  private static func makeBase() throws -> Moment {
    let world = try MortalWorld()
    _ = try world.server
    try world.commitForeign(
      """
      INSERT INTO member(id, team, user)
        VALUES ('m1', 't1', 'ana'), ('m2', 't1', 'bob'), ('m3', 't2', 'bob'), ('m4', 't3', 'ana')
      """,
      """
      INSERT INTO item(id, a, home, also) VALUES ('tally', NULL, 'team:t1', NULL), ('i1', 'one', 'team:t1', 'team:t3'),
        ('i2', 'two', 'team:t1', NULL), ('i3', 'three', 'team:t2', NULL), ('i4', 'four', 'team:t3', NULL)
      """, "INSERT INTO doc(id, a, home) VALUES ('d1', 'draft', 'team:t1')",
      "INSERT INTO note(id, a, parent) VALUES ('n1', 'note', 'i1')")
    for name in MortalWorld.people { _ = try world.store(name) }
    try world.settle()
    let faults = try WorldAudit.faultsAtRest(world)
    if !faults.isEmpty { throw WorldError("the base is not sound: \(faults)") }
    world.shutDown()
    return Moment(image: FileImage(of: world.disk), ledger: world.ledger)
  }
}
