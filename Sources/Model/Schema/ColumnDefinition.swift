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
}

/// A column of a table.
public struct ColumnDefinition: Codable, Hashable, Sendable {
  /// The column's name.
  public var name: String
  /// What it may hold.
  public var type: ColumnType
  /// Whether it may be null.
  public var isOptional: Bool
  /// How its writes are merged.
  public var rule: ColumnRule

  /// Describes a column.
  public init(_ name: String, _ type: ColumnType, optional: Bool = false, rule: ColumnRule = .arrival) {
    self.name = name
    self.type = type
    isOptional = optional
    self.rule = rule
  }

  private enum CodingKeys: String, CodingKey {
    case name, type, rule
    case isOptional = "optional"
  }

  /// Reads a column; `optional` defaults to false and `rule` to `arrival`.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    name = try container.decode(String.self, forKey: .name)
    type = try container.decode(ColumnType.self, forKey: .type)
    isOptional = try container.decodeIfPresent(Bool.self, forKey: .isOptional) ?? false
    rule = try container.decodeIfPresent(ColumnRule.self, forKey: .rule) ?? .arrival
  }
}
