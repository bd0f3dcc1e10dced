// SPDX-License-Identifier: Apache-2.0

import SkerryMerge
import SkerryModel
import SkerrySQLiteKit
import SkerryServerCore
import SkerryTables

/// One transaction or snapshot of a server's SQLite file. Lives as long as the closure that gets it.
final class SQLiteTransaction: StorageTransaction {
  let connection: SQLiteConnection
  let catalog: Catalog
  /// Ids of spaces met in this transaction; another one may have given them otherwise.
  private var spaceIDs: [SpaceID: Int64] = [:]

  /// Of the schema by which this process reads and writes.
  let fingerprint: [UInt8]

  init(_ connection: SQLiteConnection, _ catalog: Catalog, fingerprint: [UInt8]) {
    self.connection = connection
    self.catalog = catalog
    self.fingerprint = fingerprint
  }

  /// SQLite itself would check foreign keys that are deferred at the commit, which many mutations share.
  func savepoint<T>(_ body: () throws -> T) throws -> T {
    try SQLiteStorage.translating {
      do {
        return try connection.savepoint {
          let result = try body()
          if connection.hasBrokenForeignKeys { throw StorageError.constraint("FOREIGN KEY constraint failed") }
          return result
        }
      } catch {
        spaceIDs.removeAll()  // one that was given within is gone again
        // RAISE(ROLLBACK) ends more than the savepoint. What followed would be committed statement by statement.
        if !connection.isInTransaction { throw StorageError.ended("\(error)") }
        throw error
      }
    }
  }

  /// The number under which the log names a space; nil if it was never named.
  func knownID(of space: SpaceID) throws -> Int64? {
    if let known = spaceIDs[space] { return known }
    let found = try connection.first("SELECT id FROM skerry_spaces WHERE name = ?", .text(space.text)) { $0.integer(0) }
    if let found { spaceIDs[space] = found }
    return found
  }

  func id(of space: SpaceID) throws -> Int64 {
    if let known = try knownID(of: space) { return known }
    try connection.run(
      "INSERT INTO skerry_spaces(name, head, sum, count) VALUES (?, 0, ?, 0)", .text(space.text),
      .blob(SpaceDigest().bytes))
    spaceIDs[space] = connection.lastInsertedRow
    return connection.lastInsertedRow
  }

  func key(_ table: String, _ text: String) throws -> RowKey {
    guard let values = KeyText.values(text) else { throw StorageError.damaged("key of \(table): \(text)") }
    return RowKey(table, values: values)
  }

  func table(_ name: String) throws -> TableInfo {
    guard let table = catalog.table(name) else { throw StorageError.damaged("unknown table \(name)") }
    return table
  }
}

extension RowKey {
  /// The key as the captures and the log hold it.
  var text: SQLiteValue { .text(KeyText.text(values)) }
  var tableName: SQLiteValue { .text(table) }
  var bindings: [SQLiteValue] { values.map(\.sqlite) }
}
