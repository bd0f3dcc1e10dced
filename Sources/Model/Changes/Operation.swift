// SPDX-License-Identifier: Apache-2.0

/// A column and the value it is given.
public struct Field: Hashable, Sendable {
  /// The column's name.
  public var column: String
  /// The new value.
  public var value: Value

  /// A column and the value it is given.
  public init(_ column: String, _ value: Value) {
    self.column = column
    self.value = value
  }
}

/// One step of a mutation, on one row.
public struct Operation: Hashable, Sendable {
  /// What is done.
  public enum Action: Hashable, Sendable {
    /// A new row with these fields; columns not named get their defaults.
    case insert([Field])
    /// New values of some columns. `base` is the version that the writer saw, in tables that check it.
    case set([Field], base: VersionTag?)
    /// A number added to a counter column.
    case increment(String, by: Int64)
    /// The end of the row.
    case delete
  }

  /// The row.
  public let key: RowKey
  /// The incarnation that is meant; nil for an insert, which begins one.
  public let incarnation: Incarnation?
  /// What is done.
  public let action: Action
  /// Its place in the mutation as it was made, if operations before it are gone since; an insert's incarnation is made of it.
  package var place: UInt16?

  package init(_ key: RowKey, _ incarnation: Incarnation?, _ action: Action, place: UInt16? = nil) {
    self.key = key
    self.incarnation = incarnation
    self.action = action
    self.place = place
  }

  /// The most bytes that it takes in a message.
  package var messageBytes: Int {
    fields.reduce(300 + key.messageBytes) { $0 + $1.column.utf8.count + 4 + $1.value.messageBytes }
  }

  /// What is done, in a word.
  package var verb: String {
    switch action {
    case .insert: "insert"
    case .set: "set"
    case .increment: "increment"
    case .delete: "delete"
    }
  }

  package var isInsert: Bool { if case .insert = action { true } else { false } }
  package var isDelete: Bool { if case .delete = action { true } else { false } }

  /// The fields of an insert or a set.
  package var fields: [Field] {
    switch action {
    case .insert(let fields), .set(let fields, _): fields
    case .increment, .delete: []
    }
  }
}

extension Collection<Operation> {
  /// Each operation with its place in the mutation as it was made.
  package var placed: [(place: Int, operation: Operation)] {
    enumerated().map { (place: $1.place.map(Int.init) ?? $0, operation: $1) }
  }
}

/// What one user action does: an atomic group of operations.
public struct Mutation: Hashable, Sendable {
  /// The client-made id, which is also the idempotency key.
  public let id: MutationID
  /// Dense per replica; a number used again with another id tells a copied device.
  package let number: Int64
  /// The mutations that must be settled on the server before this one may be judged.
  package let after: [MutationID]
  /// The steps, in order.
  public let operations: [Operation]
  /// Discarded by the user after it had got its number: it settles without any effect.
  package let isVoid: Bool

  package init(
    id: MutationID, number: Int64, after: [MutationID] = [], operations: [Operation], isVoid: Bool = false
  ) {
    self.id = id
    self.number = number
    self.after = after
    self.operations = operations
    self.isVoid = isVoid
  }

  /// What the receipt keeps to tell a repeat from another mutation under the same id: a hash of the operations, not of the
  /// envelope (number and predecessors may change when the same mutation is offered again).
  package var contentHash: [UInt8] { SHA256.hash(isVoid ? [0xF6] : Operation.encode(operations)) }
}
