// SPDX-License-Identifier: Apache-2.0

public import SkerryModel

/// A table of an app, tied to the structure that its rows are read into.
///
/// It is a declaration, made once: `static let table = …` in the record. The names of the columns and the properties that they
/// hold are tried out when a schema is made of it.
public struct TableSchema<R: Record>: Sendable {
  /// The same without Swift types, as a schema file has it. Not in use before all records' tables have been made, since they may
  /// refer to each other.
  public var definition: TableDefinition {
    var out = base
    for (index, column) in columns.enumerated() {
      if let target = column.target { out.columns[index].reference?.table = target() }
    }
    out.spaces = rules.map { $0() }
    return out
  }
  private var base: TableDefinition
  private var rules: [@Sendable () -> SpaceRule] = []
  private let columns: [Column<R>]
  /// How each column is read: apart, so that no whole column is handed on for each value.
  private let readings: [@Sendable (R) throws(ColumnFault) -> Value]
  /// What cannot be said of the definition itself.
  private(set) var faults: [SchemaError]

  /// A table whose key is the column `id`, held by the property of that name.
  ///
  /// - Parameters:
  ///   - name: the table's name, the same on the device and on the server.
  ///   - columns: all columns but `id`.
  public init(_ name: String, @ColumnsBuilder<R> _ columns: () -> [Column<R>]) where R.ID == RowID<R> {
    self.init(name, id: .uuid, columns)
  }

  /// A table whose key is the column `id`, held by the property of that name.
  ///
  /// - Parameters:
  ///   - name: the table's name, the same on the device and on the server.
  ///   - id: `.uuid` for ids that are made by `RowID()`, `.text` if the data brings others.
  ///   - columns: all columns but `id`.
  public init(
    _ name: String, id: ColumnType, @ColumnsBuilder<R> _ columns: () -> [Column<R>]
  ) where R.ID == RowID<R> {
    self.init(name, key: ["id"], [Column("id", \.id, as: id)] + columns())
  }

  /// A table with another key than a column `id`.
  ///
  /// - Parameters:
  ///   - name: the table's name, the same on the device and on the server.
  ///   - key: the names of the columns that make the key.
  ///   - columns: all columns, those of the key included.
  public init(_ name: String, key: [String], @ColumnsBuilder<R> _ columns: () -> [Column<R>]) {
    self.init(name, key: key, columns())
  }

  private init(_ name: String, key: [String], _ columns: [Column<R>]) {
    self.columns = columns
    readings = columns.map(\.read)
    base = TableDefinition(name, columns: columns.map(\.definition), key: key, spaces: [])
    names = ColumnNames(columns.map(\.definition.name))
    faults = columns.flatMap(\.faults).map { SchemaError(name, $0.column, $0.reason, $0.remedy) }
  }

  // MARK: Spaces, conflicts, names of before, indexes

  /// The property holds the id of a space of this kind; null means no space by this rule. The built-in kind `user` is the space of
  /// one account.
  public func space<V: ColumnValue>(_ kind: String, by property: KeyPath<R, V>) -> TableSchema {
    rule(property) { column in { .owner(column: column, kind: kind) } }
  }

  /// The property holds the whole name of a space, `kind:id`; null means no space by this rule.
  public func space<V: ColumnValue>(named property: KeyPath<R, V>) -> TableSchema {
    rule(property) { column in { .named(column: column) } }
  }

  /// Every row is in this space.
  public func space(_ space: SpaceID) -> TableSchema {
    var out = self
    out.rules.append { .constant(space) }
    return out
  }

  /// The rows are in the spaces of the row to which the property refers.
  public func space<P: Record>(of parent: KeyPath<R, RowID<P>>) -> TableSchema {
    rule(parent) { column in { .parent(column: column, table: P.table.name) } }
  }

