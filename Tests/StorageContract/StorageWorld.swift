// SPDX-License-Identifier: Apache-2.0

import SkerryMerge
package import SkerryModel
package import SkerryServerCore
import Testing

/// A storage under test over `Schema.contract`, empty, and another program that works on the same database.
///
/// The other program is one connection of its own that knows nothing of Skerry. What differs between databases comes with it.
package struct StorageWorld {
  package let storage: any Storage
  /// Runs one statement of the other program.
  package let foreign: (_ sql: String) throws -> Void
  /// The statement by which the other program begins a transaction that writes.
  package let begin: String
  /// Every statement by which the database lets a program insert a row or, if its key is taken, change the one that is there.
  package let upserts: [@Sendable (_ upsert: Upsert) -> String]
  /// Opens the same database again, with another schema.
  package let reopen: (_ catalog: Catalog) throws -> any Storage
  /// Makes the database run a statement of the app's own after each insert into a table.
  package let install: (_ sideEffect: SideEffect) throws -> Void

  /// A row, its columns as SQL literals; the first column is the key.
  package struct Upsert {
    package let table: String
    package let columns: [String]
    package let literals: [String]
  }

  /// What the app's own trigger does after each insert into a table.
  package struct SideEffect {
    package let table: String
    package let statement: String
  }

  package init(
    storage: any Storage, begin: String, upserts: [@Sendable (Upsert) -> String],
    foreign: @escaping (String) throws -> Void, reopen: @escaping (Catalog) throws -> any Storage,
    install: @escaping (SideEffect) throws -> Void
  ) {
    self.storage = storage
    self.foreign = foreign
    self.begin = begin
    self.upserts = upserts
    self.reopen = reopen
    self.install = install
  }
}

/// One sentence of the contract, and what shows that a storage keeps it. It needs an empty storage of its own.
package struct ContractCase: Sendable, CustomTestStringConvertible {
  package let sentence: String
  package let run: @Sendable (StorageWorld) throws -> Void

  init(_ sentence: String, _ run: @escaping @Sendable (StorageWorld) throws -> Void) {
    self.sentence = sentence
    self.run = run
  }

  package var testDescription: String { sentence }
}

/// The conformance suite of the `Storage` port, chapter by chapter. A backend is finished when it passes all of them.
///
/// A case takes values out of a transaction and judges them outside: closures within an expectation that is itself within a
/// closure have been seen to be mixed up by the compiler (6.3.1).
package enum StorageContract {
  /// The checked schema that the storage under test is to be opened with.
  package static func catalog() throws -> Catalog { try Catalog(.contract) }

  package static var all: [ContractCase] {
    transactions + rows + relatives + captures + versions + sequenced + log + members + receipts + identity + schemas
  }
}

extension StorageWorld {
  func row(_ key: RowKey) throws -> RowState? { try storage.read { try $0.row(key) } }

  /// What is captured and not sequenced, in the order of the numbers.
  func captures() throws -> [Capture] { try storage.read { try $0.captures() } }

  /// The rows that are captured, each once.
  func capturedRows() throws -> Set<RowKey> {
    Set(
      try captures().compactMap { capture in
        if case .row(let key) = capture.subject { key } else { nil }
      })
  }

  func clearCaptures() throws {
    try storage.write { transaction in try transaction.removeCaptures(transaction.captures().map(\.number)) }
  }

  /// Lets the other program run some statements in one transaction.
  func commit(_ statements: String...) throws {
    try foreign(begin)
    for statement in statements { try foreign(statement) }
    try foreign("COMMIT")
  }

  /// Writes a row as the mutation of that number does.
  func write(_ key: RowKey, _ values: [Value]?, by mutation: Int, index: UInt16 = 0) throws {
    try storage.write { transaction in
      try transaction.put(key, values, by: Writer(mutation: .numbered(mutation), index: index))
    }
  }
}

extension StorageTransaction {
  /// Writes a row from what it is to these values, with the version and incarnation that the rule would give it.
  func put(_ key: RowKey, _ values: [Value]?, by writer: Writer) throws {
    let old = try row(key)
    let incarnation = old?.incarnation ?? Incarnation(tag: writer.mutation.tag, index: writer.index)
    let new = values.map { RowState(values: $0, version: writer.mutation.tag, incarnation: incarnation) }
    try write(key, from: old, to: new, by: writer)
  }
}

extension MutationID {
  /// An id that a test can name.
  static func numbered(_ number: Int) -> MutationID { MutationID(raw: Bytes16(high: 0x7000, low: UInt64(number))) }
}

/// Keys and values of the contract's tables.
enum Sample {
  static func item(_ id: String) -> RowKey { RowKey("item", .text(id)) }

  /// In the order of the schema's columns.
  static func values(
    item id: String, title: Value = .null, n: Int64 = 0, home: Value = .null, also: Value = .null
  ) -> [Value] { [title, .text(id), .integer(n), home, also] }

  /// The text as a literal of SQL. By scalars: a combining mark would hide the quote before it from `Character`.
  static func literal(_ text: String) -> String {
    var out = "'"
    for scalar in text.unicodeScalars {
      out.unicodeScalars.append(scalar)
      if scalar == "'" { out.unicodeScalars.append(scalar) }
    }
    return out + "'"
  }

  /// Inserts an item as another program does.
  static func insert(item id: String, title: String = "NULL", home: String = "NULL") -> String {
    "INSERT INTO item(id, title, n, home) VALUES (\(literal(id)), \(title), 0, \(home))"
  }
}

/// Whether a call is refused as busy.
func isBusy(_ body: () throws -> Void) rethrows -> Bool {
  do { try body() } catch StorageError.busy { return true }
  return false
}

/// What the database's constraint says; nil if it refuses nothing.
func constraint(_ body: () throws -> Void) rethrows -> String? {
  do { try body() } catch StorageError.constraint(let text) { return text }
  return nil
}

/// What a test throws to see it come out again.
struct Refused: Error {}
