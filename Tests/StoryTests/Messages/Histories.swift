// SPDX-License-Identifier: Apache-2.0
import SkerryModel

/// The scripted histories, told once, in steps.
enum Histories {
  typealias Step = @Sendable (Village) throws -> Void

  /// Creates, edits, increments, deletes, re-inserts, moves between spaces, a membership given and taken, an entry withdrawn.
  static let long: [Step] = creating + sharing + moving + losing

  /// All count the same row, and the phone creates another.
  private static let creating: [Step] = [
    { village in
      try village.write(
        "phone", .insert("item", "new", ["home": "team:t1"]), .insert("note", "new hint", ["parent": "new"]))
      try village.write("phone", .add("item", "shared", digit: 0))
      try village.sync("phone")
    },
    { village in
      try village.write("tablet", .add("item", "shared", digit: 1), .set("item", "own", ["a": "tablet"]))
      try village.sync("tablet")
    },
    { village in
      try village.write("laptop", .add("item", "shared", digit: 2), .add("note", "hint", digit: 2))
      try village.sync("laptop")
    },
  ]

  /// A membership is given: old rows arrive, are counted, and get a child. Meanwhile one deletes what the other edits, and
  /// inserts it again as another life.
  private static let sharing: [Step] = [
    { village in
      try village.foreign("INSERT INTO member(id, team, user) VALUES ('m4', 't2', 'ana')")
      try village.sync("phone")
    },
    { village in
      try village.write("tablet", .delete("item", "new"))
      try village.write("laptop", .set("item", "new", ["a": "laptop"]), .add("item", "new", digit: 4))
      try village.sync("laptop")
    },
    { village in
      try village.write("phone", .add("item", "far", digit: 3), .insert("note", "phone hint", ["parent": "far"]))
      try village.sync("phone")
    },
    { village in try village.sync("tablet") },
    { village in
      try village.write("tablet", .insert("item", "new", ["home": "team:t1"]))
      try village.write("tablet", .add("item", "new", digit: 5))
      try village.sync("tablet")
    },
  ]

  /// A row moves between spaces while others count it; an entry is withdrawn.
  private static let moving: [Step] = [
    { village in
      try village.write("laptop", .set("item", "far", ["home": "team:t1"]), .add("item", "far", digit: 6))
      try village.write("phone", .add("item", "far", digit: 7))
      try village.sync("laptop")
    },
    { village in
      try village.write("phone", .set("item", "own", ["a": "phone"]))
      try village.withdraw("phone")
      try village.sync("phone")
    },
  ]

  /// A membership is taken with work unsent, and given again.
  private static let losing: [Step] = [
    { village in
      try village.write("phone", .add("item", "shared", digit: 8))
      try village.foreign("DELETE FROM member WHERE id = 'm1'")
      try village.sync("phone")
    },
    { village in
      try village.foreign("INSERT INTO member(id, team, user) VALUES ('m5', 't1', 'ana')")
      try village.write("tablet", .add("item", "own", digit: 9), .delete("note", "hint"))
      try village.sync("tablet")
    },
    { village in try village.sync("phone") },
    { village in
      try village.write("phone", .add("item", "shared", digit: 10))
      try village.sync("phone")
    },
    { village in try village.sync("laptop") },
  ]

  /// Two devices count one row, and one deletes it and makes it anew.
  static let short: [Step] = [
    { village in
      try village.write("phone", .add("item", "shared", digit: 0))
      try village.write("laptop", .add("item", "shared", digit: 1))
      try village.sync("phone")
    },
    { village in
      try village.write("phone", .delete("item", "shared"))
      try village.write("phone", .insert("item", "shared", ["home": "team:t1"]), .add("item", "shared", digit: 2))
      try village.sync("laptop")
    },
    { village in try village.sync("phone") },
  ]
}
