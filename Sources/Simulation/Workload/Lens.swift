// SPDX-License-Identifier: Apache-2.0

import SkerryModel
import SkerryWire

/// How one version of the schema sees the rows of the last one. Oracles hold every row in the columns of the last version; what
/// an earlier one does not know has its first value there.
final class Lens: Sendable {
  private struct Table: Sendable {
    /// The place of each of its columns in the last version's.
    let places: [Int]
    /// The first values of all columns of the last version.
    let first: [Value]
  }

  let schema: Schema
  let catalog: Catalog
  let codec: JSONCodec
  private let tables: [String: Table]
  var version: Int { schema.version }

  init(_ schema: Schema, last: Schema) throws {
    self.schema = schema
    catalog = try Catalog(schema)
    codec = JSONCodec(catalog: catalog)
    var tables: [String: Table] = [:]
    for full in last.features.flatMap(\.tables) {
      guard let own = schema.features.flatMap(\.tables).first(where: { $0.name == full.name }) else { continue }
      tables[full.name] = Table(
        places: own.columns.map { column in full.columns.firstIndex { $0.name == column.name } ?? 0 },
        first: full.columns.map { $0.rule == .counter ? .integer(0) : $0.defaultValue ?? .null })
    }
    self.tables = tables
  }

  func knows(_ table: String) -> Bool { tables[table] != nil }

  /// A row's values, from the columns of this version to those of the last.
  func full(_ table: String, _ values: [Value]) -> [Value] {
    guard let table = tables[table] else { return values }
    var out = table.first
    for (place, value) in zip(table.places, values) { out[place] = value }
    return out
  }

  /// A row's values in the columns of this version.
  func own(_ table: String, _ full: [Value]) -> [Value] { tables[table]?.places.map { full[$0] } ?? full }

  /// Whether a row that was read with this version is that version of the row.
  ///
  /// - Parameter earlier: the version by which the row may have been fetched, if not all of it has been since.
  func shows(_ version: Version, _ row: Row, fetchedBy earlier: Lens? = nil) -> Bool {
    guard version.tag == row.tag, version.incarnation == row.incarnation else { return false }
    let seen = full(version.key.table, own(version.key.table, version.values))
    if row.values == seen { return true }
    guard let earlier, earlier.version < self.version else { return false }
    let before = earlier.full(version.key.table, earlier.own(version.key.table, version.values))
    return zip(row.values, zip(seen, before)).allSatisfy { $0 == $1.0 || $0 == $1.1 }
  }
}

extension Schema {
  /// This schema as the last of some versions: each adds columns that rows may be without, and the last one a table.
  ///
  /// Every schema that runs through the simulator gets its earlier versions so, an app's own too.
  func versions(_ count: Int) throws -> [Lens] {
    if count == 1 { return [try Lens(self, last: self)] }
    var last = self
    last.version += count - 1
    return try (0..<count).map { index in
      var earlier = last
      earlier.version = version + index
      earlier.keep(upTo: index, of: count)
      return try Lens(earlier, last: last)
    }
  }

  private mutating func keep(upTo index: Int, of count: Int) {
    let isLast = index == count - 1
    var number = 0
    for feature in features.indices {
      for place in features[feature].tables.indices {
        let table = features[feature].tables[place]
        features[feature].tables[place].columns = table.columns.filter { column in
          guard mayBeAdded(column, to: table) else { return true }
          number += 1
          return number % count <= index
        }
      }
    }
    if !isLast, let added = tableThatMayBeAdded {
      for feature in features.indices { features[feature].tables.removeAll { $0.name == added } }
    }
  }

  private func mayBeAdded(_ column: ColumnDefinition, to table: TableDefinition) -> Bool {
    if table.key.contains(column.name) || table.spaces.contains(where: { $0.column == column.name }) { return false }
    if column.reference != nil || table.indexes.contains(where: { $0.columns.contains(column.name) }) { return false }
    for space in spaces {
      if case .table(table.name, let id, let user) = space.members, [id, user].contains(column.name) { return false }
    }
    return column.isOptional || column.rule == .counter || column.defaultValue != nil
  }

  /// One that nothing else in the schema speaks of.
  private var tableThatMayBeAdded: String? {
    let tables = features.flatMap(\.tables)
    guard tables.count > 2 else { return nil }
    return tables.last { table in
      let isNamed = spaces.contains { space in
        if case .table(table.name, _, _) = space.members { true } else { space.root == table.name }
      }
      let isParent = tables.contains { other in
        other.columns.contains { $0.reference?.table == table.name }
          || other.spaces.contains { if case .parent(_, table.name) = $0 { true } else { false } }
      }
      // A space that everybody is in from some version on is none of the world's before.
      let isForAll = table.spaces.contains { if case .constant = $0 { true } else { false } }
      return !isNamed && !isParent && !isForAll
    }?.name
  }
}
