// SPDX-License-Identifier: Apache-2.0

/// The tables, features, spaces and rules of an app: a Swift value, and the same as JSON.
///
/// A schema is only a declaration; `Catalog` checks it and is what the engine works with.
public struct Schema: Hashable, Sendable {
  /// The app's name. A server refuses a device of another app.
  public var name: String
  /// Counts up with each change.
  public var version: Int
  /// The kinds of spaces beside the built-in `user`.
  public var spaces: [SpaceDefinition]
  /// The named groups of tables.
  public var features: [FeatureDefinition]
  /// Tables that are on the device only: nothing of them is sent, and no server knows them. They have no spaces.
  public var local: [TableDefinition]
  /// Tables of earlier versions that are gone on purpose.
  public var removed: [String]
  /// What was wrong with a declaration before it became this value.
  package var faults: [SchemaError] = []

  /// Describes an app.
  public init(
    _ name: String, version: Int, spaces: [SpaceDefinition] = [], features: [FeatureDefinition],
    local: [TableDefinition] = [], removed: [String] = []
  ) {
    self.name = name
    self.version = version
    self.spaces = spaces
    self.features = features
    self.local = local
    self.removed = removed
  }
}

extension Schema: Codable {
  private enum CodingKeys: String, CodingKey { case name, version, spaces, features, local, removed }

  /// Reads a schema; `spaces`, `local` and `removed` default to none.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    name = try container.decode(String.self, forKey: .name)
    version = try container.decode(Int.self, forKey: .version)
    spaces = try container.decodeIfPresent([SpaceDefinition].self, forKey: .spaces) ?? []
    features = try container.decode([FeatureDefinition].self, forKey: .features)
    local = try container.decodeIfPresent([TableDefinition].self, forKey: .local) ?? []
    removed = try container.decodeIfPresent([String].self, forKey: .removed) ?? []
  }

  /// Writes the form that `init(from:)` reads.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(name, forKey: .name)
    try container.encode(version, forKey: .version)
    if !spaces.isEmpty { try container.encode(spaces, forKey: .spaces) }
    try container.encode(features, forKey: .features)
    if !local.isEmpty { try container.encode(local, forKey: .local) }
    if !removed.isEmpty { try container.encode(removed, forKey: .removed) }
  }
}

/// How far a feature works without a network.
public enum Level: String, Codable, Sendable {
  /// All synced rows are on the device, and every write works offline.
  case replica
}

/// A named group of tables, and how far it works offline. A table is in exactly one feature.
public struct FeatureDefinition: Codable, Hashable, Sendable {
  /// The feature's name.
  public var name: String
  /// How far it works offline.
  public var level: Level
  /// Its tables.
  public var tables: [TableDefinition]

  /// Describes a feature.
  public init(_ name: String, _ level: Level, tables: [TableDefinition]) {
    self.name = name
    self.level = level
    self.tables = tables
  }
}

/// A kind of space and who is in it.
public struct SpaceDefinition: Codable, Hashable, Sendable {
  /// The word before the colon in the space's name.
  public var kind: String
  /// The table whose rows each open a space: the row with key `x` is the root of `kind:x`. Nil if no row does.
  public var root: String?
  /// Who may read and write in it.
  public var members: MembersDefinition

  /// Describes a kind of space.
  public init(_ kind: String, root: String? = nil, members: MembersDefinition) {
    self.kind = kind
    self.root = root
    self.members = members
  }
}

/// Who may read and write in a kind of space.
public enum MembersDefinition: Hashable, Sendable {
  /// Each row of a table makes the user in one column a member of the space whose id is in another.
  case table(String, space: String, user: String)
  /// Every account with a valid token.
  case everyone
}

extension MembersDefinition: Codable {
  private enum CodingKeys: String, CodingKey { case table, space, user, everyone }

  /// Reads `{"table": …, "space": …, "user": …}` or `{"everyone": true}`.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    if try container.decodeIfPresent(Bool.self, forKey: .everyone) == true {
      self = .everyone
    } else {
      self = .table(
        try container.decode(String.self, forKey: .table), space: try container.decode(String.self, forKey: .space),
        user: try container.decode(String.self, forKey: .user))
    }
  }

  /// Writes the form that `init(from:)` reads.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    switch self {
    case .everyone: try container.encode(true, forKey: .everyone)
    case .table(let table, let space, let user):
      try container.encode(table, forKey: .table)
      try container.encode(space, forKey: .space)
      try container.encode(user, forKey: .user)
    }
  }
}

/// An index of a table, which speeds up queries of the app.
public struct IndexDefinition: Codable, Hashable, Sendable {
  /// The names of its columns.
  public var columns: [String]
  /// Whether no two rows may have the same values in them. Rows with a null in one of them are never the same.
  ///
  /// The server decides; a device predicts it from the rows that it holds.
  public var isUnique: Bool

  /// Describes an index.
  public init(_ columns: [String], unique: Bool = false) {
    self.columns = columns
    isUnique = unique
  }

  private enum CodingKeys: String, CodingKey {
    case columns
    case isUnique = "unique"
  }

