// SPDX-License-Identifier: Apache-2.0

import Foundation
package import Skerry

/// Brings the example's contacts into a device, one write a person with their offices. What is there already is passed
/// over, so it can be killed and begun again at any point.
package struct ContactsImport: Sendable {
  /// Where the data is.
  package let folder: String
  private let team: RowID<Team>

  /// - Parameters:
  ///   - folder: where `contacts.ndjson` and `offices.ndjson` are.
  ///   - team: the id of the team that the people go to; it is opened if there is none.
  package init(folder: String, team: String) {
    self.folder = folder
    self.team = RowID(team)
  }

  /// - Parameter limit: how many people to write at most; nil for all.
  /// - Returns: how many people were written.
  package func run(_ replica: Replica, limit: Int?) async throws -> Int {
    try await openTeam(replica)
    let offices = Dictionary(
      grouping: try read(Office.self, "offices.ndjson", naming: ["contact": "person"]), by: \.person)
    let known = Set(try await replica.read(Query(String.self, "SELECT id FROM people")))
    let people = try read(Person.self, "contacts.ndjson", adding: ["team": team.text, "visits": 0])
    let new = people.filter { !known.contains($0.id.text) }.prefix(limit ?? .max)
    for person in new {
      let places = offices[person.id] ?? []
      try await replica.write("import") { tx in
        try tx.insert(person)
        try tx.insert(contentsOf: places)
      }
    }
    return new.count
  }

  private func openTeam(_ replica: Replica) async throws {
    if try await replica.first(Team.query(id: team)) != nil { return }
    let (team, account) = (team, replica.account.text)
    try await replica.write("open team") { tx in
      try tx.insert(Team(id: team, name: "Capitol contacts"))
      try tx.insert(contentsOf: [Member(team: team, user: account), Member(team: team, user: "ben")])
    }
  }

  /// Reads a file with an object of JSON on each line.
  private func read<R: Record>(
    _ type: R.Type, _ file: String, naming names: [String: String] = [:], adding more: [String: Any] = [:]
  ) throws -> [R] {
    try String(contentsOfFile: folder + "/" + file, encoding: .utf8).split(separator: "\n").map { line in
      var object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any] ?? [:]
      for (old, new) in names { object[new] = object.removeValue(forKey: old) }
      // Some suites are numbers in the source; the column is a text.
      if let suite = object["suite"] as? Int { object["suite"] = "\(suite)" }
      object.merge(more) { given, _ in given }
      return try JSONDecoder().decode(R.self, from: JSONSerialization.data(withJSONObject: object))
    }
  }
}

/// How long this file is: all the code that an app needs for the import.
package let contactsImportLines = #line - 3
