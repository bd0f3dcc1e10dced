// SPDX-License-Identifier: Apache-2.0

import SkerryModel

/// The rules of a schema, read the slow way: spaces, members, and what an operation does. Written apart from the engine's
/// own, and sharing nothing with them but the schema itself.
struct Rules: Sendable {
  struct Table: Sendable {
    let definition: TableDefinition
    let key: [Int]
    /// Tables that this one may be a child of.
    let parents: [(column: Int, table: String)]
    /// Kinds of spaces that a row of this table opens.
    let opens: [String]

    func column(_ name: String) -> Int? { definition.columns.firstIndex { $0.name == name } }
  }

  let schema: Schema
  let tables: [String: Table]
  private let members: [(kind: String, table: String, space: Int, user: Int)]
  private let everyones: Set<SpaceID>

  init(_ schema: Schema) {
    self.schema = schema
    var tables: [String: Table] = [:]
    var open: Set<SpaceID> = []
    let kindsOfAll = Set(schema.spaces.filter { $0.members == .everyone }.map(\.kind))
    for definition in schema.features.flatMap(\.tables) {
      func at(_ name: String) -> Int { definition.columns.firstIndex { $0.name == name } ?? 0 }
      var parents: [(column: Int, table: String)] = []
      for rule in definition.spaces {
        switch rule {
        case .parent(let column, let table): parents.append((at(column), table))
        case .constant(let space) where kindsOfAll.contains(String(space.kind)): open.insert(space)
        default: break
        }
      }
      tables[definition.name] = Table(
        definition: definition, key: definition.key.map(at), parents: parents,
        opens: schema.spaces.filter { $0.root == definition.name }.map(\.kind))
    }
    self.tables = tables
    everyones = open
    members = schema.spaces.compactMap { space in
      guard case .table(let name, let spaceColumn, let user) = space.members, let table = tables[name],
        let spaceIndex = table.column(spaceColumn), let userIndex = table.column(user)
      else { return nil }
      return (space.kind, name, spaceIndex, userIndex)
    }
  }

  // MARK: Spaces

  /// The spaces that a row is in: by its own columns, and by its parents as far as they are there.
  func spaces(_ key: RowKey, _ read: (RowKey) -> [Value]?, depth: Int = 0) -> Set<SpaceID> {
    guard depth < 16, let table = tables[key.table], let values = read(key) else { return [] }
    var out = own(table, values)
    for parent in table.parents {
      guard !values[parent.column].isNull else { continue }
      out.formUnion(spaces(RowKey(parent.table, values[parent.column]), read, depth: depth + 1))
    }
    return out
  }

  func own(_ table: Table, _ values: [Value]) -> Set<SpaceID> {
    var out: Set<SpaceID> = []
    for rule in table.definition.spaces {
      switch rule {
      case .owner(let column, let kind):
        if let id = table.column(column).flatMap({ values[$0].text }) { out.insert(SpaceID(kind: kind, id: id)) }
      case .named(let column):
        guard let name = table.column(column).flatMap({ values[$0].text }), !name.hasPrefix("replica:") else {
          continue
        }
        out.insert(SpaceID(name))
      case .constant(let space): out.insert(space)
      case .parent: break
      }
    }
    return out
  }

  /// The spaces that a user is in.
  func spaces(of user: AccountID, in rows: [RowKey: Version]) -> Set<SpaceID> {
    var out = everyones
    out.insert(SpaceID(kind: "user", id: user.text))
    for member in members {
      for (key, row) in rows where key.table == member.table {
        guard let name = row.values[member.user].text, name.utf8.elementsEqual(user.text.utf8),
          let space = row.values[member.space].text
        else { continue }
        out.insert(SpaceID(kind: member.kind, id: space))
      }
    }
    return out
  }

  /// Whether anybody is a member of a space, or any row names it as its own.
  func isUsed(_ space: SpaceID, in rows: [RowKey: Version]) -> Bool {
    for member in members where member.kind == String(space.kind) {
      for (key, row) in rows where key.table == member.table {
        if row.values[member.space].text == String(space.id) { return true }
      }
    }
    return rows.contains { key, row in tables[key.table].map { own($0, row.values).contains(space) } ?? false }
  }

  // MARK: Operations

  /// What an operation makes of a row.
  enum Effect {
    case becomes(Row?)
    case refused(RefusalCode)
  }

  func apply(_ operation: Operation, at step: Int, of mutation: MutationID, to row: Row?) -> Effect {
    guard let table = tables[operation.key.table] else { return .refused(.invalid) }
    let ink = Ink(mutation: mutation, step: step)
    if case .insert(let fields) = operation.action {
      if row != nil { return .refused(.exists) }
      var values = table.definition.columns.map { $0.rule == .counter ? Value.integer(0) : $0.defaultValue ?? .null }
      for (index, value) in zip(table.key, operation.key.values) { values[index] = value }
      for field in fields { if let index = table.column(field.column) { values[index] = field.value } }
      let tag = VersionTag(raw: mutation.raw)
      return .becomes(
        Row(values: values, tag: tag, incarnation: Incarnation(tag: tag, index: UInt16(step)), ink: [ink]))
    }
    guard var next = row, next.incarnation == operation.incarnation else { return .refused(.gone) }
    switch operation.action {
    case .insert, .delete: return .becomes(nil)
    case .set(let fields, let base):
      if table.definition.detection == .version, base != next.tag { return .refused(.stale) }
      for field in fields { if let index = table.column(field.column) { next.values[index] = field.value } }
    case .increment(let name, let amount):
      guard let index = table.column(name), let old = next.values[index].integer else { return .refused(.invalid) }
      let (sum, isOver) = old.addingReportingOverflow(amount)
      if isOver { return .refused(.overflow) }
      next.values[index] = .integer(sum)
    }
    next.tag = VersionTag(raw: mutation.raw)
    next.ink.append(ink)
    return .becomes(next)
  }
}
