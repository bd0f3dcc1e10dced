// SPDX-License-Identifier: Apache-2.0

package import SkerryModel

/// What a device's file holds, in names and counts: no value of any row.
///
/// Keys of rows are in it, for whoever asks for them; a face that shows it decides whether to show those.
package struct StoreReport: Sendable, Equatable {
  /// How far the file is in step with the server.
  package enum Phase: String, Sendable {
    /// It has never had an answer of a server.
    case neverSynced
    /// Spaces are being filled: the first sync, a refill after a reset, or a space that was gained.
    case filling
    /// A catch-up of ordinary size has begun, and is kept aside until it is whole.
    case catchUp
    /// A catch-up above the bound is being published page by page.
    case longCatchUp
    /// The last that was heard of the server ended at a consistent point.
    case atRest
  }

  /// A table of the app.
  package struct Table: Sendable, Equatable {
    package let name: String
    /// As the user sees them.
    package let rows: Int64
    /// As the server last confirmed them.
    package let confirmed: Int64
    /// That the app brought along as already on the server, and that no page has confirmed.
    package let unconfirmed: Int64
    /// That the outbox touches, whether or not they are visible.
    package let pending: Int64
    /// That have arrived and are kept aside.
    package let staged: Int64
  }

  /// A space that the file has met.
  package struct Space: Sendable, Equatable {
    /// How the file stands to a space. Whether the account is still a member of one without rows, only the server knows.
    package enum State: String, Sendable {
      /// All its rows are here.
      case filled
      /// Its rows are still coming.
      case filling
      /// No row of it is here: it has none, or the account no longer holds it.
      case empty
      /// The account has lost it, and nobody has acknowledged that.
      case lost
    }

    package let name: SpaceID
    /// Confirmed rows.
    package let rows: Int64
    package let state: State
  }

  /// An entry of the outbox.
  package struct Entry: Sendable, Equatable {
    /// How far it is, in the order in which one of these hides the others.
    package enum State: String, Sendable {
      /// Offered again after a reset; it sleeps until the refill is published.
      case dormant
      /// It failed alone while others passed, and waits for a person.
      case setAside
      /// Discarded; it keeps its number and settles without effect.
      case void
      /// It was handed to the transport.
      case sent
      /// It was never handed to the transport.
      case waiting
    }

    package let id: MutationID
    /// The order in which this device made its mutations.
    let made: Int64
    package let number: Int64
    package let label: String?
    package let madeAt: Int64
    package let state: State
    package let isSent: Bool
    package let attempts: Int
    package let lastError: String?
    /// What its operations take.
    package let bytes: Int
    /// The mutations that must be settled before it may be judged.
    package internal(set) var after: [MutationID] = []
    /// The rows that it touches.
    package internal(set) var keys: [RowKey] = []
  }

  /// A refusal that nobody has acknowledged.
  package struct Refusal: Sendable, Equatable {
    package let id: MutationID
    package let outcome: Outcome
    package let code: RefusalCode?
    package let reason: String?
    package let label: String?
    package let at: Int64
    package let keys: [RowKey]
  }

  package internal(set) var format: Int64 = 0
  /// The schema that the file was made with, by name and version: more of it is not kept in the file.
  package internal(set) var app = ""
  package internal(set) var version: Int64 = 0
  package internal(set) var account: AccountID = ""
  /// All ids that the file has had; the last is in use.
  package internal(set) var replicas: [ReplicaID] = []
  package internal(set) var cursor: Cursor?
  package internal(set) var syncedAt: Int64?
  package internal(set) var phase = Phase.neverSynced
  /// The items of the catch-up so far.
  package internal(set) var items: Int64 = 0
  package internal(set) var tables: [Table] = []
  package internal(set) var spaces: [Space] = []
  package internal(set) var lostSpaces: [SpaceID] = []
  package internal(set) var outbox: [Entry] = []
  package internal(set) var refusals: [Refusal] = []
  /// The newest decisions, oldest first.
  package internal(set) var decisions: [PastDecision] = []
  /// Confirmed mutations that the server has not called safe.
  package internal(set) var archived: Int64 = 0
  /// How often a digest differed from the server's.
  package internal(set) var mismatches: Int64 = 0
}
