// SPDX-License-Identifier: Apache-2.0

import Skerry

/// How far a job is.
enum Stage: String, CaseIterable, Codable, ColumnValue { case open, agreed, done }

/// Where to go. It is given from crew to crew by changing one column.
struct Job: Record {
  var id = RowID<Job>()
  var crew: RowID<Crew>
  var title: String
  var stage = Stage.open
  var visits = 0
  var number: String?
  static let table = TableSchema<Job>("jobs") {
    Column("crew", \.crew)
    Column("title", \.title)
    Column("stage", \.stage, default: .open)
    Column("visits", \.visits, .counter)
    Column("number", \.number, .lateBound("'new-' || substr(id, -4)"))
  }.space("crew", by: \.crew).index(\.stage)
}

/// What is used at a job: a row for each, not a list in the job.
struct Usage: Record {
  var id = RowID<Usage>()
  var job: RowID<Job>
  var material: RowID<Material>
  var pieces = 1
  static let table = TableSchema<Usage>("usages") {
    Column("job", \.job, .reference(onDelete: .cascade))
    Column("material", \.material, .reference(onDelete: .restrict))
    Column("pieces", \.pieces)
  }.space(of: \.job)
}

/// How a roof is shaped: read and written as one thing, so one column holds it.
struct Outline: Codable, Equatable, Sendable {
  var corners: [[Double]] = []
}

/// A measurement, which nobody changes in part.
struct Sketch: Record {
  var id = RowID<Sketch>()
  var job: RowID<Job>
  var outline: Outline
  static let table = TableSchema<Sketch>("sketches") {
    Column("job", \.job, .reference(onDelete: .cascade))
    Column("outline", \.outline, .json, example: Outline())
  }.space(of: \.job)
}

/// An account's card at a job. Two devices that make it without a network make one row, not two.
struct Badge: Record {
  var job: RowID<Job>
  var user: String
  var colour: String
  static let table = TableSchema<Badge>("badges", key: ["job", "user"]) {
    Column("job", \.job)
    Column("user", \.user)
    Column("colour", \.colour)
  }.space(of: \.job).unique(\.job, \.colour)
}

/// A price that two people must not agree on without knowing of each other.
struct Price: Record {
  var id = RowID<Price>()
  var job: RowID<Job>
  var cents: Int
  static let table = TableSchema<Price>("prices") {
    Column("job", \.job)
    Column("cents", \.cents)
  }.space(of: \.job).checksVersions()
}

/// Where the screen was left: of this device, and nobody's business.
struct Scroll: Record {
  var id = RowID<Scroll>()
  var job: RowID<Job>
  var offset: Double
  static let table = TableSchema<Scroll>("scrolls") {
    Column("job", \.job)
    Column("offset", \.offset)
  }
}

extension Schema {
  static let field = Schema("field", version: 1) {
    Space("crew", root: Crew.table, members: CrewMember.table, space: \.crew, user: \.user)
    Space(everyone: "public")
    Feature("work", .replica) {
      Crew.table
      CrewMember.table
      Job.table
      Usage.table
      Sketch.table
      Badge.table
      Price.table
    }
    Feature("own", .replica) { Reminder.table }
    Feature("catalogue", .replica) { Material.table }
    LocalTables { Scroll.table }
  }
}
