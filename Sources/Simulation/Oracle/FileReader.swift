// SPDX-License-Identifier: Apache-2.0

import SkerryModel
import SkerrySQLiteKit
import SkerryTables

/// Reads rows of both sides' files by SQL of its own, in whatever version of the schema they are, as the last one has them.
struct FileReader {
  private struct Table {
    let definition: TableDefinition
    let key: [Int]
    let server: String
    let serverKey: String
    let device: String
  }

  private struct Tables {
    let lens: Lens
    let all: [Table]
    let byName: [String: Int]
  }

  private let versions: [Int: Tables]

  init(_ lenses: [Lens]) {
    versions = Dictionary(uniqueKeysWithValues: lenses.map { ($0.version, FileReader.tables($0)) })
  }

  private static func tables(_ lens: Lens) -> Tables {
    let (schema, catalog) = (lens.schema, lens.catalog)
    let tables = schema.features.flatMap(\.tables).sorted { $0.name < $1.name }.map { definition in
      let name = "\"\(definition.name)\""
      let list = definition.columns.map { "\(name).\"\($0.name)\"" }.joined(separator: ", ")
      let keyText = catalog.table(definition.name).map { KeyText.expression($0, prefix: name) } ?? "''"
      let join = "JOIN skerry_rows AS h ON h.tbl = '\(definition.name)' AND h.key = \(keyText)"
      return Table(
        definition: definition,
        key: definition.key.map { column in definition.columns.firstIndex { $0.name == column } ?? 0 },
        server: "SELECT \(list), h.tag, h.inc, h.idx FROM \(name) \(join)",
        serverKey: definition.key.map { "\(name).\"\($0)\" = ?" }.joined(separator: " AND "),
        device: "SELECT \(list), skerry_tag, skerry_inc, skerry_space, skerry_gen, skerry_state FROM \(name)")
    }
    return Tables(
      lens: lens, all: tables,
      byName: Dictionary(uniqueKeysWithValues: tables.enumerated().map { ($1.definition.name, $0) }))
  }

  /// The version of a server's file.
  func serverVersion(_ connection: SQLiteConnection) throws -> Lens { try serverTables(connection).lens }

  private func serverTables(_ connection: SQLiteConnection) throws -> Tables {
    try tables(connection.first("SELECT version FROM skerry_history") { Int($0.integer(0)) })
  }

  private func tables(_ version: Int?) throws -> Tables {
    guard let tables = version.flatMap({ versions[$0] }) else {
      throw Broken("I-19 a file is of a version that never was", "\(version ?? -1)")
    }
    return tables
  }

  /// The version of a device's file.
  func deviceVersion(_ connection: SQLiteConnection) throws -> Lens {
    try tables(connection.first("SELECT version FROM skerry_state") { Int($0.integer(0)) }).lens
  }

  /// One row of the server's file, with the header that its trigger keeps.
  func row(_ key: RowKey, _ connection: SQLiteConnection) throws -> Row? {
    let tables = try serverTables(connection)
    guard let index = tables.byName[key.table] else { return nil }
    let table = tables.all[index]
    return try connection.statement("\(table.server) WHERE \(table.serverKey)").first(key.values.map(\.sqlite)) {
      try FileReader.serverRow($0, table, tables.lens)
    }
  }

  /// All rows of the server's file.
  func rows(_ connection: SQLiteConnection) throws -> [RowKey: Row] {
    var out: [RowKey: Row] = [:]
    let tables = try serverTables(connection)
    for table in tables.all {
      for row in try connection.query(table.server, row: { try FileReader.serverRow($0, table, tables.lens) }) {
        let values = tables.lens.own(table.definition.name, row.values)
        out[RowKey(table.definition.name, values: table.key.map { values[$0] })] = row
      }
      // A row without a header is one that no trigger has seen.
      let all = try connection.first("SELECT count(*) FROM \"\(table.definition.name)\"") { $0.integer(0) } ?? 0
      let seen = out.keys.reduce(0) { $0 + ($1.table == table.definition.name ? 1 : 0) }
      try need(
        all == seen, "F-S16 rows that no trigger has seen", "\(table.definition.name): \(all) rows, \(seen) headers")
    }
    return out
  }

  private static func serverRow(_ row: SQLiteRow, _ table: Table, _ lens: Lens) throws -> Row {
    let count = table.definition.columns.count
    guard let tag = VersionTag(bytes: row.blob(count)), let begin = VersionTag(bytes: row.blob(count + 1)) else {
      throw Broken("I-14 a row header cannot be read", "\(row.text(0))")
    }
    let incarnation = Incarnation(tag: begin, index: UInt16(truncatingIfNeeded: row.integer(count + 2)))
    let values = lens.full(table.definition.name, row.modelValues(0..<count))
    return Row(values: values, tag: tag, incarnation: incarnation)
  }

  /// Every row that a device's app table holds.
  func visible(
    _ connection: SQLiteConnection, as lens: Lens, _ visit: (RowKey, Row, SQLiteRow, Int) throws -> Void
  ) throws {
    for table in try tables(lens.version).all {
      let count = table.definition.columns.count
      _ = try connection.query(table.device) { row in
        let values = row.modelValues(0..<count)
        let key = RowKey(table.definition.name, values: table.key.map { values[$0] })
        guard let tag = VersionTag(bytes: row.blob(count)), let incarnation = Incarnation(bytes: row.blob(count + 1))
        else { throw Broken("I-5 hidden columns cannot be read", "\(key)") }
        let full = lens.full(table.definition.name, values)
        try visit(key, Row(values: full, tag: tag, incarnation: incarnation), row, count + 2)
      }
    }
  }
}
