// SPDX-License-Identifier: Apache-2.0

package import SkerryModel
package import SkerryWire

/// How devices of one version of the schema say what the server's version says.
///
/// Mutations are brought to the server's version as an update of the app would bring its outbox; rows go back the other way.
/// Names of tables in cursors are the server's.
package struct Dialect: Sendable {
  /// The device's schema.
  package let catalog: Catalog
  /// What reads and writes its rows.
  package let codec: JSONCodec
  /// Nil for the server's own version.
  private let upgrade: SchemaUpgrade?
  /// The tables of both versions by the server's names.
  private let tables: [String: SchemaUpgrade.Table]
  private let own: Catalog
  /// When the database began to be served by which version.
  private let beginnings: [(version: Int, since: Int64)]

  init(own: Catalog, known: [KnownSchema]) {
    self.init(catalog: own, own: own, upgrade: nil, known)
  }

  /// - Throws: `SchemaError` if a device of that version cannot be served; it says why.
  init(_ schema: Schema, own: Catalog, known: [KnownSchema]) throws(SchemaError) {
    let upgrade = try SchemaUpgrade(from: schema, to: own.schema)
    for table in upgrade.tables {
      guard let column = table.missed else { continue }
      throw SchemaError(
        table.old.name, column,
        "version \(own.schema.version) has removed it, and version \(schema.version) has no rows without it",
        "update the app, or keep the column until all have")
    }
    self.init(catalog: try Catalog(schema), own: own, upgrade: upgrade, known)
  }

  private init(catalog: Catalog, own: Catalog, upgrade: SchemaUpgrade?, _ known: [KnownSchema]) {
    self.catalog = catalog
    self.own = own
    self.upgrade = upgrade
    tables = Dictionary((upgrade?.tables ?? []).map { ($0.new.name, $0) }) { first, _ in first }
    codec = JSONCodec(catalog: catalog)
    beginnings = known.compactMap { known in known.since.map { (known.schema.version, $0) } }
  }

  /// Whether the device's rows are, byte for byte, the server's: only then do their sums say anything.
  var isOwn: Bool { upgrade == nil }

  // MARK: What comes

  /// A mutation's operations in the server's version, in their normal form.
  ///
  /// - Throws: `OperationError` for what does not fit the device's version, or if the server's has no place for any of it.
  func operations(_ given: [Operation]) throws(OperationError) -> [Operation] {
    var last = -1
    for (place, operation) in given.placed {
      guard place > last else { throw OperationError(operation.key.table, "its place is before the last one's") }
      last = place
    }
    guard let upgrade else { return try Dialect.normalised(given, by: own) }
    let translated = upgrade.operations(try Dialect.normalised(given, by: catalog))
    if translated.isEmpty {
      throw OperationError("mutation", "version \(own.schema.version) of the app has no place for it any more")
    }
    return try Dialect.normalised(translated, by: own)
  }

  private static func normalised(_ given: [Operation], by catalog: Catalog) throws(OperationError) -> [Operation] {
    var out: [Operation] = []
    for operation in given { out.append(try catalog.normalised(operation)) }
    return out
  }

  /// A cursor as it is to be served: if its pages were written by an earlier version, what changed since the next one began
  /// comes again, since rows may have more to them than those pages showed, and fills begin anew.
  func resumed(_ cursor: Cursor) -> Cursor {
    var cursor = cursor
    let version = catalog.schema.version
    if let again = cursor.again, again.after >= again.upTo { cursor.again = nil }
    guard cursor.schema < version else { return cursor }
    let next = beginnings.filter { $0.version > cursor.schema }.map(\.since).min() ?? 0
    let first = min(next, cursor.again?.after ?? .max)
    cursor.again = first < cursor.position ? PositionRange(after: first, upTo: cursor.position) : nil
    // What such a page told as a change of a space that is being filled is part of its filling now.
    cursor.open = cursor.open.map { OpenSpace(space: $0.space, target: max($0.target, cursor.position)) }
    cursor.schema = version
    return cursor
  }

  // MARK: What goes

  /// A page's items in the device's version; what it has no table for is left out.
  func items(_ items: [PageItem]) -> [PageItem] {
    if isOwn { return items }
    func key(_ key: RowKey) -> RowKey? { tables[key.table].map { RowKey($0.old.name, values: key.values) } }
    return items.compactMap { item in
      switch item {
      case .gain, .lose, .filled, .receipt: item
      case .left(let space, let row, let still): key(row).map { .left(space, $0, still: still) }
      case .deleted(let space, let row): key(row).map { .deleted(space, $0) }
      case .put(let space, let row):
        tables[row.key.table].map { table in
          .put(
            space,
            RowImage(
              key: RowKey(table.old.name, values: row.key.values), version: row.version, incarnation: row.incarnation,
              values: table.oldValues(row.values)))
        }
      }
    }
  }
}
