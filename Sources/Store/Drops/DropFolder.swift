// SPDX-License-Identifier: Apache-2.0

import SkerryAmbientKit
package import SkerryFileKit
public import SkerryModel
import SkerryRecords

/// A folder in which a process that must not open the store leaves writes for the one that does: an extension with little memory,
/// or one that the system may stop with the file locked.
///
/// Each write is a file of its own, whole or not there, and durable when `write` returns. The replica that is opened with the
/// folder takes each in once, under the mutation id that it was dropped with, and removes it then. What cannot be taken in is set
/// aside under the name `….refused` and reported, and never removed.
public struct DropFolder: Sendable {
  /// The folder's path, such as one in the app group's container. It must exist when something is written.
  public let path: String
  let files: FileSystem
  let ambient: any Ambient

  /// A folder by its path.
  public init(_ path: String) { self.init(path, files: .system, ambient: SystemAmbient()) }

  package init(_ path: String, files: FileSystem, ambient: any Ambient) {
    self.path = path
    self.files = files
    self.ambient = ambient
  }

  /// Runs a closure and drops what it records as one write. The store is not looked at: whether the rows are there, and whether
  /// constraints hold, shows when the drop is collected.
  ///
  /// - Parameters:
  ///   - label: what the app calls the change, for the outbox and for refusals.
  ///   - account: whose store it is for.
  ///   - schema: what the app declares; an earlier version than the collecting app's is brought to that one.
  /// - Returns: the mutation's id; nil if the closure recorded nothing, and then nothing was written.
  /// - Throws: `SchemaError`; `StoreError` with code `invalid` if something does not fit the schema or a limit; `FileError` when
  ///   the file cannot be written; what the closure throws. Nothing was dropped then.
  @discardableResult
  public func write(
    _ label: String? = nil, account: AccountID, schema: Schema, _ body: (inout DropTransaction) throws -> Void
  ) throws -> MutationID? {
    let id = ambient.makeMutationID()
    var transaction = DropTransaction(try Catalog(schema))
    try IDSource.$ambient.withValue(ambient) { try body(&transaction) }
    let operations = transaction.operations
    if operations.isEmpty { return nil }
    let drop = Drop(
      id: id, account: account, schema: schema, madeAt: ambient.now(), label: label, operations: operations)
    let bytes = try drop.encoded()
    let name = drop.fileName
    try files.write(bytes, to: path + "/" + name, by: path + "/." + name + ".draft", mode: 0o600)
    return id
  }

  /// The names of an account's drops, oldest first.
  func names(of account: AccountID) throws -> [String] {
    let start = StorePlace.accountMark(account) + "-"
    return try files.names(in: path).filter { $0.hasPrefix(start) && $0.hasSuffix(Drop.suffix) }
  }
}

/// What `DropFolder.write` hands to its closure: records changes of rows that it cannot see.
public struct DropTransaction: ~Copyable {
  private let catalog: Catalog
  private(set) var operations: [Operation] = []

  init(_ catalog: Catalog) { self.catalog = catalog }

  /// Records a change of a row that is not seen.
  mutating func change(_ key: RowKey, _ action: Operation.Action) throws {
    // The check wants an incarnation; any will do.
    let meant = Incarnation(tag: VersionTag(raw: Bytes16(high: 0, low: 0)), index: 0)
    try append(to: key.table) { catalog, table throws(OperationError) in
      try catalog.normalised(Operation(key, meant, action), in: table)
    }
  }

  /// Records an operation in its normal form, without an incarnation.
  mutating func append(
    to name: String, _ make: (Catalog, TableInfo) throws(OperationError) -> Operation
  ) throws {
    guard let table = catalog.table(name) else {
      let reason = catalog.localTable(name) == nil ? "the schema has no table" : "a drop holds no rows of a local table"
      throw StoreError(.invalid, "\(reason) '\(name)'")
    }
    if operations.count >= Limits.operations {
      throw StoreError(.invalid, "more than \(Limits.operations) operations in one write; split it")
    }
    do throws(OperationError) {
      let clean = try make(catalog, table)
      operations.append(Operation(clean.key, nil, clean.action))
    } catch { throw StoreError(.invalid, error.description) }
  }
}

/// By names, for commands and tests.
extension DropTransaction {
  package mutating func insert(_ table: String, _ values: [String: Value]) throws {
    try append(to: table) { catalog, info throws(OperationError) in
      let key = info.definition.key.map { values[$0] ?? .null }
      return try catalog.normalised(Operation(RowKey(table, values: key), nil, .insert(values.fields)), in: info)
    }
  }

  package mutating func set(_ key: RowKey, _ values: [String: Value]) throws {
    try change(key, .set(values.fields, base: nil))
  }
}

extension [String: Value] {
  fileprivate var fields: [Field] { sorted { $0.key < $1.key }.map { Field($0.key, $0.value) } }
}
