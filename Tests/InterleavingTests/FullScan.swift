// SPDX-License-Identifier: Apache-2.0

import SkerryModel
import SkerrySQLiteKit
import SkerryStore

/// What the server's tables and a device's hold when all is at rest, read row by row with plain SQL.
struct FullScan {
  private let server: SQLiteConnection

  init(_ server: SQLiteConnection) { self.server = server }

  /// All rows that an account may see, as text; the rule for spaces is SQL written by hand.
  func scope(of user: AccountID) throws -> [String] {
    let inside = """
      (SELECT 'user:' || ?1 AS name UNION SELECT 'team:' || team FROM member WHERE account = ?1)
      """
    let item = "SELECT id FROM item WHERE home IN \(inside) OR also IN \(inside)"
    let note = "SELECT id FROM note WHERE item IN (\(item))"
    let queries = [
      "SELECT 'item', id, token, home, also FROM item WHERE id IN (\(item))",
      "SELECT 'note', id, token, item, NULL FROM note WHERE id IN (\(note))",
      "SELECT 'part', id, token, note, NULL FROM part WHERE note IN (\(note))",
      "SELECT 'member', id, token, team, account FROM member WHERE 'team:' || team IN \(inside)",
    ]
    return try queries.flatMap { try server.query($0, .text(user.text), row: FullScan.line) }.sorted()
  }

  /// All rows of the server.
  func all() throws -> [String] { try FullScan.rows(server) }

  /// All rows that a device shows.
  static func rows(_ connection: SQLiteConnection) throws -> [String] {
    let queries = [
      "SELECT 'item', id, token, home, also FROM item", "SELECT 'note', id, token, item, NULL FROM note",
      "SELECT 'part', id, token, note, NULL FROM part", "SELECT 'member', id, token, team, account FROM member",
    ]
    return try queries.flatMap { try connection.query($0, row: line) }.sorted()
  }

  /// The same rows as the writers told them.
  static func rows(_ log: CommitLog) -> [String] {
    log.rows.enumerated().compactMap { row, content in
      guard let content else { return nil }
      let table = Place.table(row)
      let parts: [String?] =
        switch table {
        case .item: [content.home.name, content.also.name]
        case .note, .part: ["\(content.parent)", nil]
        case .member: [content.home.team, Place.users[content.user].text]
        }
      return ([table.rawValue, "\(row)", "\(content.token)"] + parts.map { $0 ?? "-" }).joined(separator: " ")
    }.sorted()
  }

  private static func line(_ row: SQLiteRow) -> String {
    (0..<5).map { row.isNull($0) ? "-" : row.text($0) }.joined(separator: " ")
  }

  /// The sum and the number of rows that a device keeps for a space.
  static func digest(of space: SpaceID, _ store: Store) throws -> SpaceDigest? {
    try store.withConnection { connection in
      try connection.first("SELECT sum, count FROM skerry_spaces WHERE name = ?", .text(space.text)) {
        SpaceDigest(bytes: $0.blob(0), rows: $0.integer(1))
      } ?? nil
    }
  }
}
