// SPDX-License-Identifier: Apache-2.0

/// The rules that a declaration must keep, checked in the order in which a reader would notice a breach.
struct SchemaCheck {
  private let schema: Schema
  private let tables: [TableDefinition]

  init(_ schema: Schema) {
    self.schema = schema
    tables = schema.features.flatMap(\.tables)
  }

  func run() throws(SchemaError) {
    try checkNames()
    for table in tables {
      try check(table)
      for rule in table.spaces { try check(rule, of: table) }
    }
    for space in schema.spaces { try check(space) }
    try checkParents()
  }

  private func checkNames() throws(SchemaError) {
    try name(schema.name, "app", nil, nil)
    if schema.version < 1 { throw SchemaError("version is \(schema.version)", "count from 1") }
    if tables.isEmpty { throw SchemaError("there is no table", "declare a feature with one") }
    for feature in schema.features { try name(feature.name, "feature", nil, nil) }
    try distinct(schema.features.map(\.name), "feature", nil)
    try distinct(tables.map(\.name), "table", nil)
    try distinct(schema.spaces.map(\.kind), "space kind", nil)
    for space in schema.spaces {
      try name(space.kind, "space kind", nil, nil)
      if ["user", "replica"].contains(space.kind) {
        throw SchemaError("space kind '\(space.kind)' is built in", "leave it out or choose another word")
      }
    }
  }

  private func check(_ table: TableDefinition) throws(SchemaError) {
    try name(table.name, "table", table.name, nil)
    if table.columns.isEmpty { throw SchemaError(table.name, "it has no columns", "declare its key at least") }
    if table.columns.count > 500 { throw SchemaError(table.name, "more than 500 columns", "split the table") }
    try distinct(table.columns.map(\.name), "column", table.name)
    for column in table.columns {
      try name(column.name, "column", table.name, column.name)
      guard column.rule == .counter else { continue }
      if column.type != .integer || column.isOptional {
        throw SchemaError(table.name, column.name, "a counter is not a plain integer", "make it a non-optional integer")
      }
    }
    if table.key.isEmpty { throw SchemaError(table.name, "it has no key", "name the columns of its primary key") }
    try distinct(table.key, "key column", table.name)
    for key in table.key {
      guard let column = table.columns.first(where: { $0.name == key }) else {
        throw SchemaError(table.name, key, "the key names a column that is not there", "declare the column")
      }
      if column.isOptional || column.rule == .counter || [.real, .json].contains(column.type) {
        throw SchemaError(
          table.name, key, "a key column is optional, a counter, real or json", "use text, uuid, integer, date or blob")
      }
    }
    if table.spaces.isEmpty {
      throw SchemaError(table.name, "its rows are in no space", "declare an owner column, a parent or a constant")
    }
  }

  private func check(_ rule: SpaceRule, of table: TableDefinition) throws(SchemaError) {
    if let name = rule.column {
      guard let column = table.columns.first(where: { $0.name == name }) else {
        throw SchemaError(table.name, name, "a space rule names a column that is not there", "declare the column")
      }
      if case .parent = rule {
        // Any type will do that the parent's key has, which is checked below.
      } else if ![.text, .uuid].contains(column.type) || column.rule == .counter {
        throw SchemaError(table.name, name, "a space rule reads a column that is not text", "make it text or uuid")
      }
    }
    switch rule {
    case .owner(let column, let kind):
      if kind != "user", !schema.spaces.contains(where: { $0.kind == kind }) {
        throw SchemaError(table.name, column, "space kind '\(kind)' is not declared", "declare it under spaces")
      }
    case .named: break
    case .constant(let space):
      guard let kind = schema.spaces.first(where: { $0.kind == space.kind }), !space.id.isEmpty else {
        throw SchemaError(
          table.name, "constant space '\(space)' has no declared kind or no id", "write kind:id, the kind declared")
      }
      _ = kind
    case .parent(let column, let parentName):
      guard let parent = tables.first(where: { $0.name == parentName }) else {
        throw SchemaError(table.name, column, "parent table '\(parentName)' is not declared", "declare it")
      }
      let key = parent.columns.first { $0.name == parent.key.first }
      let own = table.columns.first { $0.name == column }
      if parent.key.count != 1 || key?.type != own?.type {
        throw SchemaError(
          table.name, column, "it does not hold the key of '\(parentName)'", "use one column of the same type")
      }
    }
  }

