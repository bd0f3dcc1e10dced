// SPDX-License-Identifier: Apache-2.0
import SkerryModel
import SkerrySQLiteKit
import SkerryTestSupport
import SkerryTesting

/// Which rows of the server an account may see, by definition and by SQL written here by hand.
struct Scope {
  let user: AccountID

  /// The spaces that the account is in.
  var spaces: String { "SELECT 'user:\(user)' UNION SELECT 'team:' || team FROM member WHERE user = '\(user)'" }

  /// The condition for a table of the model's schema or of the scripted history's.
  func condition(_ table: String) -> String {
    switch table {
    case "team": "('team:' || team.id) IN (\(spaces))"
    case "member": "('team:' || member.team) IN (\(spaces))"
    case "item", "doc": "(\(table).home IN (\(spaces)) OR \(table).also IN (\(spaces)))"
    case "note": "note.parent IN (SELECT item.id FROM item WHERE \(condition("item")))"
    case "part": "part.parent IN (SELECT note.id FROM note WHERE \(condition("note")))"
    default: "0"
    }
  }

  /// The rows of one space.
  static func condition(_ table: String, in space: SpaceID) -> String {
    switch table {
    case "team": "('team:' || team.id) = '\(space)'"
    case "member": "('team:' || member.team) = '\(space)'"
    case "item", "doc": "'\(space)' IN (\(table).home, \(table).also)"
    case "note": "note.parent IN (SELECT item.id FROM item WHERE \(condition("item", in: space)))"
    case "part": "part.parent IN (SELECT note.id FROM note WHERE \(condition("note", in: space)))"
    default: "0"
    }
  }

  /// The account's spaces as they are now.
  func spaces(_ connection: SQLiteConnection) throws -> [SpaceID] {
    try connection.query(spaces) { SpaceID($0.text(0)) }.sorted()
  }

  /// The same of rows that were copied: whose spaces, by their own columns or by what they are below, are among the account's.
  func rows(_ all: Lines, _ reader: LineReader) -> Lines {
    var mine: Set<String> = ["user:\(user)"]
    for (name, line) in all where name.table == "member" && line.text("user", reader, name) == user.text {
      mine.insert("team:\(line.text("team", reader, name) ?? "")")
    }
    func isMine(_ name: Name, _ line: Line) -> Bool {
      switch name.table {
      case "team": return mine.contains("team:\(name.id)")
      case "member": return mine.contains("team:\(line.text("team", reader, name) ?? "")")
      case "note", "part":
        let parent = Name(name.table == "note" ? "item" : "note", line.text("parent", reader, name) ?? "")
        return all[parent].map { isMine(parent, $0) } ?? false
      default: return ["home", "also"].contains { mine.contains(line.text($0, reader, name) ?? "") }
      }
    }
    return all.filter { isMine($0.key, $0.value) }
  }
}

extension Line {
  fileprivate func text(_ column: String, _ reader: LineReader, _ name: Name) -> String? {
    reader.table(name.table)?.columns.firstIndex(of: column).flatMap { values[$0].text }
  }
}
