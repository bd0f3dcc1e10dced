// SPDX-License-Identifier: Apache-2.0
import SkerryModel
import SkerrySQLiteKit

/// The server's file as raw SQL shows it, read without any of the storage's code. Rows are named as captures name them.
struct ServerContent {
  struct Header {
    var number: Int64
    var tag: [UInt8]
    var incarnation: [UInt8]
    var isDead: Bool
    /// What the sequencer remembers; nil if it has not seen the row.
    var spaces: Set<String>?
    var hash: [UInt8]
    /// User and space, by turns.
    var members: [String]
  }

  struct Capture {
    var number: Int64
    var name: Name
    var tag: [UInt8]
  }

  struct Entry {
    var space: Int64
    var name: Name
    var position: Int64
    var kind: Int64
  }

  struct Home {
    var replica: String
    var user: String
    var mutation: [UInt8]
    var position: Int64
  }

  struct Receipt {
    var outcome: String
    var hasReason: Bool
  }

  /// A table and a key text.
  struct Name: Hashable {
    var table: String
    var key: String

    init(_ table: String, _ key: String) {
      self.table = table
      self.key = key
    }

    /// The row with this text as its id; ids with a quote do not occur here.
    init(_ table: String, id: String) { self.init(table, "'\(id)'") }

    var id: String { String(key.dropFirst().dropLast()) }
  }

  private(set) var rows: [Name: [String: Value]] = [:]
  private(set) var headers: [Name: Header] = [:]
  private(set) var captures: [Capture] = []
  private(set) var log: [Entry] = []
  private(set) var spaces: [Int64: (name: String, head: Int64, digest: SpaceDigest?)] = [:]
  private(set) var members: [(user: String, space: String, position: Int64, isInside: Bool)] = []
  private(set) var homes: [Home] = []
  /// By user and mutation.
  private(set) var receipts: [String: [MutationID: Receipt]] = [:]
  private(set) var history = (head: Int64(0), floor: Int64(0), safe: Int64(0))

  init(_ connection: SQLiteConnection, _ catalog: Catalog) throws {
    for table in catalog.tables {
      let columns = table.columns.map(\.name)
      let list = columns.map { "\"\($0)\"" }.joined(separator: ", ")
      let found = try connection.query("SELECT \(list) FROM \"\(table.name)\"") { row in
        Dictionary(uniqueKeysWithValues: zip(columns, columns.indices.map { StoreContent.value(row.value($0)) }))
      }
      for row in found { rows[Name(table.name, id: row["id"]?.text ?? "")] = row }
    }
    try readHeaders(connection)
    try readLog(connection)
    try readReceipts(connection)
  }

  private mutating func readHeaders(_ connection: SQLiteConnection) throws {
    _ = try connection.query("SELECT tbl, key, n, tag, inc, idx, dead, spaces, hash, members FROM skerry_rows") { row in
      let index = row.integer(5)
      headers[Name(row.text(0), row.text(1))] = Header(
        number: row.integer(2), tag: row.blob(3),
        incarnation: row.blob(4) + [UInt8(index / 256), UInt8(index % 256)], isDead: row.integer(6) != 0,
        spaces: row.isNull(7) ? nil : Set(try Self.texts(row.blob(7))), hash: row.blob(8),
        members: row.isNull(9) ? [] : try Self.texts(row.blob(9)))
    }
    captures = try connection.query("SELECT n, tbl, key, tag FROM skerry_captures ORDER BY n") { row in
      Capture(number: row.integer(0), name: Name(row.text(1), row.text(2)), tag: row.blob(3))
    }
  }

  private static func texts(_ bytes: [UInt8]) throws -> [String] {
    var reader = CBORReader(bytes)
    return try reader.values().compactMap(\.text)
  }

  private mutating func readLog(_ connection: SQLiteConnection) throws {
    log = try connection.query("SELECT space, tbl, key, pos, kind FROM skerry_log") { row in
      Entry(
        space: row.integer(0), name: Name(row.text(1), row.text(2)), position: row.integer(3), kind: row.integer(4))
    }
    _ = try connection.query("SELECT id, name, head, sum, count FROM skerry_spaces") { row in
      spaces[row.integer(0)] = (row.text(1), row.integer(2), SpaceDigest(bytes: row.blob(3), rows: row.integer(4)))
    }
    members = try connection.query("SELECT user, space, pos, inside FROM skerry_members") { row in
      (row.text(0), row.text(1), row.integer(2), row.integer(3) != 0)
    }
    let found = try connection.query("SELECT head, floor, safe FROM skerry_history") { row in
      (row.integer(0), row.integer(1), row.integer(2))
    }
    guard found.count == 1, let first = found.first else { throw Unreadable() }
    history = first
  }

  private mutating func readReceipts(_ connection: SQLiteConnection) throws {
    homes = try connection.query("SELECT replica, user, mid, pos FROM skerry_homes") { row in
      Home(replica: row.text(0), user: row.text(1), mutation: row.blob(2), position: row.integer(3))
    }
    _ = try connection.query("SELECT user, mid, outcome, reason FROM skerry_receipts") { row in
      guard let id = MutationID(bytes: row.blob(1)) else { throw Unreadable() }
      receipts[row.text(0), default: [:]][id] = Receipt(outcome: row.text(2), hasReason: !row.isNull(3))
    }
  }

  // MARK: By definition

  /// The spaces of a row as it is now, by the model schema's rules.
  func spaces(of name: Name) -> Set<String> {
    guard let row = rows[name] else { return [] }
    func texts(_ columns: [String], _ prefix: String = "") -> Set<String> {
      Set(columns.compactMap { row[$0]?.text }.map { prefix + $0 }.filter { !$0.hasPrefix("replica:") })
    }
    func parent(_ table: String) -> Set<String> {
      row["parent"]?.text.map { spaces(of: Name(table, id: $0)) } ?? []
    }
    return switch name.table {
    case "team": texts(["id"], "team:")
    case "member": texts(["team"], "team:")
    case "note": parent("item")
    case "part": parent("note")
    default: texts(["home", "also"])
    }
  }

  /// The spaces that a user may see, by the membership rows as they are now.
  func spaces(ofUser user: String) -> Set<String> {
    var out: Set = ["user:" + user]
    for (name, row) in rows where name.table == "member" && row["user"]?.text == user {
      if let team = row["team"]?.text { out.insert("team:" + team) }
    }
    return out
  }

  /// A row with its identity; nil if there is none, or it has no header.
  func content(_ name: Name) -> RowContent? {
    guard let row = rows[name], let header = headers[name] else { return nil }
    return RowContent(values: row, tag: header.tag, incarnation: header.incarnation)
  }
}
