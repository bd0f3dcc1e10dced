// SPDX-License-Identifier: Apache-2.0

import SkerryModel
import SkerrySQLiteKit

/// All that is compared of a database, as texts that SQLite itself writes: a line a row, in the order of keys.
///
/// One statement reads everything, so that a whole comparison after every step costs no more than a few rows in Swift.
struct HistoryImage: Equatable {
  /// The app's rows with version and incarnation.
  var rows: String
  var outbox = ""
  var inbox = ""
  var archive = ""
  var staged: Int64 = 0

  static func ofDevice(_ connection: SQLiteConnection) throws -> HistoryImage {
    let found = try connection.first(deviceSQL) { row in
      HistoryImage(
        rows: row.text(0), outbox: row.text(1), inbox: row.text(2), archive: row.text(3), staged: row.integer(4))
    }
    guard let found else { throw Difference("a device without an image") }
    return found
  }

  /// The server's rows with their headers.
  static func ofServer(_ connection: SQLiteConnection) throws -> HistoryImage {
    HistoryImage(rows: try connection.first(serverSQL) { $0.text(0) } ?? "")
  }

  private static let deviceSQL = """
    SELECT \(HistoryTable.all.map { rows($0, "hex(skerry_tag)", "hex(skerry_inc)", from: "\"\($0.name)\"") }
      .joined(separator: " || ")),
      \(lines("hex(mid) || ' ' || n || ' ' || void || sent || dormant", of: "skerry_outbox ORDER BY made")),
      \(lines("hex(mid) || ' ' || outcome || ' ' || ifnull(code, '-')", of: "skerry_inbox ORDER BY mid")),
      \(lines("hex(mid)", of: "skerry_archive ORDER BY mid")),
      (SELECT count(*) FROM skerry_stage)
    """

  private static let serverSQL =
    "SELECT "
    + HistoryTable.all.map { table in
      let header = "LEFT JOIN skerry_rows AS h ON h.tbl = '\(table.name)' AND h.key = quote(id)"
      return rows(
        table, "hex(h.tag)", "hex(h.inc) || printf('%04X', h.idx)", from: "\"\(table.name)\" \(header)")
    }.joined(separator: " || ")

  private static func rows(_ table: HistoryTable, _ version: String, _ life: String, from source: String) -> String {
    let values = table.columns.map { "quote(\"\(table.name)\".\"\($0.name)\") || ' ' || " }.joined()
    let line = "'\(table.name)/' || id || ' ' || \(values)\(version) || ' ' || \(life)"
    return lines(line, of: source + " ORDER BY id")
  }

  /// All lines as one text.
  private static func lines(_ line: String, of source: String) -> String {
    "ifnull((SELECT group_concat(line, '') FROM (SELECT \(line) || char(10) AS line FROM \(source))), '')"
  }

  /// What each has and the other has not, part by part; nil when they are equal but for the order of rows.
  func difference(from expected: HistoryImage) -> String? {
    var out =
      HistoryImage.difference("rows", rows, expected.rows) + HistoryImage.difference("inbox", inbox, expected.inbox)
    out += HistoryImage.difference("archive", archive, expected.archive)
    if outbox != expected.outbox { out += ["outbox: expected", expected.outbox, "found", outbox] }
    if staged != expected.staged { out.append("staged: expected \(expected.staged), found \(staged)") }
    return out.isEmpty ? nil : out.joined(separator: "\n")
  }

  private static func difference(_ part: String, _ found: String, _ expected: String) -> [String] {
    let found = found.split(separator: "\n").sorted()
    let expected = expected.split(separator: "\n").sorted()
    if found == expected { return [] }
    return [part + ":"] + expected.filter { !found.contains($0) }.map { "  expected \($0)" }
      + found.filter { !expected.contains($0) }.map { "  found    \($0)" }
  }
}
