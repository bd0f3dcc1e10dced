// SPDX-License-Identifier: Apache-2.0

import Skerry

/// A crew that goes out together: what its people share is one space.
struct Crew: Record {
  var id = RowID<Crew>()
  var name: String
  static let table = TableSchema<Crew>("crews") { Column("name", \.name) }.space("crew", by: \.id)
}

/// Who is in a crew. The pair is the key, so nobody is in one twice.
struct CrewMember: Record {
  var crew: RowID<Crew>
  var user: String
  static let table = TableSchema<CrewMember>("crew_members", key: ["crew", "user"]) {
    Column("crew", \.crew)
    Column("user", \.user)
  }.space("crew", by: \.crew)
}

/// What one person wants to be reminded of: the built-in space of one account.
struct Reminder: Record {
  var id = RowID<Reminder>()
  var owner: String
  var text: String
  static let table = TableSchema<Reminder>("reminders") {
    Column("owner", \.owner)
    Column("text", \.text)
  }.space("user", by: \.owner)
}

/// What everybody needs, whoever they work with: a constant space.
struct Material: Record {
  var id = RowID<Material>()
  var name: String
  static let table = TableSchema<Material>("materials") { Column("name", \.name) }
    .space("public:catalogue")
}
