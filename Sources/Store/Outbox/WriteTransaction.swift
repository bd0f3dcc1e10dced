// SPDX-License-Identifier: Apache-2.0

import SkerryMerge
public import SkerryModel

/// What `write` hands to its closure: changes rows here and now, and collects what travels to the server.
///
/// It cannot be copied or leave the closure. Everything that it does is one transaction: when the closure throws, nothing
/// has happened. A step that is refused has done nothing, so the closure may catch that and go on; an error of the database
/// fails the whole write, even if the closure catches it.
public struct WriteTransaction: ~Copyable {
  private var draft: Draft
  private let store: Store
  private let failure = WriteFailure()

  init(_ store: Store, id: MutationID) throws {
    self.store = store
    draft = try Draft(store, id: id)
  }

  /// Adds a row; columns not named are null, counters 0.
  ///
  /// - Returns: the row's key.
  /// - Throws: `StoreError`: `invalid` if the values do not fit the schema or a limit, `exists` if the key is taken.
  @discardableResult
  public mutating func insert(_ table: String, _ values: [String: Value]) throws -> RowKey {
    let info = try self.table(table)
    let keyValues = try info.definition.key.map { name in
      guard let value = values[name] else { throw StoreError(.invalid, "\(table).\(name): the key needs a value") }
      return value
    }
    let fields = values.sorted { $0.key < $1.key }.map { Field($0.key, $0.value) }
    let operation = try store.normalised(Operation(RowKey(table, values: keyValues), nil, .insert(fields)))
    try apply(operation)
    return operation.key
  }

  /// Gives columns new values; those that have the value already are left out, and if that leaves none, nothing happens.
  ///
  /// - Throws: `StoreError`: `invalid`, or `notFound` if there is no such row.
  public mutating func update(_ key: RowKey, _ values: [String: Value]) throws {
    if values.isEmpty { return }
    let info = try table(key.table)
    let row = try existing(key)
    if values.isEmpty { return }
    let fields = values.sorted { $0.key < $1.key }.map { Field($0.key, $0.value) }
    let base = info.checksVersion ? row.version : nil
    guard
      case .set(let clean, _) = try store.normalised(
        Operation(key, row.incarnation, .set(fields, base: base))
      ).action
    else { return }
    let changed = clean.filter { field in info.index(of: field.column).map { row.values[$0] } != field.value }
    if changed.isEmpty { return }
    try apply(Operation(key, row.incarnation, .set(changed, base: base)))
  }

  /// Adds a number to a counter column. Increments from several devices add up.
  ///
  /// - Throws: `StoreError`: `invalid`, `notFound`, or `overflow`.
  public mutating func increment(_ key: RowKey, _ column: String, by amount: Int64 = 1) throws {
    let row = try existing(key)
    if amount == 0 { return }
    try apply(try store.normalised(Operation(key, row.incarnation, .increment(column, by: amount))))
  }

  /// Removes a row.
  ///
  /// - Throws: `StoreError` with code `notFound` if there is no such row.
  public mutating func delete(_ key: RowKey) throws {
    let row = try existing(key)
    try apply(try store.normalised(Operation(key, row.incarnation, .delete)))
  }

  /// A row as it is now, this transaction's own changes included; nil if there is none.
  public func row(_ key: RowKey) throws -> [String: Value]? {
    let info = try table(of: key)
    guard let state = try failure.guarding({ try draft.visible(key) }) else { return nil }
    return Dictionary(uniqueKeysWithValues: zip(info.columns.map(\.name), state.values))
  }

  /// A new id for a row: a UUIDv7, final from now on.
  public func makeID() -> String { store.ambient.makeRowID() }

  private func table(_ name: String) throws -> TableInfo {
    guard let table = store.catalog.table(name) else { throw StoreError(.invalid, "the schema has no table '\(name)'") }
    return table
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

  private func existing(_ key: RowKey) throws -> RowState {
    _ = try table(of: key)
    guard let row = try failure.guarding({ try draft.visible(key) }) else {
      throw StoreError(.notFound, "\(key) is not here")
    }
    return row
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

  consuming func finish() throws -> Draft {
    try failure.check()
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
  /// - Returns: the mutation's id; nil if the closure changed nothing, and then nothing is written.
  package func write(
    _ label: String? = nil, _ body: (inout WriteTransaction) throws -> Void
  ) throws -> MutationID? {
    try transaction {
      let id = ambient.makeMutationID()
      var write = try WriteTransaction(self, id: id)
      try body(&write)
      let draft = try write.finish()
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
      try enqueue(draft, encoded, label: label)
      return id
    }
  }
}
