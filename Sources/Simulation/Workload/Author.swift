// SPDX-License-Identifier: Apache-2.0

import SkerryAmbientKit
import SkerryModel

/// Makes up what people and programs do, from the schema alone.
///
/// Keys come from small pools, so that the same row is inserted, deleted and inserted again by several; values carry a mark
/// each, so that a copy of a value found anywhere tells who wrote it and where.
struct Author {
  private struct Column {
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
  }

  private struct Table {
    let name: String
    let columns: [Column]
    let key: [Column]
    let weight: Int
  }

  private let tables: [Table]
  private let byName: [String: Table]
  let users: [AccountID]
  /// The ids of the spaces of each kind that there may be.
  private let spaceIDs: [String: [String]]
  private let poolSize: UInt64

  init(_ schema: Schema, users: [AccountID], poolSize: UInt64 = 60) {
    self.users = users
    self.poolSize = poolSize
    var ids: [String: [String]] = ["user": users.map(\.text)]
    for space in schema.spaces { ids[space.kind] = (0..<3).map { "\(space.kind)\($0)" } }
    spaceIDs = ids
    tables = schema.features.flatMap(\.tables).sorted { $0.name < $1.name }.map { Author.table($0, schema) }
    byName = Dictionary(uniqueKeysWithValues: tables.map { ($0.name, $0) })
  }

  private static func table(_ definition: TableDefinition, _ schema: Schema) -> Table {
    let columns = definition.columns.enumerated().map { index, column in
      Column(
        definition: column, index: index, role: role(of: column, in: definition, schema),
        isKey: definition.key.contains(column.name))
    }
    let isMembership = schema.spaces.contains { space in
      if case .table(definition.name, _, _) = space.members { true } else { false }
    }
    let isRoot = schema.spaces.contains { $0.root == definition.name }
    return Table(
      name: definition.name, columns: columns,
      key: definition.key.compactMap { name in columns.first { $0.definition.name == name } },
      weight: isRoot ? 1 : isMembership ? 2 : 6)
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
    let keys = rows.keys.sorted()
    return (0..<count).compactMap { _ in deed(keys, rows, user, &random) }
  }

  private func deed(
    _ keys: [RowKey], _ rows: [RowKey: Row], _ user: AccountID, _ random: inout SeededGenerator
  ) -> Deed? {
    let choice = random.next() % 100
    let key = pick(keys, &random)
    switch choice {
    case ..<28: return insert(keys, user, &random)
    case ..<55: return key.flatMap { update($0, keys, user, &random) }
    case ..<78: return key.flatMap { increment($0, &random) ?? update($0, keys, user, &random) }
    case ..<88: return key.flatMap { move($0, keys, user, &random) ?? update($0, keys, user, &random) }
    default: return key.map { .delete($0) }
    }
  }

  private func pick<T>(_ items: [T], _ random: inout SeededGenerator) -> T? {
    items.isEmpty ? nil : items[Int(random.next() % UInt64(items.count))]
  }

