// SPDX-License-Identifier: Apache-2.0

import SkerryMerge
package import SkerryModel
import SkerrySQLiteKit

extension Store {
  /// Applies operations to the visible rows and puts the mutation into the outbox, in one transaction.
  ///
  /// The operations are taken as they are (in their normal form): one that the rule refuses has no visible effect, and the
  /// server will say so. `WriteTransaction` refuses such things beforehand.
  package func append(_ operations: [Operation], id: MutationID, label: String? = nil) throws {
    try transaction {
      var draft = try Draft(self, id: id)
      for operation in operations { try draft.record(try normalised(operation)) }
      try enqueue(draft, Operation.encode(draft.operations), label: label)
    }
  }

  /// Puts a finished draft into the outbox, in the open transaction.
  func enqueue(_ draft: Draft, _ operations: [UInt8], label: String?, madeAt: Int64? = nil) throws {
    state.counter += 1
    state.made += 1
    try insert(
      draft, operations, made: state.made, number: state.counter, label: label, madeAt: madeAt ?? ambient.now())
  }

  func insert(
    _ draft: Draft, _ operations: [UInt8], made: Int64, number: Int64, label: String?, madeAt: Int64
  ) throws {
    let subjects = draft.subjects.sorted
    let encoded = subjects.encoded
    try connection.run(
      """
      INSERT INTO skerry_outbox(made, mid, n, ops, subjects, label, at, void, sent, dormant, failed, attempts, sum)
      VALUES (?, ?, ?, ?, ?, ?, ?, 0, 0, 0, 0, 0, ?)
      """, .integer(made), .blob(draft.id.raw.bytes), .integer(number),
      .blob(operations), .blob(encoded), label.map { .text($0) } ?? .null,
      .integer(madeAt),
      .blob(
        EntrySum.of(
          draft.id, madeAt: madeAt, label: label, isVoid: false, operations: operations, subjects: encoded)))
    try subjects.index(made, on: connection)
  }

  func normalised(_ operation: Operation) throws -> Operation {
    do { return try catalog.normalised(operation) } catch { throw StoreError(.invalid, error.description) }
  }

  func normalisedLocally(_ operation: Operation, in table: TableInfo) throws -> Operation {
    do { return try catalog.normalised(operation, in: table) } catch { throw StoreError(.invalid, error.description) }
  }
}

/// A mutation that is being made: each operation is applied to the visible rows as it comes.
struct Draft {
  let id: MutationID
  private(set) var operations: [Operation] = []
  private(set) var subjects = Subjects()
  private let store: Store
  private let confirmed: ConfirmedRows
  private let spaces: Spaces

  init(_ store: Store, id: MutationID) throws {
    self.store = store
    self.id = id
    confirmed = try ConfirmedRows(store.connection, store.catalog, store.spaces)
    let (catalog, connection) = (store.catalog, try store.connection)
    spaces = Spaces(catalog) { key in
      try catalog.table(key.table).flatMap { try VisibleRows.state(key, $0, connection)?.values }
    }
  }

  func visible(_ key: RowKey) throws -> RowState? {
    try store.catalog.table(key.table).flatMap { try VisibleRows.state(key, $0, store.connection) }
  }

  /// Applies an operation in its normal form; one that the rule refuses leaves no trace.
  ///
  /// - Returns: why the rule refuses it; nil if it has its effect.
  mutating func apply(_ operation: Operation) throws -> RefusalCode? {
    guard let table = store.catalog.table(operation.key.table) else { return .invalid }
    if operation.isInsert { return try insert(operation, table) }
    let before = try visible(operation.key)
    let decision = Merge.apply(operation, at: operations.count, of: id, to: before, in: table)
    if case .refused(let code) = decision { return code }
    try record(operation, table, before, decision)
    return nil
  }

  /// The table itself tells whether the key is taken: one statement for a new row.
  private mutating func insert(_ operation: Operation, _ table: TableInfo) throws -> RefusalCode? {
    let decision = Merge.apply(operation, at: operations.count, of: id, to: nil, in: table)
    guard case .becomes(let row?) = decision else { return .invalid }
    do {
      try VisibleRows.write(
        operation.key, table, row, hidden: VisibleRows.pending, replacing: false, store.connection)
    } catch let error as SQLiteError where error.isConstraint { return .exists }
    // There was nothing to move apart.
    try note(operation, table, before: nil, after: row)
    return nil
  }

  /// Takes an operation as it is: one that the rule refuses has no visible effect, and the server will say so.
  mutating func record(_ operation: Operation) throws {
    guard let table = store.catalog.table(operation.key.table) else { return }
    var operation = operation
    operation.place = nil  // it is made anew, here
    let before = try visible(operation.key)
    try record(
      operation, table, before, Merge.apply(operation, at: operations.count, of: id, to: before, in: table))
  }

  private mutating func record(
    _ operation: Operation, _ table: TableInfo, _ before: RowState?, _ decision: Decision
  ) throws {
    // What this mutation has touched is no confirmed row any more, though the outbox's index does not know it yet.
    if !subjects.touches(operation.key) { try confirmed.moveApart(operation.key, isVisible: before != nil) }
    var after = before
    if case .becomes(let row) = decision {
      after = row
      try store.showPending(operation.key, table, row)
    }
    try note(operation, table, before: before, after: after)
  }

  private mutating func note(
    _ operation: Operation, _ table: TableInfo, before: RowState?, after: RowState?
  ) throws {
    try subjects.note(operation, table, before: before, after: after, spaces, store.catalog)
    operations.append(operation)
  }
}
