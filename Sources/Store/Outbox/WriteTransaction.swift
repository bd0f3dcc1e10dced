// SPDX-License-Identifier: Apache-2.0

import SkerryMerge
package import SkerryModel
import SkerryRecords
import SkerrySQLiteKit

/// What `write` hands to its closure: changes rows here and now, and collects what travels to the server.
///
/// It cannot be copied or leave the closure. Everything that it does is one transaction: when the closure throws, nothing
/// has happened. A step that is refused has done nothing, so the closure may catch that and go on; an error of the database
/// fails the whole write, even if the closure catches it.
public struct WriteTransaction: ~Copyable {
  private var draft: Draft
  let store: Store
  private let failure = WriteFailure()
  /// The rows whose deletion is being carried out, from the one that was named to what goes with it.
  var leaving: Set<RowKey> = []
  /// The rows that were deleted while others must not refer to them, checked at the end.
  private var restricted: [RowKey] = []

  init(_ store: Store, id: MutationID) throws {
    self.store = store
    draft = try Draft(store, id: id)
  }

  // MARK: Changing rows by their names

  /// Adds a row; columns not named have their default, otherwise null, counters 0.
  ///
  /// - Returns: the row's key.
  /// - Throws: `StoreError`: `invalid` if the values do not fit the schema or a limit, `exists` if the key is taken,
  ///   `constraint` if another row here has the values of a unique index.
  @discardableResult
  package mutating func insert(_ table: String, _ values: [String: Value]) throws -> RowKey {
    let info = try self.table(table)
    let keyValues = try info.definition.key.map { name in
      guard let value = values[name] else { throw StoreError(.invalid, "\(table).\(name): the key needs a value") }
      return value
    }
    let fields = values.sorted { $0.key < $1.key }.map { Field($0.key, $0.value) }
    let operation = Operation(RowKey(table, values: keyValues), nil, .insert(fields))
    try insert(
      info.isLocal ? try store.normalisedLocally(operation, in: info) : try store.normalised(operation), into: info)
    return operation.key
  }

  /// Gives columns new values; those that have the value already are left out, and if that leaves none, nothing happens.
  ///
  /// - Throws: `StoreError`: `invalid`, `constraint`, or `notFound` if there is no such row.
  package mutating func update(_ key: RowKey, _ values: [String: Value]) throws {
    if values.isEmpty { return }
    let info = try table(of: key)
    let fields = values.sorted { $0.key < $1.key }.map { Field($0.key, $0.value) }
    if info.isLocal { return try setLocally(fields, key, info) }
    try set(fields, key, info, try existing(key))
  }

  /// Adds a number to a counter column. Increments from several devices add up.
  ///
  /// - Throws: `StoreError`: `invalid`, `notFound`, or `overflow`.
  package mutating func increment(_ key: RowKey, _ column: String, by amount: Int64 = 1) throws {
    let row = try existing(key)
    if amount == 0 { return }
    try apply(try store.normalised(Operation(key, row.incarnation, .increment(column, by: amount))))
  }

  /// Removes a row, and what refers to it as the schema says: rows go along or lose their reference, as operations of this
  /// write. What others have added meanwhile is the server's to remove.
  ///
  /// - Throws: `StoreError` with code `notFound` if there is no such row. The whole write ends with `constraint` if a row
  ///   is left that refers to it and must not.
  package mutating func delete(_ key: RowKey) throws {
    if try table(of: key).isLocal { return try deleteLocally(key) }
    _ = try existing(key)
    leaving.insert(key)
    defer { leaving.remove(key) }
    try release(key)
    let row = try existing(key)
    try apply(try store.normalised(Operation(key, row.incarnation, .delete)))
    if store.catalog.referrers[key.table]?.contains(where: { $0.action == .restrict }) == true {
      restricted.append(key)
    }
  }

  /// A row as it is now, this transaction's own changes included; nil if there is none.
  package func row(_ key: RowKey) throws -> [String: Value]? {
    let info = try table(of: key)
    guard let values = try values(of: key, info) else { return nil }
    return Dictionary(uniqueKeysWithValues: zip(info.columns.map(\.name), values))
  }

  /// A new id for a row: a UUIDv7, final from now on.
  package func makeID() -> String { store.ambient.makeRowID() }

  // MARK: For records

  func values(of key: RowKey, _ info: TableInfo) throws -> [Value]? {
    try guarding { store, draft in
      try info.isLocal ? LocalRows.values(key, info, store.connection) : draft.visible(key)?.values
    }
  }

  func table(_ name: String) throws -> TableInfo {
    guard let table = store.catalog.table(name) ?? store.catalog.localTable(name) else {
      throw StoreError(.invalid, "the schema has no table '\(name)'")
    }
    return table
  }

  func existing(_ key: RowKey) throws -> RowState {
    if try table(of: key).isLocal {
      throw StoreError(.invalid, "\(key.table) is on the device only; it has no counters")
    }
    guard let row = try guarding({ try $1.visible(key) }) else { throw StoreError(.notFound, "\(key) is not here") }
    return row
  }

  /// Inserts a row by an operation in its normal form.
  mutating func insert(_ operation: Operation, into info: TableInfo) throws {
    try checkUnique(operation, info)
    guard info.isLocal else { return try apply(operation) }
    if try values(of: operation.key, info) != nil { throw StoreError(.exists, "\(operation.key) is here already") }
    try guarding { store, _ in try LocalRows.insert(operation, info, store.connection) }
  }

