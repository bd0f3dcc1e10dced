// SPDX-License-Identifier: Apache-2.0

import SkerryModel

/// A question to a replica, as a value: the same for reading once, for observing and within a write.
///
/// ```swift
/// Person.query("WHERE team = \(team) ORDER BY name LIMIT 50")                          // records
/// Query(Int.self, "SELECT count(*) FROM people WHERE team = \(team)")                  // one value a row
/// Query(Visit.self, "SELECT p.name, v.at FROM visits v JOIN people p ON p.id = v.person")   // any structure
/// Query(rows: "SELECT * FROM people")                                                  // rows as they are
/// ```
///
/// Tables bear the names that the schema gives them and have the columns that it declares. What is read are the rows as the
/// user sees them: the server's, with all pending edits of the user's own.
public struct Query<Element: Sendable>: Sendable {
  /// Reads all elements from a source.
  package let read: @Sendable (any QuerySource) throws -> Answer<Element>

  package init(read: @escaping @Sendable (any QuerySource) throws -> Answer<Element>) { self.read = read }

  /// A query whose rows are each made into an element. A row that cannot be made into one is left out and told of.
  package init(_ sql: SQL, _ make: @escaping @Sendable (Row) throws -> Element) {
    self.init { source in
      var answer = Answer<Element>()
      for row in try source.rows(sql) { answer.take(row, make) }
      return answer
    }
  }
}

extension Query where Element == Row {
  /// Rows as they are.
  public init(rows sql: SQL) { self.init(sql) { $0 } }
}

extension Query where Element: Decodable {
  /// Any structure: its properties are the result's columns, by the names of their coding keys. `AS` gives a column another name.
  public init(_ type: Element.Type, _ sql: SQL) { self.init(sql) { try $0.decoded(as: Element.self) } }
}

extension Query where Element: ColumnValue {
  /// One value a row: that of the first column.
  public init(_ type: Element.Type, _ sql: SQL) { self.init(sql, Query.first) }

  fileprivate static func first(_ row: Row) throws -> Element {
    guard let value = row.values.first else { throw ColumnFault("a column wanted, none selected") }
    return try Element(columnValue: value)
  }
}

extension Query where Element: ColumnValue & Decodable {
  /// One value a row: that of the first column.
  public init(_ type: Element.Type, _ sql: SQL) { self.init(sql, Query.first) }
}

extension Record {
  /// All records of the table.
  public static var all: Query<Self> { query("") }

  /// The records that the rest of a SELECT leaves.
  ///
  /// - Parameter clauses: what follows the table's name: `WHERE`, `JOIN`, `ORDER BY`, `LIMIT`.
  public static func query(_ clauses: SQL) -> Query<Self> {
    Query(select() + clauses) { try $0.decoded(as: Self.self) }
  }

  /// The record with this key.
  public static func query(id: RowID<Self>) -> Query<Self> {
    query(SQL(trusted: "WHERE \(SQL.quoted(table.key[0])) = ?", [.text(id.text)]))
  }

  /// - Parameter hidden: further columns, with a comma in front.
  package static func select(_ hidden: String = "", from source: String? = nil) -> SQL {
    let name = SQL.quoted(table.name)
    let columns = table.names.all.map { "\(name).\(SQL.quoted($0))" }.joined(separator: ", ")
    return SQL(trusted: "SELECT \(columns)\(hidden) FROM \(source ?? name) ")
  }
}

/// What a query reads from: a snapshot of the file.
package protocol QuerySource {
  /// Runs one SELECT.
  func rows(_ sql: SQL) throws -> [Row]
}

/// What a query has read.
package struct Answer<Element> {
  /// In the order of the query.
  package var elements: [Element] = []
  /// Why rows were left out: no value of theirs is in it.
  package var faults: [String] = []

  package init() {}

  /// Makes a row into an element, or notes that it cannot be.
  package mutating func take(_ row: Row, _ make: (Row) throws -> Element) {
    do { elements.append(try make(row)) } catch let error as DecodingError {
      faults.append(Answer.text(error))
    } catch { faults.append("\(error)") }
  }

  /// The place and the reason, without what Foundation puts around them.
  private static func text(_ error: DecodingError) -> String {
    let context: DecodingError.Context? =
      switch error {
      case .typeMismatch(_, let context), .valueNotFound(_, let context), .keyNotFound(_, let context),
        .dataCorrupted(let context):
        context
      @unknown default: nil
      }
    let path = (context?.codingPath ?? []).map(\.stringValue).joined(separator: ".")
    return "\(path.isEmpty ? "" : path + ": ")\(context?.debugDescription ?? "the row cannot be decoded")"
  }
}
