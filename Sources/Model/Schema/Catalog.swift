// SPDX-License-Identifier: Apache-2.0

/// A schema that has passed its checks, indexed for use. It never changes.
public struct Catalog: Sendable {
  /// The schema itself.
  public let schema: Schema
  /// All tables that are synced, in byte order of their names.
  package let tables: [TableInfo]
  /// The tables that are on the device only, in byte order of their names; their numbers follow those of the synced ones.
  package let localTables: [TableInfo]
  package let spaceKinds: [String: SpaceDefinition]
  /// The tables of which a table is a parent, with the column that names it.
  package let children: [String: [(table: TableInfo, column: Int)]]
  /// The tables that refer to a table, with the column that does.
  package let referrers: [String: [(table: TableInfo, column: Int, action: ReferenceAction)]]
  private let byName: [String: Int]
  private let localByName: [String: Int]

  /// Checks a schema.
  ///
  /// - Throws: `SchemaError` with table, column, reason and remedy of the first fault.
  public init(_ schema: Schema) throws(SchemaError) {
    if let fault = schema.complaints.first { throw fault }
    self.schema = schema
    var kinds: [String: SpaceDefinition] = [:]
    for space in schema.spaces { kinds[space.kind] = space }
    spaceKinds = kinds
    func infos(_ definitions: [TableDefinition], from number: Int, isLocal: Bool) -> [TableInfo] {
      definitions.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }.enumerated().map {
        TableInfo($1, number: number + $0, isLocal: isLocal, in: schema)
      }
    }
    tables = infos(schema.features.flatMap(\.tables), from: 0, isLocal: false)
    localTables = infos(schema.local, from: tables.count, isLocal: true)
    byName = Dictionary(uniqueKeysWithValues: tables.enumerated().map { ($1.name, $0) })
    localByName = Dictionary(uniqueKeysWithValues: localTables.enumerated().map { ($1.name, $0) })
    var children: [String: [(table: TableInfo, column: Int)]] = [:]
    var referrers: [String: [(table: TableInfo, column: Int, action: ReferenceAction)]] = [:]
    for table in tables {
      for case .parent(let column, let parent) in table.spaces {
        children[parent, default: []].append((table, table.index(of: column) ?? 0))
      }
      for (index, column) in table.columns.enumerated() {
        guard let reference = column.reference else { continue }
        referrers[reference.table, default: []].append((table, index, reference.onDelete))
      }
    }
    self.children = children
    self.referrers = referrers
  }

  /// The synced table of that name, compared by bytes; nil if the schema has none.
  package func table(_ name: String) -> TableInfo? {
    guard let index = byName[name], tables[index].name.utf8.elementsEqual(name.utf8) else { return nil }
    return tables[index]
  }

  /// The table of that name that is on the device only; nil if the schema has none.
  package func localTable(_ name: String) -> TableInfo? {
    guard let index = localByName[name], localTables[index].name.utf8.elementsEqual(name.utf8) else { return nil }
    return localTables[index]
  }

  /// The kinds whose every account is a member.
  package var openSpaces: [SpaceID] {
    var out: Set<SpaceID> = []
    for table in tables {
      for case .constant(let space) in table.spaces where spaceKinds[String(space.kind)]?.members == .everyone {
        out.insert(space)
      }
    }
    return out.sorted()
  }
}

/// What a table's rows have to do with membership.
package struct MembershipInfo: Sendable {
  package let kind: String
  package let space: Int
  package let user: Int
}

extension Schema {
  /// Whether mutations can open spaces of this kind, or change who is in them.
  fileprivate func isChanged(_ kind: String) -> Bool {
    spaces.contains { $0.kind == kind && ($0.root != nil || $0.members != .everyone) }
  }
}

/// A checked column. A class, since it is handed on for each value, and never changes.
final class ColumnInfo: Sendable {
  let definition: ColumnDefinition
  let isKey: Bool
  /// The space rules that read it.
  let rules: [SpaceRule]

