// SPDX-License-Identifier: Apache-2.0

import SkerryModel
import SkerrySQLiteKit
import SkerryServerCore
import SkerryTables

/// The unique indexes of a table, kept by triggers over plain indexes.
///
/// A unique index of SQLite's own would let `INSERT OR REPLACE` evict another row without firing any trigger
/// (https://www.sqlite.org/lang_conflict.html), and no device would hear of it. A trigger that comes before the insert refuses
/// it instead, whatever the statement says about conflicts.
struct UniqueTriggers {
  private let table: TableInfo
  private let sql: TableSQL
  private let indexes: [IndexDefinition]

  init(_ table: TableInfo) {
    self.table = table
    sql = TableSQL(table)
    indexes = table.definition.indexes.filter(\.isUnique)
  }

  var statements: [String] {
    indexes.flatMap { index in
      let columns = index.columns.map(TableSQL.quoted).joined(separator: ", ")
      return [
        trigger(index, "insert", "BEFORE INSERT", except: "NEW"),
        trigger(index, "update", "BEFORE UPDATE OF \(columns)", except: "OLD"),
      ]
    }
  }

  private func trigger(_ index: IndexDefinition, _ verb: String, _ event: String, except row: String) -> String {
    let title = TableSQL.quoted(name(index, verb))
    let same = index.columns.map { "o.\(TableSQL.quoted($0)) = NEW.\(TableSQL.quoted($0))" }
    let itself = table.definition.key.map { "o.\(TableSQL.quoted($0)) = \(row).\(TableSQL.quoted($0))" }
    return """
      CREATE TRIGGER IF NOT EXISTS \(title) \(event) ON \(sql.name)
      WHEN EXISTS (SELECT 1 FROM \(sql.name) AS o
        WHERE \(same.joined(separator: " AND ")) AND NOT (\(itself.joined(separator: " AND "))))
      BEGIN SELECT RAISE(ABORT, '\(sql.breach(of: index))'); END
      """
  }

  private func name(_ index: IndexDefinition, _ verb: String) -> String {
    "skerry_unique_\(verb)_\(table.name)(\(index.columns.joined(separator: ",")))"
  }

  /// Rows that were there before the index was declared may not break it.
  ///
  /// - Throws: `StorageError.otherSchema` if they do.
  func checkRows(on connection: SQLiteConnection) throws {
    for index in indexes {
      let isThere = try connection.first(
        "SELECT count(*) FROM sqlite_schema WHERE name = ?", .text(table.name)
      ) { $0.integer(0) > 0 }
      let isKept = try connection.first(
        "SELECT count(*) FROM sqlite_schema WHERE name = ?", .text(name(index, "insert"))
      ) { $0.integer(0) > 0 }
      if isThere != true || isKept == true { continue }
      let columns = index.columns.map(TableSQL.quoted)
      let isWhole = columns.map { "\($0) IS NOT NULL" }.joined(separator: " AND ")
      let list = columns.joined(separator: ", ")
      let isBroken = try connection.first(
        "SELECT 1 FROM \(sql.name) WHERE \(isWhole) GROUP BY \(list) HAVING count(*) > 1 LIMIT 1"
      ) { _ in true }
      if isBroken == true {
        throw StorageError.otherSchema(
          "table '\(table.name)' has rows with the same (\(index.columns.joined(separator: ", "))), which is declared unique; "
            + "change these rows or the declaration")
      }
    }
  }
}
