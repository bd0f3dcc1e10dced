// SPDX-License-Identifier: Apache-2.0
import SkerrySQLiteKit
import SkerryTestSupport
import SkerryTesting
import Synchronization

/// A script that ran to its end, with a copy of all files before each call of the victim.
struct Recording: Sendable {
  struct Call: Sendable {
    let sql: String
    let isInTransaction: Bool
    /// Which state the files were in before it. Equal files are kept once: what is opened from them is equal too.
    let state: Int
  }

  /// Where the script begins.
  let start: Moment
  /// The calls, and the end of the script as one more.
  private(set) var calls: [Call] = []
  private(set) var states: [Moment] = []
  /// The victim's file as the next process finds it, for each state.
  private(set) var dumps: [String] = []

  init(_ script: Script) throws {
    let setting = try MortalWorld(Recording.base.get().image.restored(), bound: script.bound, seed: 2)
    setting.ledger = try Recording.base.get().ledger
    try script.prepare(setting)
    setting.shutDown()
    start = Moment(image: try FileImage(of: setting.folder), ledger: setting.ledger)

    let world = try start.wakened(script, seed: 3)
    let steps = try script.steps(world)
    let watch = Watch(.lives)
    var calls: [Call] = []
    var states: [Moment] = []
    func note(_ sql: String, _ isInTransaction: Bool) throws {
      let moment = Moment(image: try FileImage(of: world.folder), ledger: world.ledger)
      if states.last?.image != moment.image { states.append(moment) }
      states[states.count - 1].ledger = moment.ledger
      calls.append(Call(sql: sql, isInTransaction: isInTransaction, state: states.count - 1))
    }
    watch.onCall = { try note($1, $0.isInTransaction) }
    try world.attach(watch, to: script.victim)
    for step in steps { try step() }
    try note("", false)
    watch.isActive = false
    self.calls = calls
    self.states = states
    dumps = try states.map { try Recording.dump($0.image, script.file) }
  }

  static func dump(_ image: FileImage, _ file: String) throws -> String {
    let folder = try image.only(file).restored()
    return try Dump(SQLiteConnection(path: folder.path(file), mode: .writer)).text()
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
    let world = try MortalWorld(TemporaryFolder())
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
    return Moment(image: try FileImage(of: world.folder), ledger: world.ledger)
  }
}
