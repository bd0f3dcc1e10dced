// SPDX-License-Identifier: Apache-2.0

public import SkerryModel
public import SkerryRecords
import SkerrySQLiteKit
import SkerryTables

/// A mutation that waits for its outcome, as the app can read it.
public struct OutboxEntry: Sendable, Equatable {
  /// How far it is.
  public enum State: String, Sendable {
    /// It was not handed to the transport yet.
    case waiting
    /// It was handed to the transport, maybe more than once; its bytes are frozen.
    case sent
    /// It failed alone while others passed, and waits for a person: retry or discard.
    case failed
  }

  /// The mutation's id.
  public let id: MutationID
  /// What the app called it in `write`; nil if it did not.
  public let label: String?
  /// When it was made, in milliseconds since 1970 by the device's clock.
  public let madeAt: Int64
  /// What it does.
  public let operations: [Operation]
  /// How far it is.
  public let state: State
  /// How often it was offered alone without success.
  public let attempts: Int
  /// What the last failure said; nil if there was none.
  public let lastError: String?
  /// Whether the user discarded it: it keeps its number and settles without effect.
  public let isVoid: Bool
  /// The bytes that its operations take.
  public let bytes: Int

  /// What sort of change it is, to group by: the label, or what its first operation does, such as "insert people".
  public var kind: String { label ?? operations.first.map { "\($0.verb) \($0.key.table)" } ?? "nothing" }
  /// The row of its first operation.
  public var item: RowKey? { operations.first?.key }

  package let number: Int64
  /// The order in which this device made its mutations.
  package let made: Int64
  package let isSent: Bool
  /// Offered again after a reset: its effects are in the old base, so it is no part of the overlay until the refill is
  /// published.
  package let isDormant: Bool
}

extension OutboxEntry {
  static let columns = "made, mid, n, ops, label, at, void, sent, dormant, failed, attempts, error"

  init(row: SQLiteRow) throws { try self.init(row.modelValues(0..<12)) }

  /// Reads the values of `columns`.
  init(_ values: [Value]) throws {
    guard case .blob(let mid) = values[1], let id = MutationID(bytes: mid), case .blob(let encoded) = values[3] else {
      throw StoreError(.damaged, "id or operations of an outbox entry")
    }
    let operations: [Operation]
    do { operations = try Operation.decode(encoded) } catch {
      throw StoreError(.damaged, "operations of outbox entry \(id): \(error)")
    }
    func number(_ column: Int) -> Int64 { values[column].integer ?? 0 }
    let isSent = number(7) != 0
    self.init(
      id: id, label: values[4].text, madeAt: number(5), operations: operations,
      state: number(9) != 0 ? .failed : isSent ? .sent : .waiting, attempts: Int(number(10)),
      lastError: values[11].text, isVoid: number(6) != 0, bytes: encoded.count, number: number(2), made: number(0),
      isSent: isSent, isDormant: number(8) != 0)
  }
}

extension Query where Element == OutboxEntry {
  /// What waits for its outcome, in the order in which it was made.
  public static var outbox: Query {
    Query(SQL(trusted: "SELECT \(OutboxEntry.columns) FROM skerry_outbox ORDER BY made")) {
      try OutboxEntry($0.values)
    }
  }
}

/// A mutation that the server refused, with the user's own values: kept until it is acknowledged.
public struct Rejection: Sendable, Equatable {
  /// The mutation's id.
  public let id: MutationID
  /// `rejected`, or `conflicted` if it met a newer version.
  public let outcome: Outcome
  /// Why; nil only when the server no longer knew (the receipt had shrunk before this copy of the file asked).
  public let code: RefusalCode?
  /// A sentence for people; nil like the code.
  public let reason: String?
  /// What it would have done.
  public let operations: [Operation]
  /// What the app called it in `write`; nil if it did not.
  public let label: String?
  /// When the refusal was published, in milliseconds since 1970 by the device's clock.
  public let at: Int64
}
