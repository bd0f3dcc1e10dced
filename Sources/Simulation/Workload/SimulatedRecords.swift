// SPDX-License-Identifier: Apache-2.0

import SkerryModel
import SkerryRecords

// The tables of the standard world as an app would have them: most writes of its people go through these.

struct Team: Record {
  var id: RowID<Team>
  var a: String?
  var b: String?
  var n: Int64
  static let table = TableSchema<Team>("team", id: .text) {
    Column("a", \.a)
    Column("b", \.b)
    Column("n", \.n, .counter)
  }.space("team", by: \.id)
}

struct Member: Record {
  var id: RowID<Member>
  var a: String?
  var b: String?
  var n: Int64
  var team: String
  var user: String
  static let table = TableSchema<Member>("member", id: .text) {
    Column("a", \.a)
    Column("b", \.b)
    Column("n", \.n, .counter)
    Column("team", \.team)
    Column("user", \.user)
  }.space("team", by: \.team)
}

struct Item: Record {
  var id: RowID<Item>
  var a: String?
  var b: String?
  var n: Int64
  var home: String?
  var also: String?
  static let table = TableSchema<Item>("item", id: .text) {
    Column("a", \.a)
    Column("b", \.b)
    Column("n", \.n, .counter)
    Column("home", \.home)
    Column("also", \.also)
  }.space(named: \.home).space(named: \.also)
}

struct Doc: Record {
  var id: RowID<Doc>
  var a: String?
  var b: String?
  var n: Int64
  var home: String?
  var also: String?
  static let table = TableSchema<Doc>("doc", id: .text) {
    Column("a", \.a)
    Column("b", \.b)
    Column("n", \.n, .counter)
    Column("home", \.home)
    Column("also", \.also)
  }.space(named: \.home).space(named: \.also).checksVersions()
}

struct Note: Record {
  var id: RowID<Note>
  var a: String?
  var b: String?
  var n: Int64
  var parent: RowID<Item>?
  static let table = TableSchema<Note>("note", id: .text) {
    Column("a", \.a)
    Column("b", \.b)
    Column("n", \.n, .counter)
    Column("parent", \.parent, as: .text)
  }.space(of: \.parent)
}

struct Part: Record {
  var id: RowID<Part>
  var a: String?
  var b: String?
  var n: Int64
  var parent: RowID<Note>?
  static let table = TableSchema<Part>("part", id: .text) {
    Column("a", \.a)
    Column("b", \.b)
    Column("n", \.n, .counter)
    Column("parent", \.parent, as: .text)
  }.space(of: \.parent)
}

struct Stock: Record {
  var team: String
  var code: Int64
  var label: String
  var amount: Int64
  static let table = TableSchema<Stock>("stock", key: ["team", "code"]) {
    Column("team", \.team)
    Column("code", \.code)
    Column("label", \.label)
    Column("amount", \.amount, .counter)
  }.space("team", by: \.team)
}

struct Notice: Record {
  var number: Int64
  var text: String
  private enum CodingKeys: String, CodingKey {
    case number = "id"
    case text
  }
  static let table = TableSchema<Notice>("notice", key: ["id"]) {
    Column("id", \.number)
    Column("text", \.text)
  }.space(SpaceID("public:all"))
}
