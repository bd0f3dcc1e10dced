// SPDX-License-Identifier: Apache-2.0

import SkerryModel
import SkerrySQLiteKit
import SkerryTestSupport
import SkerryTesting

/// What the rule says, written apart from the engine: rows as dictionaries, changed by each confirmed mutation in the order
/// in which the server judged them. Fields by arrival, increments add, a delete ends the row.
struct Reference {
  /// By table and id.
  private(set) var rows: [String: [String: Value]] = [:]
  private var judged: Set<MutationID> = []
  private(set) var confirmed: Set<MutationID> = []

  /// Takes in the verdicts of a push answer; a repeated one changes nothing.
  mutating func judge(_ id: MutationID, isConfirmed: Bool, _ operations: [Operation]) {
    guard judged.insert(id).inserted, isConfirmed else { return }
    confirmed.insert(id)
    for operation in operations { apply(operation) }
  }

  mutating func seed(_ table: String, _ id: String, _ fields: [String: Value]) {
    rows["\(table)/\(id)"] = fields.merging(["id": .text(id), "n": 0]) { given, _ in given }
  }

  private mutating func apply(_ operation: Operation) {
    let name = "\(operation.key.table)/\(operation.key.values[0].text ?? "")"
    switch operation.action {
    case .insert(let fields):
      var row: [String: Value] = ["id": operation.key.values[0], "n": 0]
      for field in fields { row[field.column] = field.value }
      rows[name] = row
    case .set(let fields, _):
      for field in fields { rows[name]?[field.column] = field.value }
    case .increment(let column, let amount):
      let old = rows[name]?[column]?.integer ?? 0
      rows[name]?[column] = .integer(old + amount)
    case .delete: rows[name] = nil
    }
  }

  /// The rows that a user may see: own ones, and those of the teams that a row makes the user a member of; notes and parts
  /// where their parents are.
  func scope(of user: String) -> [String: String] {
    let teams = rows.filter { $0.key.hasPrefix("member/") && $0.value["user"]?.text == user }
      .compactMap { $0.value["team"]?.text.map { "team:" + $0 } }
    let mine = Set(teams + ["user:" + user])
    return described.filter { !spaces(of: $0.key, depth: 0).isDisjoint(with: mine) }
  }

  private func spaces(of name: String, depth: Int) -> Set<String> {
    guard let row = rows[name], depth < 4 else { return [] }
    func column(_ name: String) -> String? { row[name]?.text }
    switch name.prefix(while: { $0 != "/" }) {
    case "team": return ["team:" + (column("id") ?? "")]
    case "member": return ["team:" + (column("team") ?? "")]
    case "note": return spaces(of: "item/" + (column("parent") ?? ""), depth: depth + 1)
    case "part": return spaces(of: "note/" + (column("parent") ?? ""), depth: depth + 1)
    default: return Set([column("home"), column("also")].compactMap { $0 })
    }
  }

  /// All rows as text.
  var described: [String: String] {
    rows.mapValues { row in
      row.filter { !$0.value.isNull }.sorted { $0.key < $1.key }.map { "\($0.key)=\(Reference.text($0.value))" }
        .joined(separator: " ")
    }
  }

  private static func text(_ value: Value) -> String { value.text ?? value.integer.map(String.init) ?? "?" }

  /// The same of a database file's app tables.
  static func read(_ connection: SQLiteConnection, _ catalog: Catalog) throws -> [String: String] {
    var out: [String: String] = [:]
    for definition in catalog.schema.features.flatMap(\.tables) {
      let names = definition.columns.map(\.name)
      let list = names.map { "\"\($0)\"" }.joined(separator: ", ")
      let found = try connection.query("SELECT \(list) FROM \"\(definition.name)\"") { row in
        names.indices.map { row.isNull($0) ? nil : row.text($0) }
      }
      for values in found {
        let pairs = zip(names, values).compactMap { name, value in value.map { (name, $0) } }.sorted { $0.0 < $1.0 }
        let id = values[names.firstIndex(of: "id") ?? 0] ?? ""
        out["\(definition.name)/\(id)"] = pairs.map { "\($0.0)=\($0.1)" }.joined(separator: " ")
      }
    }
    return out
  }
}
