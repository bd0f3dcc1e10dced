// SPDX-License-Identifier: Apache-2.0

/// How the server judged a mutation, for good.
public enum Outcome: String, Sendable {
  /// Its effects are in the rows.
  case confirmed
  /// It had no effect; the receipt names a code and a reason.
  case rejected
  /// It met a newer version of a row whose table checks versions, and had no effect.
  case conflicted
  /// The user discarded it before it was judged.
  case void
}

/// Why a mutation had no effect. Codes are open: one from a newer server is kept and shown as it is.
public struct RefusalCode: ByteText {
  /// The code's word.
  public let text: String
  /// Takes a code as it was received.
  public init(_ text: String) { self.text = text }

  /// An insert met a row with its key.
  public static let exists = RefusalCode("exists")
  /// The row, or the incarnation that was meant, is no more.
  public static let gone = RefusalCode("gone")
  /// The row has a newer version than the writer saw, in a table that checks versions.
  public static let stale = RefusalCode("stale")
  /// The row is outside the spaces in which the account may write.
  public static let forbidden = RefusalCode("forbidden")
  /// A counter would leave the range of 64-bit integers.
  public static let overflow = RefusalCode("overflow")
  /// The operation does not fit the schema: an unknown table or column, a value of another type, a limit.
  public static let invalid = RefusalCode("invalid")
  /// The mutation's id is in use.
  public static let taken = RefusalCode("taken")
  /// The server's database refused the row by a constraint of its own.
  public static let constraint = RefusalCode("constraint")
}

/// The server's stored judgement on a mutation.
package struct Receipt: Hashable, Sendable {
  package let id: MutationID
  package let outcome: Outcome
  /// Nil when there is nothing to say, and in a receipt that has shrunk.
  package let code: RefusalCode?
  /// A sentence for people; nil like the code.
  package let reason: String?

  package init(id: MutationID, outcome: Outcome, code: RefusalCode? = nil, reason: String? = nil) {
    self.id = id
    self.outcome = outcome
    self.code = code
    self.reason = reason
  }
}

/// One line of a push answer.
package enum Verdict: Hashable, Sendable {
  /// Judged, now or before. The mutation leaves the overlay only with the page that holds its receipt.
  case settled(MutationID, Outcome)
  /// A predecessor is not settled yet: offer again later.
  case notYet(MutationID)
  /// The database was not free: offer again.
  case busy(MutationID)
  /// The number was used with another mutation: this device was copied, and mints a new replica id.
  case identityReused(ReplicaID)
  /// The push names a history that this server does not know: pull first.
  case otherHistory
  /// The replica id belongs to another account.
  case forbidden
}
