// SPDX-License-Identifier: Apache-2.0

public import SkerryModel

/// A piece of SQL, written as a literal, with values that are bound and never pasted.
///
/// ```swift
/// let sql: SQL = "SELECT count(*) FROM people WHERE team = \(team) AND name LIKE \(text + "%") AND state IN \(states)"
/// ```
///
/// Only literals become SQL, so no input can. For the rare text that a program puts together see `init(trusted:)`.
public struct SQL: Sendable, ExpressibleByStringInterpolation {
  /// The text, with a placeholder for each value.
  public private(set) var text: String
  /// The values, in the order of their placeholders.
  public private(set) var values: [Value]
  /// The first value that no column could hold.
  package private(set) var fault: ColumnFault?

  /// SQL without values.
  public init(stringLiteral text: String) { (self.text, values) = (text, []) }

  /// SQL with values.
  public init(stringInterpolation interpolation: Interpolation) { self = interpolation.sql }

  /// SQL that was put together by a program. The caller answers for the text: nothing of it may come from outside.
  public init(trusted text: String, _ values: [Value] = []) { (self.text, self.values) = (text, values) }

  /// Both, one after the other.
  public static func + (left: SQL, right: SQL) -> SQL {
    var out = left
    out.append(right)
    return out
  }

  private mutating func append(_ other: SQL) {
    text += other.text
    values += other.values
    fault = fault ?? other.fault
  }

  /// Collects the pieces of a literal.
  public struct Interpolation: StringInterpolationProtocol {
    fileprivate var sql = SQL(trusted: "")

    /// Begins an empty one.
    public init(literalCapacity: Int, interpolationCount: Int) {}

    /// Text of the literal itself.
    public mutating func appendLiteral(_ literal: String) { sql.text += literal }

    /// A value: bound.
    public mutating func appendInterpolation(_ value: some ColumnValue) { bind(value) }

    /// A value or null: bound.
    public mutating func appendInterpolation<V: ColumnValue>(_ value: V?) {
      if let value { bind(value) } else { appendInterpolation(Value.null) }
    }

    /// A value: bound.
    public mutating func appendInterpolation(_ value: Value) {
      sql.text += "?"
      sql.values.append(value)
    }

    /// Values: bound, in brackets, as `IN` takes them.
    public mutating func appendInterpolation<V: ColumnValue>(_ values: [V]) {
      sql.text += "("
      for (index, value) in values.enumerated() {
        if index > 0 { sql.text += ", " }
        bind(value)
      }
      sql.text += ")"
    }

    /// Bytes: bound as one value.
    public mutating func appendInterpolation(_ bytes: [UInt8]) {
      sql.text += "?"
      sql.values.append(.blob(bytes))
    }

    /// The name of a record's table.
    public mutating func appendInterpolation<R: Record>(_ type: R.Type) {
      sql.text += SQL.quoted(R.table.name)
    }

    /// The name of a property's column, such as `\(\Person.name)`; a fault if it has none.
    public mutating func appendInterpolation<R: Record, V>(_ property: KeyPath<R, V>) {
      guard let name = R.table.name(of: property) else {
        sql.fault = sql.fault ?? ColumnFault("a property of \(R.self) that is a column wanted, another found")
        return
      }
      sql.text += SQL.quoted(name)
    }

    /// Another piece of SQL, with its values.
    public mutating func appendInterpolation(_ piece: SQL) { sql.append(piece) }

    private mutating func bind(_ value: some ColumnValue) {
      sql.text += "?"
      do throws(ColumnFault) { sql.values.append(try value.columnValue) } catch {
        sql.values.append(.null)
        sql.fault = sql.fault ?? error
      }
    }
  }

  /// A name as SQL writes it; the names of a schema hold no quotes.
  package static func quoted(_ name: String) -> String { "\"\(name)\"" }
}
