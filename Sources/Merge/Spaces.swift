// SPDX-License-Identifier: Apache-2.0

package import SkerryModel

/// In which spaces a row is, by the declared rules. One function for the permission check, the sequencer and the device.
package struct Spaces {
  private let catalog: Catalog
  private let read: (RowKey) throws -> [Value]?

  /// `read` gives a row's values, all columns in the schema's order; nil if there is no such row.
  package init(_ catalog: Catalog, read: @escaping (RowKey) throws -> [Value]?) {
    self.catalog = catalog
    self.read = read
  }

  /// The row's spaces; empty for a row that is not there, or whose chain of parents breaks off.
  package func spaces(of key: RowKey) throws -> Set<SpaceID> {
    guard let table = catalog.table(key.table), let values = try read(key) else { return [] }
    return try spaces(of: values, in: table)
  }

  /// The spaces of a row with these values.
  package func spaces(of values: [Value], in table: TableInfo) throws -> Set<SpaceID> {
    var out = Spaces.own(of: values, in: table)
    for rule in table.spaces {
      if let parent = Spaces.parent(of: values, by: rule, in: table) { out.formUnion(try spaces(of: parent)) }
    }
    return out
  }

  /// The spaces by the row's own columns and constants, without those of its parents.
  package static func own(of values: [Value], in table: TableInfo) -> Set<SpaceID> {
    var out: Set<SpaceID> = []
    for rule in table.spaces {
      switch rule {
      case .owner(let column, let kind):
        if let id = text(column, values, table) { insert(SpaceID(kind: kind, id: id), into: &out) }
      case .named(let column):
        // A device's receipts are the server's to write: no row gets there by naming the space.
        if let name = text(column, values, table), !SpaceID(name).holdsReceipts { insert(SpaceID(name), into: &out) }
      case .constant(let space): out.insert(space)
      case .parent: break
      }
    }
    return out
  }

  private static func insert(_ space: SpaceID, into spaces: inout Set<SpaceID>) {
    if IDText.isSpace(space.text.utf8) { spaces.insert(space) }
  }

  /// The parent row that a rule names; nil for other rules and for a null.
  package static func parent(of values: [Value], by rule: SpaceRule, in table: TableInfo) -> RowKey? {
    guard case .parent(let column, let parent) = rule, let index = table.index(of: column), !values[index].isNull
    else { return nil }
    return RowKey(parent, values[index])
  }

  private static func text(_ column: String, _ values: [Value], _ table: TableInfo) -> String? {
    table.index(of: column).flatMap { values[$0].text }
  }
}
