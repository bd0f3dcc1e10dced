// SPDX-License-Identifier: Apache-2.0

package import Skerry

/// A team: who is a member of it sees and edits its people.
package struct Team: Record {
  package var id: RowID<Team>
  package var name: String

  package static let table = TableSchema<Team>("teams", id: .text) {
    Column("name", \.name)
  }.space("team", by: \.id)
}

/// Who is in a team.
package struct Member: Record {
  package var id = RowID<Member>()
  package var team: RowID<Team>
  package var user: String

  package static let table = TableSchema<Member>("members", id: .text) {
    Column("team", \.team, as: .text)
    Column("user", \.user)
  }.space("team", by: \.team)
}

/// Somebody to call or to visit.
package struct Person: Record {
  package var id: RowID<Person>
  package var team: RowID<Team>
  package var first: String
  package var last: String
  package var full: String?
  package var nickname: String?
  package var birthday: CalendarDate?
  package var role: String?
  package var state: String?
  package var district: Int?
  package var party: String?
  package var phone: String?
  package var url: String?
  package var address: String?
  package var social: [String: SocialName]?
  package var visits = 0

  package static let table = TableSchema<Person>("people", id: .text) {
    Column("team", \.team, as: .text)
    Column("first", \.first)
    Column("last", \.last)
    Column("full", \.full)
    Column("nickname", \.nickname)
    Column("birthday", \.birthday)
    Column("role", \.role)
    Column("state", \.state)
    Column("district", \.district)
    Column("party", \.party)
    Column("phone", \.phone)
    Column("url", \.url)
    Column("address", \.address)
    Column("social", \.social, .json, example: [:])
    Column("visits", \.visits, .counter)
  }.space("team", by: \.team)
}

/// What somebody is called elsewhere: by a name or a number.
package enum SocialName: Codable, Sendable {
  case name(String)
  case number(Int)

  package init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if let number = try? container.decode(Int.self) {
      self = .number(number)
    } else {
      self = .name(try container.decode(String.self))
    }
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .name(let name): try container.encode(name)
    case .number(let number): try container.encode(number)
    }
  }
}

/// Where a person has an office.
package struct Office: Record {
  package var id: RowID<Office>
  package var person: RowID<Person>
  package var address: String?
  package var suite: String?
  package var building: String?
  package var city: String?
  package var state: String?
  package var zip: String?
  package var latitude: Double?
  package var longitude: Double?
  package var fax: String?
  package var phone: String?
  package var hours: String?

  package static let table = TableSchema<Office>("offices", id: .text) {
    Column("person", \.person, as: .text)
    Column("address", \.address)
    Column("suite", \.suite)
    Column("building", \.building)
    Column("city", \.city)
    Column("state", \.state)
    Column("zip", \.zip)
    Column("latitude", \.latitude)
    Column("longitude", \.longitude)
    Column("fax", \.fax)
    Column("phone", \.phone)
    Column("hours", \.hours)
  }.space(of: \.person)
}

extension Schema {
  /// The same as `schema.json`, from which servers and simulations read it.
  package static let contacts = Schema("contacts", version: 1) {
    Space("team", root: Team.table, members: Member.table, space: \.team, user: \.user)
    Feature("contacts", .replica) {
      Team.table
      Member.table
      Person.table
      Office.table
    }
  }
}
