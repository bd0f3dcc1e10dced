// SPDX-License-Identifier: Apache-2.0

import Foundation
package import Skerry

/// Brings the example's contacts into a device, one write a person with their offices. What is there already is passed
/// over, so it can be killed and begun again at any point.
package struct ContactsImport: Sendable {
  /// Where the data is.
  package let folder: String
  private let team: String

  /// - Parameters:
  ///   - folder: where `contacts.ndjson` and `offices.ndjson` are.
  ///   - team: the id of the team that the people go to; it is opened if there is none.
  package init(folder: String, team: String) {
    self.folder = folder
    self.team = team
  }

  /// - Parameter limit: how many people to write at most; nil for all.
  /// - Returns: how many people were written.
  package func run(_ replica: Replica, limit: Int?) async throws -> Int {
    try await openTeam(replica)
    let people = try read("contacts.ndjson")
    let offices = Dictionary(grouping: try read("offices.ndjson")) { $0["contact"]?.text ?? "" }
    var count = 0
    for person in people where limit.map({ count < $0 }) ?? true {
      guard let id = person["id"] else { continue }
      if try await !replica.read("SELECT 1 FROM people WHERE id = ?", [id]).isEmpty { continue }
      let (row, places) = (row(person, "people"), (offices[id.text ?? ""] ?? []).map { self.row($0, "offices") })
      try await replica.write("import") { tx in
        try tx.insert("people", row)
        for place in places { try tx.insert("offices", place) }
      }
      count += 1
    }
    return count
  }

  private func openTeam(_ replica: Replica) async throws {
    let team = Value.text(team)
    if try await !replica.read("SELECT 1 FROM teams WHERE id = ?", [team]).isEmpty { return }
    let account = Value.text(replica.account.text)
    try await replica.write("open team") { tx in
      try tx.insert("teams", ["id": team, "name": "Capitol contacts"])
      try tx.insert("members", ["id": .text(tx.makeID()), "team": team, "user": account])
      try tx.insert("members", ["id": .text(tx.makeID()), "team": team, "user": "ben"])
    }
  }

  private func row(_ record: [String: Value], _ table: String) -> [String: Value] {
    var row = record
    if table == "people" { row["team"] = .text(team) } else { row["person"] = row.removeValue(forKey: "contact") }
    // Some suites are numbers in the source; the column is a text.
    if case .integer(let suite)? = row["suite"] { row["suite"] = .text("\(suite)") }
    return row
  }

  private func read(_ name: String) throws -> [[String: Value]] {
    let text = try String(contentsOfFile: folder + "/" + name, encoding: .utf8)
    return try text.split(separator: "\n").map { line in
      let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any] ?? [:]
      return try object.mapValues(value)
    }
  }

  private func value(_ json: Any) throws -> Value {
    switch json {
    case let text as String: return .text(text)
    case let number as Int: return .integer(Int64(number))
    case let number as Double: return .real(number)
    case is NSNull: return .null
    default:
      let bytes = try JSONSerialization.data(withJSONObject: json, options: [.sortedKeys, .withoutEscapingSlashes])
      return .text(String(decoding: bytes, as: UTF8.self))
    }
  }
}

/// How long this file is: all the code that an app needs for the import.
package let contactsImportLines = #line - 3
