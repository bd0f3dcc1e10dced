// SPDX-License-Identifier: Apache-2.0

package import Foundation
package import SkerryModel
package import SkerryRecords

/// An app's schema as records: every kind of column, rule, key and table once.
package enum Crm {
  package struct Team: Record, Equatable {
    package var id = RowID<Team>()
    package var name: String

    package static let table = TableSchema<Team>("teams") { Column("name", \.name) }.space("team", by: \.id)

    package init(id: RowID<Team> = RowID(), name: String) { (self.id, self.name) = (id, name) }
  }

  package struct Member: Record, Equatable {
    package var team: RowID<Team>
    package var user: String
    package var role: Role = .guest

    package static let table = TableSchema<Member>("members", key: ["team", "user"]) {
      Column("team", \.team, .reference(onDelete: .cascade))
      Column("user", \.user)
      Column("role", \.role, default: .guest)
    }.space("team", by: \.team)

    package init(team: RowID<Team>, user: String, role: Role = .guest) {
      (self.team, self.user, self.role) = (team, user, role)
    }
  }

  package enum Role: String, CaseIterable, ColumnValue, Codable { case guest, owner }

  package struct Address: Codable, Hashable, Sendable {
    package var street: String
    package var city: String?

    package init(street: String, city: String? = nil) { (self.street, self.city) = (street, city) }
  }

  package struct Person: Record, Equatable {
    package var id = RowID<Person>()
    package var team: RowID<Team>
    package var manager: RowID<Person>?
    package var name: String
    package var email: String?
    package var phone: String?
    package var address: Address?
    package var born: CalendarDate?
    package var seen: Date?
    package var salary: Decimal?
    package var photo: Data?
    package var score: Double?
    package var isActive = true
    package var visits = 0

    package static let table = TableSchema<Person>("people") {
      Column("team", \.team, .reference(onDelete: .cascade))
      Column("manager", \.manager, .reference(onDelete: .setNull))
      Column("name", \.name)
      Column("email", \.email)
      Column("phone", \.phone)
      Column("address", \.address, .json, example: Address(street: "x"))
      Column("born", \.born)
      Column("seen", \.seen)
      Column("salary", \.salary)
      Column("photo", \.photo)
      Column("score", \.score)
      Column("is_active", \.isActive, default: true)
      Column("visits", \.visits, .counter)
    }
    .space("team", by: \.team).unique(\.team, \.email).index(\.name)

    private enum CodingKeys: String, CodingKey {
      case id, team, manager, name, email, phone, address, born, seen, salary, photo, score, visits
      case isActive = "is_active"
    }

    package init(team: RowID<Team>, name: String) { (self.team, self.name) = (team, name) }
  }

  package struct Quote: Record, Equatable {
    package var id = RowID<Quote>()
    package var person: RowID<Person>
    package var number: String?
    package var state = "draft"

    package static let table = TableSchema<Quote>("quotes") {
      Column("person", \.person, .reference())
      Column("number", \.number, .lateBound("'DRAFT-' || substr(id, -6)"))
      Column("state", \.state)
    }.space(of: \.person).checksVersions()

    package init(person: RowID<Person>) { self.person = person }
  }

  /// What this device alone keeps: the last search texts.
  package struct Search: Record, Equatable {
    package var text: String
    package var count = 0

    package static let table = TableSchema<Search>("searches", key: ["text"]) {
      Column("text", \.text)
      Column("count", \.count)
    }

    package init(text: String) { self.text = text }
  }

  package static let schema = Schema("crm", version: 3) {
    Space("team", root: Team.table, members: Member.table, space: \.team, user: \.user)
    Feature("contacts", .replica) {
      Team.table
      Member.table
      Person.table
    }
    Feature("quotes", .replica) { Quote.table }
    LocalTables { Search.table }
  }
}
