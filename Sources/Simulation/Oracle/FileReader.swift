// SPDX-License-Identifier: Apache-2.0

import SkerryModel
import SkerrySQLiteKit
import SkerryTables

/// Reads rows of both sides' files by SQL of its own.
struct FileReader {
  private struct Table {
    let definition: TableDefinition
    let key: [Int]
    let server: String
    let serverKey: String
    let device: String
  }

  private let tables: [Table]
  private let byName: [String: Int]

  init(_ schema: Schema) {
    let catalog = try? Catalog(schema)
    tables = schema.features.flatMap(\.tables).sorted { $0.name < $1.name }.map { definition in
      let name = "\"\(definition.name)\""
      let list = definition.columns.map { "\(name).\"\($0.name)\"" }.joined(separator: ", ")
      let keyText = catalog?.table(definition.name).map { KeyText.expression($0, prefix: name) } ?? "''"
      let join = "JOIN skerry_rows AS h ON h.tbl = '\(definition.name)' AND h.key = \(keyText)"
      return Table(
        definition: definition,
        key: definition.key.map { column in definition.columns.firstIndex { $0.name == column } ?? 0 },
        server: "SELECT \(list), h.tag, h.inc, h.idx FROM \(name) \(join)",
        serverKey: definition.key.map { "\(name).\"\($0)\" = ?" }.joined(separator: " AND "),
        device: "SELECT \(list), skerry_tag, skerry_inc, skerry_space, skerry_gen, skerry_state FROM \(name)")
    }
    byName = Dictionary(uniqueKeysWithValues: tables.enumerated().map { ($1.definition.name, $0) })
  }

  /// One row of the server's file, with the header that its trigger keeps.
  func row(_ key: RowKey, _ connection: SQLiteConnection) throws -> Row? {
    guard let index = byName[key.table] else { return nil }
    let table = tables[index]
    return try connection.statement("\(table.server) WHERE \(table.serverKey)").first(key.values.map(\.sqlite)) {
      try FileReader.serverRow($0, table.definition.columns.count)
    }
  }

  /// All rows of the server's file.
  func rows(_ connection: SQLiteConnection) throws -> [RowKey: Row] {
    var out: [RowKey: Row] = [:]
    for table in tables {
      let count = table.definition.columns.count
      for row in try connection.query(table.server, row: { try FileReader.serverRow($0, count) }) {
        out[RowKey(table.definition.name, values: table.key.map { row.values[$0] })] = row
      }
      // A row without a header is one that no trigger has seen.
      let all = try connection.first("SELECT count(*) FROM \"\(table.definition.name)\"") { $0.integer(0) } ?? 0
      let seen = out.keys.reduce(0) { $0 + ($1.table == table.definition.name ? 1 : 0) }
      try need(
        all == seen, "F-S16 rows that no trigger has seen", "\(table.definition.name): \(all) rows, \(seen) headers")
    }
    return out
  }

  private static func serverRow(_ row: SQLiteRow, _ count: Int) throws -> Row {
    guard let tag = VersionTag(bytes: row.blob(count)), let begin = VersionTag(bytes: row.blob(count + 1)) else {
      throw Broken("I-14 a row header cannot be read", "\(row.text(0))")
    }
    let incarnation = Incarnation(tag: begin, index: UInt16(truncatingIfNeeded: row.integer(count + 2)))
    return Row(values: row.modelValues(0..<count), tag: tag, incarnation: incarnation)
  }

  /// Every row that a device's app table holds.
  func visible(_ connection: SQLiteConnection, _ visit: (RowKey, Row, SQLiteRow, Int) throws -> Void) throws {
    for table in tables {
      let count = table.definition.columns.count
      _ = try connection.query(table.device) { row in
        let values = row.modelValues(0..<count)
        let key = RowKey(table.definition.name, values: table.key.map { values[$0] })
        guard let tag = VersionTag(bytes: row.blob(count)), let incarnation = Incarnation(bytes: row.blob(count + 1))
        else { throw Broken("I-5 hidden columns cannot be read", "\(key)") }
        try visit(key, Row(values: values, tag: tag, incarnation: incarnation), row, count + 2)
      }
    }
  }
}
