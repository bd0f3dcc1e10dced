// SPDX-License-Identifier: Apache-2.0

import SkerryAmbientKit
import SkerryModel

/// Makes up what people and programs do, from the schema alone.
///
/// Keys come from small pools, so that the same row is inserted, deleted and inserted again by several; values carry a mark
/// each, so that a copy of a value found anywhere tells who wrote it and where.
struct Author {
  struct Column {
    enum Role {
      case plain
      case counter
      case space(kind: String)
      case spaceName
      case parent(table: String)
      case user
    }
    let definition: ColumnDefinition
    let index: Int
    let role: Role
    let isKey: Bool

    var leadsToSpace: Bool {
      switch role {
      case .space, .spaceName, .parent: true
      case .plain, .counter, .user: false
      }
    }
  }

  struct Table {
    let name: String
    let columns: [Column]
    let key: [Column]
    let weight: Int
    /// Its rows are in a space whatever their columns hold.
    let hasConstantSpace: Bool

    /// Whether a row with these values is in some space, as far as its columns tell.
    func isSomewhere(_ values: [String: Value]) -> Bool {
      hasConstantSpace || columns.contains { $0.leadsToSpace && values[$0.definition.name] != nil }
    }
  }

  private let tables: [Table]
  let byName: [String: Table]
  private let memberships: [(table: String, space: Int, user: Int, kind: String)]
  let users: [AccountID]
  /// The ids of the spaces of each kind that there may be.
  let spaceIDs: [String: [String]]
  let poolSize: UInt64

  /// - Parameter known: the version of the schema by which it writes; `schema` is the last one, in which rows are given.
  init(_ schema: Schema, known: Schema? = nil, users: [AccountID], poolSize: UInt64 = 24) {
    self.users = users
    self.poolSize = poolSize
    var ids: [String: [String]] = ["user": users.map(\.text)]
    for space in schema.spaces { ids[space.kind] = (0..<3).map { "\(space.kind)\($0)" } }
    // A space for everyone is one that some table names.
    for case .constant(let space) in schema.features.flatMap(\.tables).flatMap(\.spaces) {
      ids[String(space.kind)] = [String(space.id)]
    }
    spaceIDs = ids
    let knownTables = (known ?? schema).features.flatMap(\.tables)
    tables = schema.features.flatMap(\.tables).sorted { $0.name < $1.name }.compactMap { table in
      knownTables.first { $0.name == table.name }.map { Author.table(table, schema, known: $0) }
    }
    byName = Dictionary(uniqueKeysWithValues: tables.map { ($0.name, $0) })
    let definitions = schema.features.flatMap(\.tables)
    memberships = schema.spaces.compactMap { space in
      guard case .table(let name, let spaceColumn, let user) = space.members,
        let columns = definitions.first(where: { $0.name == name })?.columns,
        let spaceIndex = columns.firstIndex(where: { $0.name == spaceColumn }),
        let userIndex = columns.firstIndex(where: { $0.name == user })
      else { return nil }
      return (name, spaceIndex, userIndex, space.kind)
    }
  }

  /// What somebody sees who is about to do something.
  struct View {
    let user: AccountID
    let rows: [RowKey: Row]
    let keys: [RowKey]
    /// The ids of the spaces that they are in, by kind, as far as they see it.
    let homes: [String: [String]]
  }

  func view(_ rows: [RowKey: Row], _ user: AccountID) -> View {
    let keys = rows.keys.sorted()
    var homes: [String: [String]] = ["user": [user.text]]
    for membership in memberships {
      for key in keys where key.table == membership.table {
        guard let values = rows[key]?.values, values[membership.user].text == user.text,
          let id = values[membership.space].text
        else { continue }
        homes[membership.kind, default: []].append(id)
      }
    }
    return View(user: user, rows: rows, keys: keys, homes: homes)
  }

  private static func table(_ definition: TableDefinition, _ schema: Schema, known: TableDefinition) -> Table {
    let columns = definition.columns.enumerated().compactMap { index, column in
      known.columns.contains { $0.name == column.name }
        ? Column(
          definition: column, index: index, role: role(of: column, in: definition, schema),
          isKey: definition.key.contains(column.name)) : nil
    }
    let isMembership = schema.spaces.contains { space in
      if case .table(definition.name, _, _) = space.members { true } else { false }
    }
    let isRoot = schema.spaces.contains { $0.root == definition.name }
    return Table(
      name: definition.name, columns: columns,
      key: definition.key.compactMap { name in columns.first { $0.definition.name == name } },
      weight: isRoot ? 1 : isMembership ? 2 : 6,
      hasConstantSpace: definition.spaces.contains { if case .constant = $0 { true } else { false } })
  }