  private func check(_ space: SpaceDefinition) throws(SchemaError) {
    if let root = space.root {
      guard let table = tables.first(where: { $0.name == root }) else {
        throw SchemaError(root, "root of '\(space.kind)', and not declared", "declare the table")
      }
      guard table.key.count == 1, table.spaces.contains(.owner(column: table.key[0], kind: space.kind)) else {
        throw SchemaError(
          root, "a root is in its own space", "give it one key column and the rule owner(key, kind \(space.kind))")
      }
    }
    guard case .table(let name, let spaceColumn, let user) = space.members else { return try checkOpen(space) }
    guard let table = tables.first(where: { $0.name == name }) else {
      throw SchemaError(name, "members of '\(space.kind)', and not declared", "declare the table")
    }
    for column in [spaceColumn, user] {
      guard let found = table.columns.first(where: { $0.name == column }), [.text, .uuid].contains(found.type) else {
        throw SchemaError(name, column, "a membership needs this as a text column", "declare it as text or uuid")
      }
    }
    guard table.spaces.contains(.owner(column: spaceColumn, kind: space.kind)) else {
      throw SchemaError(
        name, spaceColumn, "memberships are not in the space that they grant",
        "add the rule owner(\(spaceColumn), kind \(space.kind))")
    }
  }

  /// Spaces of everybody are told to every device, so they must be known from the schema alone.
  private func checkOpen(_ space: SpaceDefinition) throws(SchemaError) {
    if let root = space.root {
      throw SchemaError(
        root, "root of '\(space.kind)', whose members are everyone", "use a constant space without a root")
    }
    for table in tables {
      for case .owner(let column, space.kind) in table.spaces {
        throw SchemaError(
          table.name, column, "it names spaces of '\(space.kind)', whose members are everyone",
          "use the constant rule, or declare a table of members")
      }
    }
  }

  /// A chain of parents must end: following it may not come back to a table.
  private func checkParents() throws(SchemaError) {
    for table in tables {
      var seen: Set<String> = []
      var edge = [table.name]
      while let next = edge.popLast() {
        for case .parent(let column, let parent) in tables.first(where: { $0.name == next })?.spaces ?? [] {
          if parent == table.name {
            throw SchemaError(
              next, column, "its parents lead back to it", "declare an owner column on each row instead")
          }
          if seen.insert(parent).inserted { edge.append(parent) }
        }
      }
    }
  }

  private func name(_ text: String, _ what: String, _ table: String?, _ column: String?) throws(SchemaError) {
    let units = Array(text.utf8)
    let letters = UInt8(ascii: "a")...UInt8(ascii: "z")
    let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
    let isPlain =
      (1...48).contains(units.count) && letters.contains(units[0])
      && units.allSatisfy { letters.contains($0) || digits.contains($0) || $0 == UInt8(ascii: "_") }
    if !isPlain {
      throw SchemaError(
        table, column, "\(what) name '\(text)' is not [a-z][a-z0-9_]{0,47}", "use lower-case letters, digits and _")
    }
    if text.hasPrefix("skerry_") || text.hasPrefix("sqlite_") {
      throw SchemaError(table, column, "\(what) name '\(text)' is reserved", "choose another prefix")
    }
  }

  private func distinct(_ names: [String], _ what: String, _ table: String?) throws(SchemaError) {
    var seen: Set<String> = []
    for name in names where !seen.insert(name).inserted {
      throw SchemaError(table, "\(what) '\(name)' is declared twice", "rename one")
    }
  }
}
