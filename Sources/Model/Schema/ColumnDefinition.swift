// SPDX-License-Identifier: Apache-2.0

/// What a column may hold.
public enum ColumnType: String, Codable, Sendable, CaseIterable {
  /// Valid UTF-8 without NUL.
  case text
  /// A 64-bit signed integer.
  case integer
  /// A finite double.
  case real
  /// 0 or 1.
  case boolean
  /// Any bytes.
  case blob
  /// JSON as text.
  case json
  /// Milliseconds since 1970, an integer.
  case timestamp
  /// A decimal number as text: an optional minus, digits without needless zeros in front, optionally a point and digits.
  case decimal
  /// `YYYY-MM-DD`.
  case date
  /// A UUID as text, 8-4-4-4-12 lower-case hexadecimal digits.
  case uuid
}

/// How a column's writes are merged.
public enum ColumnRule: String, Codable, Sendable {
  /// What arrives last at the server stays.
  case arrival
  /// Increments add up; it is not set after the insert.
  case counter
  /// The server alone gives the value, such as the number of a quote; devices show a placeholder until then.
  case lateBound
}

/// What becomes of a row when the one that it refers to is deleted.
public enum ReferenceAction: String, Codable, Sendable {
  /// The other row stays as long as something refers to it.
  case restrict
  /// The row goes too.
  case cascade
  /// The reference becomes null.
  case setNull
}

/// A column that holds the key of another table's row.
public struct ReferenceDefinition: Codable, Hashable, Sendable {
  /// The other table, which has one key column.
  public var table: String
  /// What becomes of this row when the other one is deleted.
  public var onDelete: ReferenceAction

  /// Describes a reference.
  public init(_ table: String, onDelete: ReferenceAction = .restrict) {
    self.table = table
    self.onDelete = onDelete
  }

  private enum CodingKeys: String, CodingKey { case table, onDelete }

  /// Reads a reference; `onDelete` defaults to `restrict`.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    table = try container.decode(String.self, forKey: .table)
    onDelete = try container.decodeIfPresent(ReferenceAction.self, forKey: .onDelete) ?? .restrict
  }
}

/// A column of a table.
public struct ColumnDefinition: Hashable, Sendable {
  /// The column's name.
  public var name: String
  /// What it may hold.
  public var type: ColumnType
  /// Whether it may be null.
  public var isOptional: Bool
  /// How its writes are merged.
  public var rule: ColumnRule
  /// What a row gets that is inserted without a value, and what rows have that are older than the column; nil: null.
  public var defaultValue: Value?
  /// The table whose row's key it holds; nil if the database is to make nothing of it.
  public var reference: ReferenceDefinition?
  /// For a late-bound column: an SQL expression over the row's other columns, shown while there is no value.
  public var placeholder: String?
  /// What it was called in earlier versions of the schema.
  public var formerNames: [String]

  /// Describes a column.
  public init(
    _ name: String, _ type: ColumnType, optional: Bool = false, rule: ColumnRule = .arrival,
    default defaultValue: Value? = nil, references reference: ReferenceDefinition? = nil, placeholder: String? = nil,
    was formerNames: [String] = []
  ) {
    self.name = name
    self.type = type
    isOptional = optional
    self.rule = rule
    self.defaultValue = defaultValue
    self.reference = reference
    self.placeholder = placeholder
    self.formerNames = formerNames
  }
}

extension ColumnDefinition: Codable {
  private enum CodingKeys: String, CodingKey {
    case name, type, rule, references, placeholder
    case formerNames = "was"
    case isOptional = "optional"
    case defaultValue = "default"
  }

  /// Reads a column; `optional` defaults to false and `rule` to `arrival`. A `default` is a text, a number, true or false; for
  /// a blob it is hexadecimal digits.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    name = try container.decode(String.self, forKey: .name)
    type = try container.decode(ColumnType.self, forKey: .type)
    isOptional = try container.decodeIfPresent(Bool.self, forKey: .isOptional) ?? false
    rule = try container.decodeIfPresent(ColumnRule.self, forKey: .rule) ?? .arrival
    reference = try container.decodeIfPresent(ReferenceDefinition.self, forKey: .references)
    placeholder = try container.decodeIfPresent(String.self, forKey: .placeholder)
    formerNames = try container.decodeIfPresent([String].self, forKey: .formerNames) ?? []
    defaultValue = try container.decodeIfPresent(DefaultValue.self, forKey: .defaultValue)?.value(for: type)
  }

  /// Writes the form that `init(from:)` reads, without what is as it is when left out.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(name, forKey: .name)
    try container.encode(type, forKey: .type)
    if isOptional { try container.encode(true, forKey: .isOptional) }
    if rule != .arrival { try container.encode(rule, forKey: .rule) }
    try container.encodeIfPresent(reference, forKey: .references)
    try container.encodeIfPresent(placeholder, forKey: .placeholder)
    if !formerNames.isEmpty { try container.encode(formerNames, forKey: .formerNames) }
    try container.encodeIfPresent(defaultValue.map { DefaultValue($0, for: type) }, forKey: .defaultValue)
  }
}

/// A default as JSON has it: the column's type says what it means.
private enum DefaultValue: Codable {
  case boolean(Bool)
  case integer(Int64)
  case real(Double)
  case text(String)

  init(_ value: Value, for type: ColumnType) {
    switch value {
    case .null: self = .text("null")  // refused when the schema is checked
    case .integer(let number):
      self = type == .boolean && (0...1).contains(number) ? .boolean(number == 1) : .integer(number)
    case .real(let number): self = .real(number)
    case .text(let text): self = .text(text)
    case .blob(let bytes): self = .text(Hex.text(bytes))
    }
  }

  func value(for type: ColumnType) -> Value {
    switch self {
    case .boolean(let value): .integer(value ? 1 : 0)
    case .integer(let number): type == .real ? .real(Double(number)) : .integer(number)
    case .real(let number): .real(number)
    case .text(let text): type == .blob ? Hex.bytes(text).map { .blob($0) } ?? .text(text) : .text(text)
    }
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if let value = try? container.decode(Bool.self) {
      self = .boolean(value)
    } else if let value = try? container.decode(Int64.self) {
      self = .integer(value)
    } else if let value = try? container.decode(Double.self) {
      self = .real(value)
    } else {
      self = .text(try container.decode(String.self))
    }
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .boolean(let value): try container.encode(value)
    case .integer(let value): try container.encode(value)
    case .real(let value): try container.encode(value)
    case .text(let value): try container.encode(value)
    }
  }
}