  private static func role(of column: ColumnDefinition, in table: TableDefinition, _ schema: Schema) -> Column.Role {
    if column.rule == .counter { return .counter }
    for space in schema.spaces {
      if case .table(table.name, let spaceColumn, let user) = space.members {
        if column.name == user { return .user }
        if column.name == spaceColumn { return .space(kind: space.kind) }
      }
      if space.root == table.name, table.key == [column.name] { return .space(kind: space.kind) }
    }
    for rule in table.spaces {
      switch rule {
      case .owner(column.name, let kind): return .space(kind: kind)
      case .named(column.name): return .spaceName
      case .parent(column.name, let parent): return .parent(table: parent)
      default: continue
      }
    }
    return .plain
  }

  // MARK: Deeds

  /// Some deeds on rows that are visible, in an order that can be carried out.
  func deeds(
    _ count: Int, seeing rows: [RowKey: Row], as user: AccountID, _ random: inout SeededGenerator
  ) -> [Deed] {
    let view = view(rows, user)
    return (0..<count).compactMap { _ in deed(view, &random) }
  }

  private func deed(_ view: View, _ random: inout SeededGenerator) -> Deed? {
    let choice = random.next() % 100
    let key = pick(view.keys, &random)
    switch choice {
    case ..<28: return insert(view, &random)
    case ..<55: return key.flatMap { update($0, view, &random) }
    case ..<78: return key.flatMap { increment($0, &random) ?? update($0, view, &random) }
    case ..<88: return key.flatMap { move($0, view, &random) ?? update($0, view, &random) }
    default: return key.map { .delete($0) }
    }
  }

  func pick<T>(_ items: [T], _ random: inout SeededGenerator) -> T? {
    items.isEmpty ? nil : items[Int(random.next() % UInt64(items.count))]
  }

  /// A row of any table, or of one.
  func insert(
    _ view: View, _ random: inout SeededGenerator, into name: String? = nil, given: [String: Value] = [:]
  ) -> Deed? {
    let total = tables.reduce(0) { $0 + $1.weight }
    var left = Int(random.next() % UInt64(max(total, 1)))
    var table = name.flatMap { byName[$0] }
    if table == nil {
      for candidate in tables {
        left -= candidate.weight
        if left < 0 {
          table = candidate
          break
        }
      }
    }
    guard let table else { return nil }
    var values: [String: Value] = [:]
    for column in table.columns {
      if let value = given[column.definition.name] {
        values[column.definition.name] = value
        continue
      }
      guard let value = value(for: column, view, &random) else { return nil }
      if !value.isNull { values[column.definition.name] = value }
    }
    // A row in no space is refused: now and then is enough.
    if !table.isSomewhere(values), !random.chance(0.1) {
      guard let column = pick(table.columns.filter(\.leadsToSpace), &random) else { return nil }
      if case .parent(let name) = column.role, !view.keys.contains(where: { $0.table == name }) {
        return insert(view, &random, into: name)
      }
      values[column.definition.name] = value(for: column, view, &random, isNeeded: true)
    }
    let key = RowKey(table.name, values: table.key.map { values[$0.definition.name] ?? .null })
    return key.values.contains { $0.isNull } ? nil : .insert(key, values)
  }

  private func update(_ key: RowKey, _ view: View, _ random: inout SeededGenerator) -> Deed? {
    let plain = (byName[key.table]?.columns ?? []).filter { column in
      if case .plain = column.role { !column.isKey } else { false }
    }
    guard let column = pick(plain, &random) else { return nil }
    var values = [column.definition.name: value(for: column, view, &random) ?? .null]
    if random.chance(0.2), let other = pick(plain, &random) {
      values[other.definition.name] = value(for: other, view, &random)
    }
    return .update(key, values)
  }

  private func increment(_ key: RowKey, _ random: inout SeededGenerator) -> Deed? {
    let counters = (byName[key.table]?.columns ?? []).filter { if case .counter = $0.role { true } else { false } }
    guard let column = pick(counters, &random) else { return nil }
    let amount = Int64(random.next() % 9) - 2
    let isHuge = random.next() % 200 == 0
    return .increment(key, column.definition.name, isHuge ? .max / 2 : amount == 0 ? 3 : amount)
  }

  /// Gives a row another space, another parent or another user.
  private func move(_ key: RowKey, _ view: View, _ random: inout SeededGenerator) -> Deed? {
    let columns = (byName[key.table]?.columns ?? []).filter { column in
      switch column.role {
      case .space, .spaceName, .parent, .user: !column.isKey
      case .plain, .counter: false
      }
    }
    guard let column = pick(columns, &random), let value = value(for: column, view, &random) else { return nil }
    return .update(key, [column.definition.name: value])
  }
}
