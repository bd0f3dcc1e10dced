// SPDX-License-Identifier: Apache-2.0

import SkerryModel
import SkerrySQLiteKit

/// Items in up to two spaces, notes below items, parts below notes, and memberships; every row carries the token of the
/// transaction that wrote it last.
extension Schema {
  static let interleaving = Schema(
    "interleaving", version: 1,
    spaces: [SpaceDefinition("team", members: .table("member", space: "team", user: "account"))],
    features: [
      FeatureDefinition(
        "all", .replica,
        tables: [
          TableDefinition(
            "item",
            columns: common + [
              ColumnDefinition("home", .text, optional: true), ColumnDefinition("also", .text, optional: true),
            ], spaces: [.named(column: "home"), .named(column: "also")]),
          TableDefinition(
            "note", columns: common + [ColumnDefinition("item", .integer, optional: true)],
            spaces: [.parent(column: "item", table: "item")]),
          TableDefinition(
            "part", columns: common + [ColumnDefinition("note", .integer, optional: true)],
            spaces: [.parent(column: "note", table: "note")]),
          TableDefinition(
            "member", columns: common + [ColumnDefinition("team", .text), ColumnDefinition("account", .text)],
            spaces: [.owner(column: "team", kind: "team")]),
        ])
    ])

  private static let common = [ColumnDefinition("id", .integer), ColumnDefinition("token", .integer)]
}

/// A row of the small world, by its number, which is also its key. Each table has a range of numbers.
enum Place {
  static let items = 0..<16
  static let notes = 16..<28
  static let parts = 28..<34
  static let members = 34..<42
  static let count = 42

  enum Table: String, CaseIterable { case item, note, part, member }

  static func table(_ row: Int) -> Table {
    items.contains(row) ? .item : notes.contains(row) ? .note : parts.contains(row) ? .part : .member
  }

  static func key(_ row: Int) -> RowKey { RowKey(table(row).rawValue, .integer(Int64(row))) }

  static let users: [AccountID] = ["ana", "bob"]
}

/// Spaces as a set of bits: what a row is in, and what an account sees.
struct SpaceBits: OptionSet, Hashable {
  let rawValue: UInt8

  static let ana = SpaceBits(rawValue: 1)
  static let bob = SpaceBits(rawValue: 2)
  static let first = SpaceBits(rawValue: 4)
  static let second = SpaceBits(rawValue: 8)

  static let single: [SpaceBits] = [.ana, .bob, .first, .second]
  static let own: [SpaceBits] = [.ana, .bob]
  static let teams: [SpaceBits] = [.first, .second]

  /// The space's whole name; nil for no space.
  var name: String? {
    switch self {
    case .ana: "user:ana"
    case .bob: "user:bob"
    case .first: "team:one"
    case .second: "team:two"
    default: nil
    }
  }

  init(rawValue: UInt8) { self.rawValue = rawValue }

  init(name: String?) { self = SpaceBits.single.first { $0.name == name } ?? [] }

  var value: SQLiteValue { name.map { .text($0) } ?? .null }

  /// The id of a team, as a membership names it.
  var team: String { self == .first ? "one" : "two" }
}

/// A row without its key.
struct Content: Hashable {
  var token: Int
  /// Of an item; of a membership its team.
  var home: SpaceBits = []
  /// Of an item.
  var also: SpaceBits = []
  /// Of a note or a part.
  var parent = -1
  /// Of a membership.
  var user = 0
}
