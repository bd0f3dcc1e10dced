// SPDX-License-Identifier: Apache-2.0
import Skerry

// 1 SCHEMA: plain Codable structs; one key path ties column, type and rule together
struct Team: Record {
  var id = RowID<Team>()
  var name: String
  static let table = TableSchema<Team>("teams") { Column("name", \.name) }.space("team", by: \.id)
}
struct Member: Record {
  var team: RowID<Team>, user: String
  static let table = TableSchema<Member>("members", key: ["team", "user"]) {
    Column("team", \.team)
    Column("user", \.user)
  }.space("team", by: \.team)
}
struct Person: Record {
  var id = RowID<Person>()
  var team: RowID<Team>, name: String
  var phone: String?
  var visits = 0
  var tags: Set<String> = []
  static let table = TableSchema<Person>("people") {
    Column("team", \.team)
    Column("name", \.name)
    Column("phone", \.phone)
    Column("visits", \.visits, .counter)
    Column("tags", \.tags, .json, example: [])
  }.space("team", by: \.team).index(\.name)
}
struct Quote: Record {
  var id = RowID<Quote>()
  var team: RowID<Team>
  var number: String?
  var state = "draft"
  static let table = TableSchema<Quote>("quotes") {
    Column("team", \.team)
    Column("number", \.number, .lateBound("'DRAFT-' || substr(id, -6)"))
    Column("state", \.state)
  }.space("team", by: \.team).checksVersions()
}
extension Schema {  // Codable: `skerry schema json` prints it
  static let crm = Schema("crm", version: 3) {
    Space("team", root: Team.table, members: Member.table, space: \.team, user: \.user)
    Feature("contacts", .replica) {
      Person.table
      Team.table
      Member.table
    }
    Feature("quotes", .replica) { Quote.table }
  }
}