  mutating func set(_ fields: [Field], _ key: RowKey, _ info: TableInfo, _ row: RowState) throws {
    let base = info.checksVersion ? row.version : nil
    guard
      case .set(let clean, _) = try store.normalised(
        Operation(key, row.incarnation, .set(fields, base: base))
      ).action
    else { return }
    let changed = clean.filter { field in info.index(of: field.column).map { row.values[$0] } != field.value }
    if changed.isEmpty { return }
    let operation = Operation(key, row.incarnation, .set(changed, base: base))
    try checkUnique(operation, info)
    try apply(operation)
  }

  mutating func setLocally(_ fields: [Field], _ key: RowKey, _ info: TableInfo) throws {
    guard let row = try values(of: key, info) else { throw StoreError(.notFound, "\(key) is not here") }
    let operation = try store.normalisedLocally(Operation(key, nil, .set(fields, base: nil)), in: info)
    let changed = operation.fields.filter { field in info.index(of: field.column).map { row[$0] } != field.value }
    if changed.isEmpty { return }
    try checkUnique(operation, info)
    try guarding { store, _ in try LocalRows.update(changed, key, info, store.connection) }
  }

  private func deleteLocally(_ key: RowKey) throws {
    let info = try table(of: key)
    if try values(of: key, info) == nil { throw StoreError(.notFound, "\(key) is not here") }
    try guarding { store, _ in try LocalRows.delete(key, info, store.connection) }
  }

  /// The key's table.
  private func table(of key: RowKey) throws -> TableInfo {
    let info = try table(key.table)
    let (wanted, found) = (info.keyColumns.count, key.values.count)
    guard wanted == found else {
      throw StoreError(.invalid, "a key of \(key.table) has \(wanted) values, \(found) found")
    }
    return info
  }

  private mutating func apply(_ operation: Operation) throws {
    if draft.operations.count >= Limits.operations {
      throw StoreError(.invalid, "more than \(Limits.operations) operations in one write; split it")
    }
    let failure = failure
    switch try failure.guarding({ try draft.apply(operation) }) {
    case nil: break
    case .exists: throw StoreError(.exists, "\(operation.key) is here already")
    case .overflow:
      throw StoreError(.overflow, "a counter of \(operation.key) would leave the range of 64-bit integers")
    case .gone: throw StoreError(.notFound, "\(operation.key) is not here")
    case .invalid: throw StoreError(.invalid, "\(operation.key) would take more than \(Limits.rowBytes) bytes")
    case let code?: throw StoreError(.invalid, "\(operation.key): \(code)")
    }
  }

  /// A step on the database: its first error fails the whole write.
  func guarding<T>(_ step: (Store, Draft) throws -> T) throws -> T {
    try failure.guarding { try step(store, draft) }
  }

  consuming func finish() throws -> Draft {
    try failure.check()
    for key in restricted { try checkFree(key) }
    return draft
  }
}

/// The first error of the database within a write. After some of them (full disk, I/O) SQLite has rolled the transaction back
/// by itself, and what followed would be committed alone; so nothing may follow.
private final class WriteFailure {
  private var error: (any Error)?

  func check() throws { if let error { throw error } }

  func guarding<T>(_ step: () throws -> T) throws -> T {
    try check()
    do { return try step() } catch {
      self.error = error
      throw error
    }
  }
}

extension Store {
  /// Runs a closure as one write: the rows and the outbox entry are one transaction, durable when this returns.
  ///
  /// - Parameter name: if it is given, and a write of this name has been carried out on this file, nothing happens.
  /// - Returns: the mutation's id; nil if the closure changed nothing, and then nothing is written.
  package func write(
    _ label: String? = nil, once name: String? = nil, _ body: (inout WriteTransaction) throws -> Void
  ) throws -> MutationID? { try write(label, once: name, as: nil, body) }

  /// - Parameter origin: the id and time that the mutation was given elsewhere.
  func write(
    _ label: String?, once name: String?, as origin: (id: MutationID, madeAt: Int64)?,
    _ body: (inout WriteTransaction) throws -> Void
  ) throws -> MutationID? {
    try transaction {
      if let name {
        // With the rows, so that it is noted if and only if they are there.
        let isNew = try connection.run("INSERT OR IGNORE INTO skerry_done(name) VALUES (?)", .text(name)) > 0
        if !isNew { return nil }
      }
      let id = origin?.id ?? ambient.makeMutationID()
      let draft = try IDSource.$ambient.withValue(ambient) {
        var write = try WriteTransaction(self, id: id)
        try body(&write)
        return try write.finish()
      }
      if draft.operations.isEmpty { return nil }
      let encoded = Operation.encode(draft.operations)
      let size = encoded.count
      if size > Limits.mutationBytes {
        throw StoreError(.invalid, "the write takes \(size) bytes, \(Limits.mutationBytes) are allowed; split it")
      }
      let inMessage = draft.operations.reduce(0) { $0 + $1.messageBytes }
      if inMessage > Limits.mutationMessageBytes {
        throw StoreError(
          .invalid,
          "the write may take \(inMessage) bytes on its way, \(Limits.mutationMessageBytes) are allowed; split it")
      }
      try enqueue(draft, encoded, label: label, madeAt: origin?.madeAt)
      return id
    }
  }
}
