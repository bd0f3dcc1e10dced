// SPDX-License-Identifier: Apache-2.0

public import SkerryModel

/// A row of a query's result: values by the names of its columns.
public struct Row: Sendable, Equatable {
  let names: ColumnNames
  /// The values, in the order of the columns.
  public let values: [Value]

  package init(_ names: ColumnNames, _ values: [Value]) {
    self.names = names
    self.values = values
  }

  /// The names of the columns, in the order of the query.
  public var columns: [String] { names.all }

  /// The value of the first column with this name; nil if there is no such column.
  public subscript(_ column: String) -> Value? { names.index(of: column).map { values[$0] } }

  /// Whether columns and values are the same.
  public static func == (left: Row, right: Row) -> Bool {
    (left.names === right.names || left.names.all == right.names.all) && left.values == right.values
  }
}

/// The names of a result's columns, shared by its rows.
package final class ColumnNames: Sendable {
  let all: [String]
  private let places: [ByteName: Int]

  package init(_ names: [String]) {
    all = names
    places = Dictionary(names.enumerated().map { (ByteName($1), $0) }, uniquingKeysWith: { first, _ in first })
  }

  /// - Parameter guess: where it is if the columns come in order.
  func index(of name: String, guess: Int = 0) -> Int? {
    if guess < all.count, all[guess].utf8.elementsEqual(name.utf8) { return guess }
    return places[ByteName(name)]
  }
}

/// A column's name, compared by bytes.
private struct ByteName: ByteText {
  let text: String

  init(_ text: String) { self.text = text }
}