  init(_ definition: ColumnDefinition, in table: TableDefinition) {
    self.definition = definition
    isKey = table.key.contains(definition.name)
    rules = table.spaces.filter { $0.column == definition.name }
  }

  /// The value in the form in which it is stored and hashed, or why the column cannot hold it.
  func normalised(_ value: Value, in table: String) throws(OperationError) -> Value {
    let value = try definition.normalised(value, in: table)
    if !rules.isEmpty { try checkSpaceID(value, in: table) }
    return value
  }

  /// A column that a space rule or a membership reads must hold what can be a space's id: a page that names another could be
  /// read by nobody.
  private func checkSpaceID(_ value: Value, in table: String) throws(OperationError) {
    guard case .text(let text) = value else { return }
    for rule in rules {
      switch rule {
      case .owner(_, let kind):
        if !IDText.isSpace(SpaceID(kind: kind, id: text).text.utf8) {
          throw OperationError(
            table, definition.name, "an id has 1 to \(Limits.idBytes) bytes and no control characters")
        }
      case .named:
        if !IDText.isSpace(text.utf8) {
          throw OperationError(
            table, definition.name, "a space is written kind:id, the id without control characters")
        }
      case .constant, .parent: break
      }
    }
  }
}

/// A checked table with the positions of its columns. A class, since it is handed on for each row, and never changes.
package final class TableInfo: Sendable {
  package let definition: TableDefinition
  package let columnsByName: [Int]
  /// The names in the order of `columnsByName`.
  package let sortedNames: [String]
  package let keyColumns: [Int]
  /// The columns with what is found out of each, in the schema's order.
  let checked: [ColumnInfo]
  /// What a row has where its insert says nothing.
  package let blank: [Value]
  /// The kinds of spaces of which this table's rows are the roots.
  package let rootOf: [String]
  /// Whether a row may be in a space that mutations can open, or in which they can change who is in it.
  package let leansOnSpaces: Bool
  package let memberships: [MembershipInfo]
  /// The columns that an insert must name, or that have a default.
  let neededColumns: [Int]
  /// Its place among the catalog's tables.
  package let number: Int
  /// Whether it is on the device only.
  package let isLocal: Bool

  package var name: String { definition.name }
  package var columns: [ColumnDefinition] { definition.columns }
  package var spaces: [SpaceRule] { definition.spaces }
  package var checksVersion: Bool { definition.detection == .version }

  init(_ definition: TableDefinition, number: Int, isLocal: Bool, in schema: Schema) {
    self.definition = definition
    self.number = number
    self.isLocal = isLocal
    let columns = definition.columns
    func position(_ name: String) -> Int { columns.firstIndex { $0.name == name } ?? 0 }
    columnsByName = columns.indices.sorted { columns[$0].name < columns[$1].name }
    sortedNames = columnsByName.map { columns[$0].name }
    checked = columns.map { ColumnInfo($0, in: definition) }
    blank = columns.map { $0.rule == .counter ? 0 : .null }
    leansOnSpaces = definition.spaces.contains { rule in
      switch rule {
      case .owner(_, let kind): schema.isChanged(kind)
      case .constant(let space): schema.isChanged(String(space.kind))
      case .named, .parent: true
      }
    }
    keyColumns = definition.key.map(position)
    neededColumns = columns.indices.filter { index in
      let column = columns[index]
      return column.defaultValue != nil
        || !column.isOptional && column.rule != .counter && !definition.key.contains(column.name)
    }
    rootOf = schema.spaces.filter { $0.root == definition.name }.map(\.kind)
    memberships = schema.spaces.compactMap { space in
      guard case .table(definition.name, let spaceColumn, let user) = space.members else { return nil }
      return MembershipInfo(kind: space.kind, space: position(spaceColumn), user: position(user))
    }
  }

  /// The column's position; nil if the table has no such column.
  package func index(of column: String) -> Int? {
    columns.firstIndex { $0.name.utf8.elementsEqual(column.utf8) }
  }

  /// The key of a row with these values.
  package func key(of values: [Value]) -> RowKey { RowKey(name, values: keyColumns.map { values[$0] }) }
}
