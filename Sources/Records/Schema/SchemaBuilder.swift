// SPDX-License-Identifier: Apache-2.0

public import SkerryModel

extension Schema {
  /// Describes an app by its records.
  ///
  /// ```swift
  /// extension Schema {
  ///   static let crm = Schema("crm", version: 3) {
  ///     Space("team", root: Team.table, members: Member.table, space: \.team, user: \.user)
  ///     Feature("contacts", .replica) { Person.table; Team.table; Member.table }
  ///     LocalTables { Draft.table }
  ///   }
  /// }
  /// ```
  ///
  /// Nothing fails here: what is wrong is thrown by whoever opens something with it.
  ///
  /// - Parameters:
  ///   - name: the app's name. A server refuses a device of another app.
  ///   - version: counts up with each change.
  ///   - parts: spaces, features and local tables, in any order.
  public init(_ name: String, version: Int, @SchemaBuilder _ parts: () -> [any SchemaPart]) {
    self.init(name, version: version, features: [])
    for part in parts() { part.add(to: &self) }
  }
}

/// Something that a schema is made of: `Space`, `Feature`, `LocalTables` or `RemovedTables`.
public protocol SchemaPart: Sendable {
  /// Adds itself to a schema.
  func add(to schema: inout Schema)
}

/// A kind of space and who is in it.
public struct Space: SchemaPart {
  private let definition: SpaceDefinition
  private var faults: [SchemaError] = []

  /// A kind of space whose members are the rows of a table.
  ///
  /// - Parameters:
  ///   - kind: the word before the colon in the space's name.
  ///   - members: the table of memberships.
  ///   - space: the property that holds the id of the space.
  ///   - user: the property that holds the account.
  public init<M: Record, S: ColumnValue, U: ColumnValue>(
    _ kind: String, members: TableSchema<M>, space: KeyPath<M, S>, user: KeyPath<M, U>
  ) {
    self.init(kind, root: nil, members, space, user)
  }

  /// A kind of space whose members are the rows of a table, each space opened by a row of another.
  ///
  /// - Parameters:
  ///   - kind: the word before the colon in the space's name.
  ///   - root: the table whose rows each open a space: the row with key `x` is the root of `kind:x`.
  ///   - members: the table of memberships.
  ///   - space: the property that holds the id of the space.
  ///   - user: the property that holds the account.
  public init<R: Record, M: Record, S: ColumnValue, U: ColumnValue>(
    _ kind: String, root: TableSchema<R>, members: TableSchema<M>, space: KeyPath<M, S>, user: KeyPath<M, U>
  ) {
    self.init(kind, root: root.definition.name, members, space, user)
  }

  /// A kind of space in which everybody is who has a valid token.
  public init(everyone kind: String) { definition = SpaceDefinition(kind, members: .everyone) }

  private init<M: Record>(
    _ kind: String, root: String?, _ members: TableSchema<M>, _ space: PartialKeyPath<M>, _ user: PartialKeyPath<M>
  ) {
    let table = members.definition.name
    let names = [members.name(of: space), members.name(of: user)]
    definition = SpaceDefinition(
      kind, root: root, members: .table(table, space: names[0] ?? "", user: names[1] ?? ""))
    if names.contains(nil) {
      faults = [
        SchemaError(
          table, "a property is named for the members of '\(kind)' that has no column", "declare a Column for it")
      ]
    }
  }

  /// Adds the kind to a schema.
  public func add(to schema: inout Schema) {
    schema.spaces.append(definition)
    schema.faults += faults
  }
}

/// A named group of tables, and how far it works offline. A table is in exactly one feature.
public struct Feature: SchemaPart {
  private let name: String
  private let level: Level
  private let tables: [DeclaredTable]

  /// A group of tables.
  public init(_ name: String, _ level: Level, @TablesBuilder _ tables: () -> [DeclaredTable]) {
    self.name = name
    self.level = level
    self.tables = tables()
  }

  /// Adds the feature to a schema.
  public func add(to schema: inout Schema) {
    schema.features.append(FeatureDefinition(name, level, tables: tables.map(\.definition)))
    schema.faults += tables.flatMap(\.faults)
  }
}

/// Tables that are on the device only: nothing of them is sent, and no server knows them.
public struct LocalTables: SchemaPart {
  private let tables: [DeclaredTable]

  /// Some tables.
  public init(@TablesBuilder _ tables: () -> [DeclaredTable]) { self.tables = tables() }

  /// Adds the tables to a schema.
  public func add(to schema: inout Schema) {
    schema.local += tables.map(\.definition)
    schema.faults += tables.flatMap(\.faults)
  }
}

/// Tables of earlier versions that are gone on purpose: their rows are given up, and so are changes of them that wait.
public struct RemovedTables: SchemaPart {
  private let names: [String]

  /// Some tables, by their names.
  public init(_ names: String...) { self.names = names }

  /// Adds the names to a schema.
  public func add(to schema: inout Schema) { schema.removed += names }
}

/// A table of some record, and what is wrong with it.
public struct DeclaredTable: Sendable {
  let definition: TableDefinition
  let faults: [SchemaError]
}

/// Collects tables of any records.
@resultBuilder
public enum TablesBuilder {
  /// One table.
  public static func buildExpression<R: Record>(_ table: TableSchema<R>) -> [DeclaredTable] {
    [DeclaredTable(definition: table.definition, faults: table.complaints)]
  }
  /// Tables that were collected elsewhere.
  public static func buildExpression(_ tables: [DeclaredTable]) -> [DeclaredTable] { tables }
  /// All of them, in order.
  public static func buildBlock(_ parts: [DeclaredTable]...) -> [DeclaredTable] { parts.flatMap { $0 } }
}

/// Collects the parts of a schema.
@resultBuilder
public enum SchemaBuilder {
  /// One part.
  public static func buildExpression(_ part: some SchemaPart) -> [any SchemaPart] { [part] }
  /// All of them, in order.
  public static func buildBlock(_ parts: [any SchemaPart]...) -> [any SchemaPart] { parts.flatMap { $0 } }
}
