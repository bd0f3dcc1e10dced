// SPDX-License-Identifier: Apache-2.0

public import SkerryModel
import SkerrySQLiteKit

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

  init(row: SQLiteRow) throws {
    guard let id = MutationID(bytes: row.blob(1)) else { throw StoreError(.damaged, "id of an outbox entry") }
    let operations: [Operation]
    do { operations = try Operation.decode(row.blob(3)) } catch {
      throw StoreError(.damaged, "operations of outbox entry \(id): \(error)")
    }
    let isSent = row.integer(7) != 0
    self.init(
      id: id, label: row.isNull(4) ? nil : row.text(4), madeAt: row.integer(5), operations: operations,
      state: row.integer(9) != 0 ? .failed : isSent ? .sent : .waiting, attempts: Int(row.integer(10)),
      lastError: row.isNull(11) ? nil : row.text(11), isVoid: row.integer(6) != 0, number: row.integer(2),
      made: row.integer(0), isSent: isSent, isDormant: row.integer(8) != 0)
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
