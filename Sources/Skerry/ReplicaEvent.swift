// SPDX-License-Identifier: Apache-2.0

public import SkerryModel

/// What is true of a replica.
public struct ReplicaFacts: Sendable, Equatable {
  /// Mutations without an outcome.
  public let pending: Int
  /// When it last was as the server was, in milliseconds since 1970 by the device's clock; nil before the first time.
  public let syncedAt: Int64?
  /// Whether a long catch-up is being published page by page, so that half of a change may be visible.
  public let isCatchingUp: Bool
  /// How often a checksum differed from the server's.
  public let digestMismatches: Int64
  /// Rows that the app brought along as already on the server, and that no sync has confirmed: shown, and maybe wrong.
  public let unconfirmed: Int
}

/// Something that happened to a replica.
public enum ReplicaEvent: Sendable, Equatable {
  /// Rows of these tables changed by syncing.
  case changed(tables: Set<String>)
  /// These mutations have their outcome: look for refusals in `rejections`.
  case settled([MutationID])
  /// The account lost this space; its rows are gone from here.
  case accessLost(SpaceID)
  /// The checksums of these spaces differ from the server's.
  case digestMismatch([SpaceID])
  /// The replica is as the server was.
  case consistent
  /// Rows were left out of an answer, since they are not what the query makes of them: why, without any value.
  case unreadable([String])
  /// Drops were set aside: where they are kept, each with the reason.
  case dropsRefused([String])
  /// The folder of drops could not be read, or a drop could not be taken in for now: what the system said. It is tried again.
  case dropsFailed(String)
}
