// SPDX-License-Identifier: Apache-2.0

/// A schema that has passed its checks, indexed for use. It never changes.
public struct Catalog: Sendable {
  /// The schema itself.
  public let schema: Schema
  /// All tables, in byte order of their names.
  package let tables: [TableInfo]
  package let spaceKinds: [String: SpaceDefinition]
  /// The tables of which a table is a parent, with the column that names it.
  package let children: [String: [(table: TableInfo, column: Int)]]
  private let byName: [String: Int]

  /// Checks a schema.
  ///
  /// - Throws: `SchemaError` with table, column, reason and remedy of the first fault.
  public init(_ schema: Schema) throws(SchemaError) {
    if let fault = schema.complaints.first { throw fault }
    self.schema = schema
    var kinds: [String: SpaceDefinition] = [:]
    for space in schema.spaces { kinds[space.kind] = space }
    spaceKinds = kinds
    let definitions = schema.features.flatMap(\.tables).sorted { $0.name < $1.name }
    tables = definitions.enumerated().map { TableInfo($1, number: $0, in: schema) }
    byName = Dictionary(uniqueKeysWithValues: tables.enumerated().map { ($1.name, $0) })
    var children: [String: [(table: TableInfo, column: Int)]] = [:]
    for table in tables {
      for case .parent(let column, let parent) in table.spaces {
        children[parent, default: []].append((table, table.index(of: column) ?? 0))
      }
    }
    self.children = children
  }

  /// The table of that name, compared by bytes; nil if the schema has none.
  package func table(_ name: String) -> TableInfo? {
    guard let index = byName[name], tables[index].name.utf8.elementsEqual(name.utf8) else { return nil }
    return tables[index]
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

/// A checked table with the positions of its columns.
package struct TableInfo: Sendable {
  package let definition: TableDefinition
  package let columnsByName: [Int]
  package let keyColumns: [Int]
  /// The kinds of spaces of which this table's rows are the roots.
  package let rootOf: [String]
  package let memberships: [MembershipInfo]
  /// Its place among the catalog's tables.
  package let number: Int

  package var name: String { definition.name }
  package var columns: [ColumnDefinition] { definition.columns }
  package var spaces: [SpaceRule] { definition.spaces }
  package var checksVersion: Bool { definition.detection == .version }

  init(_ definition: TableDefinition, number: Int, in schema: Schema) {
    self.definition = definition
    self.number = number
    let columns = definition.columns
    func position(_ name: String) -> Int { columns.firstIndex { $0.name == name } ?? 0 }
    columnsByName = columns.indices.sorted { columns[$0].name < columns[$1].name }
    keyColumns = definition.key.map(position)
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
