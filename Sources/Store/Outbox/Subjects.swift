// SPDX-License-Identifier: Apache-2.0

import SkerryMerge
import SkerryModel
import SkerrySQLiteKit

/// What a mutation has to do with a row or a space, for the order among mutations.
enum Role: Int64, Comparable {
  /// It leans on it: the parent of a row, a space that a row is in.
  case leans = 0
  /// It begins it: a row by an insert, a space by its root or by a membership.
  case opens = 1
  /// It changes or ends it.
  case changes = 2

  static func < (left: Role, right: Role) -> Bool { left.rawValue < right.rawValue }
}

/// The rows and spaces that one mutation touches or leans on, found while its operations are applied.
///
/// Order is kept among mutations that touch the same row, and along edges: a creation before what leans on it, and a leave
/// after what leaned. Two mutations that only lean on the same thing go side by side.
struct Subjects {
  /// A row, or a space under the table name `$space`, in the order in which they were met. Rows are mostly made in the order of
  /// their ids, so there is little to sort.
  private var all: [(key: RowKey, value: Role)] = []
  /// Where each is in `all`.
  private var places: [RowKey: Int] = [:]

  /// Whether the mutation changes the row.
  func touches(_ key: RowKey) -> Bool { places[key].map { all[$0].value > .leans } ?? false }

  private mutating func add(_ key: RowKey, _ role: Role) {
    // One look-up, also for a key that is new.
    let place = { (place: inout Int) in place }(&places[key, default: all.count])
    if place < all.count { all[place].value = max(all[place].value, role) } else { all.append((key, role)) }
  }

  /// Notes one operation, with the row as it was visible before and after it.
  mutating func note(
    _ operation: Operation, _ table: TableInfo, before: RowState?, after: RowState?, _ spaces: Spaces,
    _ catalog: Catalog
  ) throws {
    let role: Role = operation.isInsert ? .opens : .changes
    add(operation.key, role)
    if !table.rootOf.isEmpty, let id = operation.key.values.first?.text {
      for kind in table.rootOf { add(Subjects.key(of: SpaceID(kind: kind, id: id)), role) }
    }
    for row in [before, after].compactMap({ $0 }) {
      for info in table.memberships {
        if let id = row.values[info.space].text { add(Subjects.key(of: SpaceID(kind: info.kind, id: id)), role) }
      }
      for rule in table.spaces {
        if let parent = Spaces.parent(of: row.values, by: rule, in: table) { add(parent, .leans) }
      }
      if !table.leansOnSpaces { continue }
      for space in try spaces.spaces(of: row.values, in: table) where Subjects.canChange(space, catalog) {
        add(Subjects.key(of: space), .leans)
      }
    }
  }

  /// Whether mutations can open a space or change who is in it.
  private static func canChange(_ space: SpaceID, _ catalog: Catalog) -> Bool {
    guard let definition = catalog.spaceKinds[String(space.kind)] else { return false }
    return definition.root != nil || definition.members != .everyone
  }

  private static func key(of space: SpaceID) -> RowKey { RowKey("$space", .text(space.text)) }

  /// In the order of keys, which no process draws anew: the same work writes the same bytes to the disk.
  var sorted: SortedSubjects { SortedSubjects(all: all.sorted { $0.key < $1.key }) }

  /// The rows that the mutation touches, by key.
  var touched: [RowKey] { sorted.all.filter { $0.value > .leans && $0.key.table != "$space" }.map(\.key) }

  /// The same in a later version of the schema; nil if nothing has another name.
  func renamed(by upgrade: SchemaUpgrade) -> Subjects? {
    var out = Subjects()
    var isChanged = false
    for (key, role) in all {
      guard key.table != "$space" else {
        out.add(key, role)
        continue
      }
      guard let table = upgrade.table(key.table) else {
        isChanged = true
        continue
      }
      let name = upgrade.key(key, in: table)
      isChanged = isChanged || name != key
      out.add(name, role)
    }
    return isChanged ? out : nil
  }

  init() {}

  init(encoded bytes: [UInt8]) throws {
    var reader = CBORReader(bytes)
    let count = try reader.array() / 3
    for _ in 0..<count {
      let key = RowKey(try reader.text(), values: try reader.values())
      guard let role = Role(rawValue: try reader.integer()) else { throw StoreError(.damaged, "role of \(key)") }
      add(key, role)
    }
  }

  /// Whether something in the outbox touches a row.
  static func touches(_ key: RowKey, on connection: SQLiteConnection) throws -> Bool {
    try connection.first(
      "SELECT 1 FROM skerry_subjects WHERE tbl = ? AND key = ? AND role > 0 LIMIT 1", .text(key.table), .blob(key.bytes)
    ) { _ in true } ?? false
  }

  /// What an entry of the outbox has to do with; nothing if it has left.
  static func of(_ made: Int64, on connection: SQLiteConnection) throws -> Subjects {
    try connection.first("SELECT subjects FROM skerry_outbox WHERE made = ?", .integer(made)) {
      try Subjects(encoded: $0.blob(0))
    } ?? Subjects()
  }
}

/// Subjects in the order of their keys.
struct SortedSubjects {
  let all: [(key: RowKey, value: Role)]

  var encoded: [UInt8] {
    var writer = CBORWriter()
    writer.array(all.count * 3)
    for (key, role) in all {
      writer.text(key.table)
      writer.raw(key.bytes)
      writer.integer(role.rawValue)
    }
    return writer.bytes
  }

  /// Adds them to the index of what is in the outbox.
  func index(_ made: Int64, on connection: SQLiteConnection) throws {
    let insert = try connection.statement("INSERT INTO skerry_subjects(tbl, key, made, role) VALUES (?, ?, ?, ?)")
    for (key, role) in all {
      try insert.run([.text(key.table), .blob(key.bytes), .integer(made), .integer(role.rawValue)])
    }
  }

  /// Takes them out of it, before or after the entry goes.
  func removeFromIndex(_ made: Int64, on connection: SQLiteConnection) throws {
    let delete = try connection.statement("DELETE FROM skerry_subjects WHERE tbl = ? AND key = ? AND made = ?")
    for (key, _) in all { try delete.run([.text(key.table), .blob(key.bytes), .integer(made)]) }
  }
}
