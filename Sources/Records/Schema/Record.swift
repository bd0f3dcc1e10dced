// SPDX-License-Identifier: Apache-2.0

public import SkerryModel

/// A row of a table as a structure of the app's.
///
/// ```swift
/// struct Person: Record {
///   var id = RowID<Person>()
///   var team: RowID<Team>
///   var name: String
///   var visits = 0
///   static let table = TableSchema<Person>("people") {
///     Column("team", \.team)
///     Column("name", \.name)
///     Column("visits", \.visits, .counter)
///   }.space("team", by: \.team)
/// }
/// ```
///
/// A column's name is the coding key of its property. What is declared is tried out when the schema is made: a name that is no
/// property, a property without a column, and two that are mixed up are faults that `Replica.open` throws.
public protocol Record: Codable, Sendable, Identifiable where ID: Sendable {
  /// The table and its columns.
  static var table: TableSchema<Self> { get }
}

extension Record {
  /// Table and key columns, for records that have no property `id`.
  public var id: RowKey { Self.table.key(of: self) }
}

extension Record {
  /// Reads a record from all its columns, in the order of the declaration.
  ///
  /// - Throws: `DecodingError` if a value is none of the property's.
  package init(row values: [Value]) throws { self = try Row(Self.table.names, values).decoded(as: Self.self) }
}