  /// Reads an index; `unique` defaults to false.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    columns = try container.decode([String].self, forKey: .columns)
    isUnique = try container.decodeIfPresent(Bool.self, forKey: .isUnique) ?? false
  }
}

/// A table: its columns, key, the spaces of its rows, and how conflicts are told.
public struct TableDefinition: Hashable, Sendable {
  /// The table's name, the same on the device and on the server.
  public var name: String
  /// The columns, key columns included.
  public var columns: [ColumnDefinition]
  /// The names of the columns that make the primary key.
  public var key: [String]
  /// The rules that say in which spaces a row is.
  public var spaces: [SpaceRule]
  /// Whether an edit is held against the version that its writer saw.
  public var detection: Detection
  /// Further indexes beside the key's.
  public var indexes: [IndexDefinition]
  /// What it was called in earlier versions of the schema.
  public var formerNames: [String]
  /// Columns of earlier versions that are gone on purpose.
  public var removed: [String]

  /// Describes a table.
  public init(
    _ name: String, columns: [ColumnDefinition], key: [String] = ["id"], spaces: [SpaceRule],
    detection: Detection = .none, indexes: [IndexDefinition] = [], was formerNames: [String] = [],
    removed: [String] = []
  ) {
    self.name = name
    self.columns = columns
    self.key = key
    self.spaces = spaces
    self.detection = detection
    self.indexes = indexes
    self.formerNames = formerNames
    self.removed = removed
  }
}

extension TableDefinition: Codable {
  private enum CodingKeys: String, CodingKey {
    case name, columns, key, spaces, detection, indexes, removed
    case formerNames = "was"
  }

  /// Reads a table; `key` defaults to `["id"]`, `detection` to `none`, all else but name and columns to none.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    name = try container.decode(String.self, forKey: .name)
    columns = try container.decode([ColumnDefinition].self, forKey: .columns)
    key = try container.decodeIfPresent([String].self, forKey: .key) ?? ["id"]
    spaces = try container.decodeIfPresent([SpaceRule].self, forKey: .spaces) ?? []
    detection = try container.decodeIfPresent(Detection.self, forKey: .detection) ?? .none
    indexes = try container.decodeIfPresent([IndexDefinition].self, forKey: .indexes) ?? []
    formerNames = try container.decodeIfPresent([String].self, forKey: .formerNames) ?? []
    removed = try container.decodeIfPresent([String].self, forKey: .removed) ?? []
  }

  /// Writes the form that `init(from:)` reads, without what is as it is when left out.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(name, forKey: .name)
    try container.encode(columns, forKey: .columns)
    if key != ["id"] { try container.encode(key, forKey: .key) }
    if !spaces.isEmpty { try container.encode(spaces, forKey: .spaces) }
    if detection != .none { try container.encode(detection, forKey: .detection) }
    if !indexes.isEmpty { try container.encode(indexes, forKey: .indexes) }
    if !formerNames.isEmpty { try container.encode(formerNames, forKey: .formerNames) }
    if !removed.isEmpty { try container.encode(removed, forKey: .removed) }
  }
}

/// How a conflict is noticed.
public enum Detection: String, Codable, Sendable {
  /// Not at all: each field keeps what arrived last.
  case none
  /// By the row's version: an edit of a row that has changed since its writer saw it is a conflict.
  case version
}

/// A rule that puts a table's rows into a space.
public enum SpaceRule: Hashable, Sendable {
  /// The column holds the id of a space of this kind; null means no space by this rule.
  case owner(column: String, kind: String)
  /// The column holds the whole name of a space, `kind:id`; null means no space by this rule.
  case named(column: String)
  /// Every row is in this space.
  case constant(SpaceID)
  /// The row is in the spaces of its parent: the row of `table` whose key is in the column.
  case parent(column: String, table: String)
}

extension SpaceRule: Codable {
  private enum CodingKeys: String, CodingKey { case column, kind, constant, parent }

  /// Reads `{"column","kind"}`, `{"column"}`, `{"constant"}` or `{"column","parent"}`.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    if let space = try container.decodeIfPresent(String.self, forKey: .constant) {
      self = .constant(SpaceID(space))
      return
    }
    let column = try container.decode(String.self, forKey: .column)
    if let table = try container.decodeIfPresent(String.self, forKey: .parent) {
      self = .parent(column: column, table: table)
    } else if let kind = try container.decodeIfPresent(String.self, forKey: .kind) {
      self = .owner(column: column, kind: kind)
    } else {
      self = .named(column: column)
    }
  }

  /// Writes the form that `init(from:)` reads.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    switch self {
    case .owner(let column, let kind):
      try container.encode(column, forKey: .column)
      try container.encode(kind, forKey: .kind)
    case .named(let column): try container.encode(column, forKey: .column)
    case .constant(let space): try container.encode(space.text, forKey: .constant)
    case .parent(let column, let table):
      try container.encode(column, forKey: .column)
      try container.encode(table, forKey: .parent)
    }
  }

  /// The column that the rule reads; nil for a constant.
  package var column: String? {
    switch self {
    case .owner(let column, _), .named(let column), .parent(let column, _): column
    case .constant: nil
    }
  }
}
