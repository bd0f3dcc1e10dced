// SPDX-License-Identifier: Apache-2.0

package import SkerryModel

/// A row's content and identity, as a rule sees it.
package struct RowState: Hashable, Sendable {
  /// All columns in the schema's order, key columns included.
  package var values: [Value]
  package var version: VersionTag
  package var incarnation: Incarnation

  package init(values: [Value], version: VersionTag, incarnation: Incarnation) {
    self.values = values
    self.version = version
    self.incarnation = incarnation
  }
}

/// What becomes of a row when an operation meets it.
package enum Decision: Hashable, Sendable {
  /// The row as it is afterwards; nil when it is no more.
  case becomes(RowState?)
  /// The operation has no effect, and with it none of its mutation.
  case refused(RefusalCode)
}

/// The rule: fields by arrival, increments add, delete wins, a new insert is a new incarnation, and in tables that check
/// versions a set must have seen the row as it is. The server decides with it, and the client predicts with it.
package enum Merge {
  /// Applies one operation.
  ///
  /// - Parameters:
  ///   - operation: in its normal form, see `Catalog.normalised`.
  ///   - index: its place in the mutation.
  ///   - mutation: the id, which becomes the row's version.
  ///   - row: the row as it is; nil if there is none.
  package static func apply(
    _ operation: Operation, at index: Int, of mutation: MutationID, to row: RowState?, in table: TableInfo
  ) -> Decision {
    if case .insert(let fields) = operation.action {
      guard row == nil else { return .refused(.exists) }
      return .becomes(inserted(fields, operation.key, mutation, index, table))
    }
    guard var row, row.incarnation == operation.incarnation else { return .refused(.gone) }
    switch operation.action {
    case .insert: return .refused(.exists)
    case .delete: return .becomes(nil)
    case .set(let fields, let base):
      if table.checksVersion, base != row.version { return .refused(.stale) }
      let before = size(of: row, in: table)
      for field in fields {
        guard let column = table.index(of: field.column) else { return .refused(.invalid) }
        row.values[column] = field.value
      }
      // Each edit fits the limit, and yet the row could outgrow every page.
      let after = size(of: row, in: table)
      if after > before, after > Limits.rowBytes { return .refused(.invalid) }
    case .increment(let name, let amount):
      guard let column = table.index(of: name), case .integer(let old) = row.values[column] else {
        return .refused(.invalid)
      }
      let sum = old.addingReportingOverflow(amount)
      if sum.overflow { return .refused(.overflow) }
      row.values[column] = .integer(sum.partialValue)
    }
    row.version = mutation.tag
    return .becomes(row)
  }

  /// The bytes that the row's values outside the key count against the limit.
  private static func size(of row: RowState, in table: TableInfo) -> Int {
    var size = 0
    for (index, value) in row.values.enumerated() where !value.isNull && !table.keyColumns.contains(index) {
      size += value.byteCount
    }
    return size
  }

  private static func inserted(
    _ fields: [Field], _ key: RowKey, _ mutation: MutationID, _ index: Int, _ table: TableInfo
  ) -> RowState {
    var values = table.blank
    for (column, value) in zip(table.keyColumns, key.values) { values[column] = value }
    // Both are in the order of the names.
    let names = table.sortedNames
    var place = 0
    for field in fields {
      while place < names.count, names[place] != field.column, names[place] < field.column { place += 1 }
      guard place < names.count, names[place] == field.column else { continue }
      values[table.columnsByName[place]] = field.value
    }
    let incarnation = Incarnation(tag: mutation.tag, index: UInt16(truncatingIfNeeded: index))
    return RowState(values: values, version: mutation.tag, incarnation: incarnation)
  }
}
