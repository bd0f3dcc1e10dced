// SPDX-License-Identifier: Apache-2.0

import SkerryModel
import SkerrySQLiteKit
import SkerryWire

/// What a server's file holds, read with plain SQL.
struct ServerContent: Sendable {
  var rows: [RowName: [String: JSON]] = [:]
  /// Outcomes by the mutation's id.
  var receipts: [String: String] = [:]
  /// Of each replica, how many numbers it has used up, and the highest.
  var numbers: [String: (count: Int, highest: Int)] = [:]

  init() {}

  init(_ path: String, _ schema: Schema) throws {
    let connection = try SQLiteConnection(path: path, mode: .reader)
    for table in schema.features.flatMap(\.tables) {
      let columns = table.columns.map(\.name).filter { $0 != "id" }
      let sql = "SELECT id, \(columns.map { "\"\($0)\"" }.joined(separator: ", ")) FROM \"\(table.name)\""
      let found = try connection.query(sql) { row in
        let values = columns.indices.map { (columns[$0], JSON(row.value($0 + 1))) }
        return (RowName(table: table.name, id: row.text(0)), Dictionary(uniqueKeysWithValues: values))
      }
      for (name, values) in found { rows[name] = values }
    }
    let found = try connection.query("SELECT mid, outcome FROM skerry_receipts") { (text($0.blob(0)), $0.text(1)) }
    for (id, outcome) in found { receipts[id] = outcome }
    let replicas = try connection.query("SELECT replica, count(*), max(n) FROM skerry_numbers GROUP BY replica") {
      ($0.text(0), Int($0.integer(1)), Int($0.integer(2)))
    }
    for (replica, count, highest) in replicas { numbers[replica] = (count, highest) }
  }
}

/// Where a device's file holds its mutations, read with plain SQL.
struct DeviceContent: Sendable {
  enum Place: String, Sendable {
    /// No outcome is known.
    case outbox
    /// Confirmed.
    case archive
    /// Refused, and shown until somebody has seen it.
    case inbox
  }

  struct Mutation: Sendable {
    var id: String
    var label: String?
    var place: Place
  }

  var mutations: [Mutation] = []
  /// The ids that the file has had; a copy in use elsewhere, or a number given twice, would bring another one.
  var replicas: [String] = []
  /// How many numbers it has given.
  var counter = 0

  init() {}

  init(_ path: String) throws {
    let connection = try SQLiteConnection(path: path, mode: .reader)
    try connection.transaction(.deferred) {
      for place in [Place.outbox, .archive, .inbox] {
        mutations += try connection.query("SELECT mid, label FROM skerry_\(place.rawValue)") {
          Mutation(id: text($0.blob(0)), label: $0.isNull(1) ? nil : $0.text(1), place: place)
        }
      }
      let state = try connection.first("SELECT ids, counter FROM skerry_state") { ($0.text(0), Int($0.integer(1))) }
      guard let (ids, counter) = state else { return }
      replicas = ids.split(separator: " ").map(String.init)
      self.counter = counter
    }
  }

  var pending: Int { mutations.count { $0.place == .outbox } }
}

private func text(_ id: [UInt8]) -> String { MutationID(bytes: id)?.description ?? "an id of \(id.count) bytes" }

extension JSON {
  fileprivate init(_ value: SQLiteValue) {
    switch value {
    case .null: self = .null
    case .integer(let number): self = .integer(number)
    case .real(let number): self = .real(number)
    case .text(let text): self = .string(text)
    case .blob(let bytes): self = ["base64": .string(JSON.base64(bytes))]
    }
  }
}
