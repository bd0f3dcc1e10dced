// SPDX-License-Identifier: Apache-2.0

package import SkerryMerge
package import SkerryModel
package import SkerrySQLiteKit
package import SkerryServerCore
import SkerryTables

/// All that a server's file says of one row.
///
/// It holds values, for whoever asks for them; a face that shows it decides whether to show those.
package struct ServerRowStory: Sendable {
  /// The row's header: what its trigger last noted.
  package struct Header: Sendable, Equatable {
    /// The number of its newest capture, by which versions are ordered.
    package let number: Int64
    package let version: VersionTag
    package let incarnation: Incarnation
    /// Whether the row is gone, and its end not sequenced yet.
    package let isDead: Bool
  }

  /// The row's entry in a space's log.
  package struct Entry: Sendable, Equatable {
    package let space: SpaceID
    package let position: Int64
    package let kind: EntryKind
  }

  /// A capture of the row that waits for the sequencer.
  package struct Waiting: Sendable, Equatable {
    /// What the writer did.
    package enum Change: Int64, Sendable {
      case insert = 0
      case update = 1
      case delete = 2
    }

    package let number: Int64
    package let change: Change
    /// The mutation's id for a push, unique for another program.
    package let tag: VersionTag
  }

  package let key: RowKey
  package let table: TableInfo
  /// Whether the app's table has it.
  package internal(set) var isThere = false
  /// The row with its identity; nil if it is not there, or was never captured.
  package internal(set) var row: RowState?
  package internal(set) var header: Header?
  /// The spaces in which the sequencer last saw it; nil for a row that it has not seen, or has seen deleted.
  package internal(set) var sequencedSpaces: [SpaceID]?
  package internal(set) var entries: [Entry] = []
  package internal(set) var waiting: [Waiting] = []
  package internal(set) var history = History(epoch: "", head: 0, floor: 0, safe: 0)

  init(_ key: RowKey, _ table: TableInfo) {
    self.key = key
    self.table = table
  }
}

extension SQLiteStorage {
  /// Tells what a server's file says of one row, without opening a storage on it. A caller that wants all of it as of one
  /// moment has a transaction open.
  ///
  /// - Throws: `StorageError.otherSchema` if the database was made with another schema than the catalog's, or that schema has
  ///   no such table; `StorageError.damaged`.
  package static func explain(
    _ key: RowKey, catalog: Catalog, on connection: SQLiteConnection
  ) throws -> ServerRowStory {
    try translating {
      let header = try ServerReport(header: connection)
      let schema = catalog.schema
      if header.fingerprint != schema.fingerprint {
        throw StorageError.otherSchema(
          "the database was made with another declaration (\(header.app) \(header.version)) than the one given "
            + "(\(schema.name) \(schema.version)); give the schema file that the server was started with")
      }
      guard let table = catalog.table(key.table) else {
        throw StorageError.otherSchema("the schema has no table '\(key.table)'")
      }
      var story = ServerRowStory(key, table)
      story.history = header.history
      try story.read(SQLiteTransaction(connection, catalog, fingerprint: header.fingerprint))
      return story
    }
  }
}

extension ServerRowStory {
  fileprivate mutating func read(_ transaction: SQLiteTransaction) throws {
    let connection = transaction.connection
    let sql = TableSQL(table)
    isThere =
      try connection.statement("SELECT 1 FROM \(sql.name) WHERE \(sql.keyCondition)").first(key.bindings) { _ in true }
      ?? false
    row = try transaction.row(key)
    sequencedSpaces = try transaction.sequenced(key)?.spaces.sorted()
    header = try connection.first(
      "SELECT n, tag, inc, idx, dead FROM skerry_rows WHERE tbl = ? AND key = ?", key.tableName, key.text
    ) { try Header($0, key) }
    entries = try entries(connection)
    waiting = try waiting(connection)
  }

  /// Looked up space by space, since the log's key begins with the space.
  private func entries(_ connection: SQLiteConnection) throws -> [Entry] {
    try connection.query(
      """
      SELECT s.name, l.pos, l.kind FROM skerry_spaces AS s CROSS JOIN skerry_log AS l
      ON l.space = s.id AND l.tbl = ? AND l.key = ? ORDER BY l.pos
      """, key.tableName, key.text
    ) { row in
      guard let kind = EntryKind(rawValue: row.integer(2)) else { throw StorageError.damaged("log of \(row.text(0))") }
      return Entry(space: SpaceID(row.text(0)), position: row.integer(1), kind: kind)
    }
  }

  private func waiting(_ connection: SQLiteConnection) throws -> [Waiting] {
    try connection.query(
      "SELECT n, op, tag FROM skerry_captures WHERE tbl = ? AND key = ? ORDER BY n", key.tableName, key.text
    ) { row in
      guard let change = Waiting.Change(rawValue: row.integer(1)), let tag = VersionTag(bytes: row.blob(2)) else {
        throw StorageError.damaged("a capture of \(key.table)")
      }
      return Waiting(number: row.integer(0), change: change, tag: tag)
    }
  }
}

extension ServerRowStory.Header {
  fileprivate init(_ row: SQLiteRow, _ key: RowKey) throws {
    guard let version = VersionTag(bytes: row.blob(1)), let tag = VersionTag(bytes: row.blob(2)) else {
      throw StorageError.damaged("header of \(key)")
    }
    self.init(
      number: row.integer(0), version: version,
      incarnation: Incarnation(tag: tag, index: UInt16(truncatingIfNeeded: row.integer(3))), isDead: row.integer(4) != 0
    )
  }
}
