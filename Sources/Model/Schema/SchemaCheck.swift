// SPDX-License-Identifier: Apache-2.0

extension Schema {
  /// All that is wrong with the declaration, in the order in which a reader would notice it; empty if it is legal. One fault
  /// may bring others about: whatever names a table by a wrong name finds none.
  package var complaints: [SchemaError] { faults + SchemaCheck.complaints(about: self) }
}

/// The rules that a declaration must keep, checked in the order in which a reader would notice a breach.
struct SchemaCheck {
  let schema: Schema
  /// Those that are synced.
  let tables: [TableDefinition]
  private var complaints: [SchemaError] = []

  private init(_ schema: Schema) {
    self.schema = schema
    tables = schema.features.flatMap(\.tables)
  }

  /// Everything that breaks a rule.
  static func complaints(about schema: Schema) -> [SchemaError] {
    var check = SchemaCheck(schema)
    check.run()
    return check.complaints
  }

  private mutating func run() {
    checkNames()
    for table in tables {
      check(table)
      for rule in table.spaces { check(rule, of: table) }
    }
    for table in schema.local { checkLocal(table) }
    for space in schema.spaces { check(space) }
    checkParents()
    checkHistory()
  }

  /// A ring of parents is found from each of its tables; it is said once.
  mutating func note(_ complaint: SchemaError) {
    if !complaints.contains(complaint) { complaints.append(complaint) }
  }

  private mutating func checkNames() {
    name(schema.name, "app", nil, nil)
    if schema.version < 1 { note(SchemaError("version is \(schema.version)", "count from 1")) }
    if tables.isEmpty { note(SchemaError("there is no table", "declare a feature with one")) }
    for feature in schema.features { name(feature.name, "feature", nil, nil) }
    distinct(schema.features.map(\.name), "feature", nil)
    distinct((tables + schema.local).map(\.name), "table", nil)
    distinct(schema.spaces.map(\.kind), "space kind", nil)
    for space in schema.spaces {
      name(space.kind, "space kind", nil, nil)
      if ["user", "replica"].contains(space.kind) {
        note(SchemaError("space kind '\(space.kind)' is built in", "leave it out or choose another word"))
      }
    }
  }

  private mutating func check(_ table: TableDefinition) {
    checkShape(of: table)
    if table.spaces.isEmpty {
      note(SchemaError(table.name, "its rows are in no space", "declare an owner column, a parent or a constant"))
    }
    for column in table.columns { checkReference(column, of: table) }
  }

  /// What holds of a synced table and of one that is on the device only.
  mutating func checkShape(of table: TableDefinition) {
    name(table.name, "table", table.name, nil)
    if table.columns.isEmpty { note(SchemaError(table.name, "it has no columns", "declare its key at least")) }
    if table.columns.count > 500 { note(SchemaError(table.name, "more than 500 columns", "split the table")) }
    distinct(table.columns.map(\.name), "column", table.name)
    checkColumns(of: table)
    checkKey(of: table)
    checkIndexes(of: table)
  }

  private mutating func checkColumns(of table: TableDefinition) {
    for column in table.columns {
      name(column.name, "column", table.name, column.name)
      checkDefault(of: column, in: table)
      checkLateBinding(of: column, in: table)
      guard column.rule == .counter else { continue }
      if column.type != .integer || column.isOptional {
        note(SchemaError(table.name, column.name, "a counter is not a plain integer", "make it a non-optional integer"))
      }
    }
  }

  private mutating func checkKey(of table: TableDefinition) {
    if table.key.isEmpty { note(SchemaError(table.name, "it has no key", "name the columns of its primary key")) }
    distinct(table.key, "key column", table.name)
    for key in table.key {
      guard let column = table.columns.first(where: { $0.name == key }) else {
        note(SchemaError(table.name, key, "the key names a column that is not there", "declare the column"))
        continue
      }
      if column.isOptional || column.rule != .arrival || [.real, .json].contains(column.type) {
        note(
          SchemaError(
            table.name, key, "a key column is optional, a counter, late-bound, real or json",
            "use text, uuid, integer, date or blob"))
      }
    }
  }

  private mutating func check(_ rule: SpaceRule, of table: TableDefinition) {
    if let name = rule.column {
      guard let column = table.columns.first(where: { $0.name == name }) else {
        note(SchemaError(table.name, name, "a space rule names a column that is not there", "declare the column"))
        return
      }
      if case .parent = rule {
        // Any type will do that the parent's key has, which is checked below.
      } else if ![.text, .uuid].contains(column.type) || column.rule == .counter {
        note(SchemaError(table.name, name, "a space rule reads a column that is not text", "make it text or uuid"))
      }
      if column.rule == .lateBound {
        note(
          SchemaError(
            table.name, name, "a space rule reads a late-bound column",
            "let the device give the value, with rule arrival"))
      }
    }
    switch rule {
    case .owner(let column, let kind):
      if kind != "user", !schema.spaces.contains(where: { $0.kind == kind }) {
        note(SchemaError(table.name, column, "space kind '\(kind)' is not declared", "declare it under spaces"))
      }
    case .named: break
    case .constant(let space):
      if space.id.isEmpty || !schema.spaces.contains(where: { $0.kind == space.kind }) {
        note(
          SchemaError(
            table.name, "constant space '\(space)' has no declared kind or no id", "write kind:id, the kind declared"))
      }
    case .parent(let column, let parent): checkParent(parent, in: column, of: table)
    }
  }