  /// A row of any table, or of one.
  func insert(
    _ keys: [RowKey], _ user: AccountID, _ random: inout SeededGenerator, into name: String? = nil,
    given: [String: Value] = [:]
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
      guard let value = value(for: column, keys, user, &random) else { return nil }
      if !value.isNull { values[column.definition.name] = value }
    }
    let key = RowKey(table.name, values: table.key.map { values[$0.definition.name] ?? .null })
    return key.values.contains { $0.isNull } ? nil : .insert(key, values)
  }

  private func update(
    _ key: RowKey, _ keys: [RowKey], _ user: AccountID, _ random: inout SeededGenerator
  ) -> Deed? {
    let plain = (byName[key.table]?.columns ?? []).filter { column in
      if case .plain = column.role { !column.isKey } else { false }
    }
    guard let column = pick(plain, &random) else { return nil }
    var values = [column.definition.name: value(for: column, keys, user, &random) ?? .null]
    if random.chance(0.2), let other = pick(plain, &random) {
      values[other.definition.name] = value(for: other, keys, user, &random)
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
  private func move(
    _ key: RowKey, _ keys: [RowKey], _ user: AccountID, _ random: inout SeededGenerator
  ) -> Deed? {
    let columns = (byName[key.table]?.columns ?? []).filter { column in
      switch column.role {
      case .space, .spaceName, .parent, .user: !column.isKey
      case .plain, .counter: false
      }
    }
    guard let column = pick(columns, &random), let value = value(for: column, keys, user, &random) else { return nil }
    return .update(key, [column.definition.name: value])
  }

  // MARK: Values

  /// Nil when no value will do: a parent is needed, and none is there.
  private func value(
    for column: Column, _ keys: [RowKey], _ user: AccountID, _ random: inout SeededGenerator
  ) -> Value? {
    if column.definition.isOptional, random.chance(0.2) { return .null }
    switch column.role {
    case .counter: return .integer(Int64(random.next() % 5))
    case .space(let kind):
      if kind == "user", random.chance(0.8) { return .text(user.text) }
      return pick(spaceIDs[kind] ?? [], &random).map { .text($0) }
    case .spaceName:
      if random.chance(0.5) { return .text("user:" + user.text) }
      guard let kind = pick(spaceIDs.keys.sorted(), &random), let id = pick(spaceIDs[kind] ?? [], &random) else {
        return nil
      }
      return .text(kind + ":" + id)
    case .parent(let table):
      let parents = keys.filter { $0.table == table }
      if let parent = pick(parents, &random) { return parent.values.first }
      return column.definition.isOptional ? .null : nil
    case .user: return pick(users, &random).map { .text($0.text) }
    case .plain:
      return column.isKey
        ? ValueMaker.key(column.definition.type, random.next() % poolSize)
        : ValueMaker.value(column.definition.type, &random)
    }
  }

  // MARK: The beginning

  /// What is there before anybody does anything: two spaces of each kind that has members, their root rows and some
  /// members. The last user is in none.
  func beginning(_ schema: Schema) -> [Deed] {
    var random = SeededGenerator(seed: 1)
    var out: [Deed] = []
    var taken: Set<RowKey> = []
    for space in schema.spaces {
      guard case .table(let table, let spaceColumn, let userColumn) = space.members else { continue }
      for number in 0..<2 {
        let id = Value.text("\(space.kind)\(number)")
        if let root = space.root, let key = byName[root]?.key.first?.definition.name {
          add(insert([], users[0], &random, into: root, given: [key: id]), &taken, &out)
        }
        for (index, user) in users.enumerated() where index % 2 == number || index == 1 {
          // Keys come from a pool: drawn again until one is free.
          for _ in 0..<20 {
            let given = [spaceColumn: id, userColumn: Value.text(user.text)]
            if add(insert([], user, &random, into: table, given: given), &taken, &out) { break }
          }
        }
      }
    }
    return out
  }

  @discardableResult
  private func add(_ deed: Deed?, _ taken: inout Set<RowKey>, _ out: inout [Deed]) -> Bool {
    guard let deed, taken.insert(deed.key).inserted else { return false }
    out.append(deed)
    return true
  }

  /// Gives or takes away a membership, as an administrator would.
  func accessChange(_ schema: Schema, seeing rows: [RowKey: Row], _ random: inout SeededGenerator) -> Deed? {
    let kinds = schema.spaces.compactMap { space -> (String, String, String, String)? in
      if case .table(let table, let column, let user) = space.members { (space.kind, table, column, user) } else { nil }
    }
    guard let (kind, table, column, userColumn) = pick(kinds, &random) else { return nil }
    let members = rows.keys.filter { $0.table == table }.sorted()
    if random.chance(0.5), let key = pick(members, &random) { return .delete(key) }
    guard let id = pick(Array((spaceIDs[kind] ?? []).prefix(2)), &random), let user = pick(users, &random) else {
      return nil
    }
    return insert(
      rows.keys.sorted(), user, &random, into: table, given: [column: .text(id), userColumn: .text(user.text)])
  }
}