  /// The rows are in the spaces of the row to which the property refers; null means no space by this rule.
  public func space<P: Record>(of parent: KeyPath<R, RowID<P>?>) -> TableSchema {
    rule(parent) { column in { .parent(column: column, table: P.table.name) } }
  }

  /// An edit of a row that has changed since its writer saw it is a conflict.
  public func checksVersions() -> TableSchema {
    var out = self
    out.base.detection = .version
    return out
  }

  /// What the table was called in earlier versions of the schema.
  public func was(_ formerNames: String...) -> TableSchema {
    var out = self
    out.base.formerNames += formerNames
    return out
  }

  /// Columns of earlier versions that are gone on purpose: their values are given up.
  public func removed(_ columns: String...) -> TableSchema {
    var out = self
    out.base.removed += columns
    return out
  }

  /// An index over these properties, for queries that look for them.
  public func index(_ properties: PartialKeyPath<R>...) -> TableSchema { index(properties, isUnique: false) }

  /// No two rows may have the same values in these properties. Rows with a null in one of them are never the same.
  ///
  /// The server decides; a device predicts it from the rows that it holds.
  public func unique(_ properties: PartialKeyPath<R>...) -> TableSchema { index(properties, isUnique: true) }

  private func index(_ properties: [PartialKeyPath<R>], isUnique: Bool) -> TableSchema {
    var out = self
    out.base.indexes.append(IndexDefinition(properties.map { out.column($0) }, unique: isUnique))
    return out
  }

  private func rule(
    _ property: PartialKeyPath<R>, _ make: (String) -> @Sendable () -> SpaceRule
  ) -> TableSchema {
    var out = self
    out.rules.append(make(out.column(property)))
    return out
  }

  /// The name of a property's column. One that has none is a fault of the declaration, which `Replica.open` throws.
  private mutating func column(_ property: PartialKeyPath<R>) -> String {
    if let name = name(of: property) { return name }
    faults.append(
      SchemaError(
        name, "a property of \(R.self) is used that has no column", "declare a Column for it in the table"))
    return base.columns.first?.name ?? "id"
  }

  /// The name of the property's column; nil if it has none.
  package func name(of property: PartialKeyPath<R>) -> String? {
    if let column = columns.first(where: { $0.path == property }) { return column.definition.name }
    // `id` is declared by way of Identifiable here and by the record itself there, which are two key paths.
    return property is KeyPath<R, RowID<R>> && key == ["id"] ? "id" : nil
  }

  // MARK: Records

  /// The table's name.
  package var name: String { base.name }
  /// The names of the columns that make the key.
  package var key: [String] { base.key }

  /// The names of the columns, for the rows that are made here.
  let names: ColumnNames

  /// The record's columns, in the order of the declaration.
  ///
  /// - Throws: `OperationError` if a property cannot be held.
  package func values(of record: R) throws(OperationError) -> [Value] {
    var out: [Value] = []
    out.reserveCapacity(columns.count)
    for index in readings.indices {
      do throws(ColumnFault) { out.append(try readings[index](record)) } catch {
        throw OperationError(name, columns[index].definition.name, error.description)
      }
    }
    return out
  }

  /// The record's key. A key column that cannot be held is null in it, and names no row.
  func key(of record: R) -> RowKey {
    let values = key.map { name -> Value in
      guard let column = columns.first(where: { $0.definition.name == name }) else { return .null }
      return (try? column.read(record)) ?? .null
    }
    return RowKey(name, values: values)
  }

  /// What a schema finds wrong with the declaration.
  var complaints: [SchemaError] { faults + RecordCheck(R.self, name, columns).complaints }
}

/// Collects the columns of a table.
@resultBuilder
public enum ColumnsBuilder<R: Record> {
  /// One column; it tells the compiler whose property a key path names.
  public static func buildExpression(_ column: Column<R>) -> [Column<R>] { [column] }
  /// All of them, in order.
  public static func buildBlock(_ parts: [Column<R>]...) -> [Column<R>] { parts.flatMap { $0 } }
}