  private mutating func checkParent(_ name: String, in column: String, of table: TableDefinition) {
    guard let parent = tables.first(where: { $0.name == name }) else {
      note(SchemaError(table.name, column, "parent table '\(name)' is not declared", "declare it"))
      return
    }
    let key = parent.columns.first { $0.name == parent.key.first }
    let own = table.columns.first { $0.name == column }
    if parent.key.count != 1 || key?.type != own?.type {
      note(
        SchemaError(table.name, column, "it does not hold the key of '\(name)'", "use one column of the same type"))
    }
  }

  private mutating func check(_ space: SpaceDefinition) {
    if let root = space.root { checkRoot(root, of: space) }
    checkMembers(of: space)
  }

  private mutating func checkRoot(_ root: String, of space: SpaceDefinition) {
    guard let table = tables.first(where: { $0.name == root }) else {
      note(SchemaError(root, "root of '\(space.kind)', and not declared", "declare the table"))
      return
    }
    if table.key.count != 1 || !table.spaces.contains(.owner(column: table.key[0], kind: space.kind)) {
      note(
        SchemaError(
          root, "a root is in its own space", "give it one key column and the rule owner(key, kind \(space.kind))"))
    }
  }

  private mutating func checkMembers(of space: SpaceDefinition) {
    guard case .table(let name, let spaceColumn, let user) = space.members else { return checkOpen(space) }
    guard let table = tables.first(where: { $0.name == name }) else {
      note(SchemaError(name, "members of '\(space.kind)', and not declared", "declare the table"))
      return
    }
    for column in [spaceColumn, user] {
      let found = table.columns.first { $0.name == column }
      if found?.type != .text, found?.type != .uuid {
        note(SchemaError(name, column, "a membership needs this as a text column", "declare it as text or uuid"))
      }
    }
    if !table.spaces.contains(.owner(column: spaceColumn, kind: space.kind)) {
      note(
        SchemaError(
          name, spaceColumn, "memberships are not in the space that they grant",
          "add the rule owner(\(spaceColumn), kind \(space.kind))"))
    }
  }

  /// Spaces of everybody are told to every device, so they must be known from the schema alone.
  private mutating func checkOpen(_ space: SpaceDefinition) {
    if let root = space.root {
      note(
        SchemaError(
          root, "root of '\(space.kind)', whose members are everyone", "use a constant space without a root"))
    }
    for table in tables {
      for case .owner(let column, space.kind) in table.spaces {
        note(
          SchemaError(
            table.name, column, "it names spaces of '\(space.kind)', whose members are everyone",
            "use the constant rule, or declare a table of members"))
      }
    }
  }

  /// A chain of parents must end: following it may not come back to a table.
  private mutating func checkParents() {
    for table in tables {
      var seen: Set<String> = []
      var edge = [table.name]
      while let next = edge.popLast() {
        for case .parent(let column, let parent) in tables.first(where: { $0.name == next })?.spaces ?? [] {
          if parent == table.name {
            note(
              SchemaError(
                next, column, "its parents lead back to it", "declare an owner column on each row instead"))
          }
          if seen.insert(parent).inserted { edge.append(parent) }
        }
      }
    }
  }

  mutating func name(_ text: String, _ what: String, _ table: String?, _ column: String?) {
    let units = Array(text.utf8)
    let letters = UInt8(ascii: "a")...UInt8(ascii: "z")
    let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
    let isPlain =
      (1...48).contains(units.count) && letters.contains(units[0])
      && units.allSatisfy { letters.contains($0) || digits.contains($0) || $0 == UInt8(ascii: "_") }
    if !isPlain {
      note(
        SchemaError(
          table, column, "\(what) name '\(text)' is not [a-z][a-z0-9_]{0,47}", "use lower-case letters, digits and _"))
    }
    if text.hasPrefix("skerry_") || text.hasPrefix("sqlite_") {
      note(SchemaError(table, column, "\(what) name '\(text)' is reserved", "choose another prefix"))
    }
  }

  mutating func distinct(_ names: [String], _ what: String, _ table: String?) {
    var seen: Set<String> = []
    for name in names where !seen.insert(name).inserted {
      note(SchemaError(table, "\(what) '\(name)' is declared twice", "rename one"))
    }
  }
}
