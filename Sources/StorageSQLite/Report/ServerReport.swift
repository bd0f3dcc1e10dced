// SPDX-License-Identifier: Apache-2.0

package import SkerryModel
package import SkerryServerCore

/// What a server's file holds, in names and counts: no value of any row.
package struct ServerReport: Sendable, Equatable {
  /// A table of the app that is captured.
  package struct Table: Sendable, Equatable {
    package let name: String
    package let rows: Int64
    /// Captures that wait for the sequencer.
    package let captures: Int64
  }

  /// A space that the log has named.
  package struct Space: Sendable, Equatable {
    package let name: SpaceID
    /// The newest position in it.
    package let head: Int64
    /// What its rows add up to, and how many they are.
    package let digest: SpaceDigest
  }

  /// A device that the server has heard of.
  package struct Replica: Sendable, Equatable {
    package let id: ReplicaID
    package let account: AccountID
    /// Everything up to this number is published there.
    package let settled: Int64
    /// Receipts that it reads, and of those the ones without a position yet.
    package let receipts: Int64
    package let unsequenced: Int64
  }

  package internal(set) var app = ""
  package internal(set) var version: Int64 = 0
  package internal(set) var fingerprint: [UInt8] = []
  package internal(set) var history = History(epoch: "", head: 0, floor: 0, safe: 0)
  /// Of the newest run; nil if no run has given a position yet, or the file has lost it.
  package internal(set) var nonce: String?
  package internal(set) var tables: [Table] = []
  package internal(set) var spaces: [Space] = []
  package internal(set) var replicas: [Replica] = []
  /// Entries of the log by kind; those that are not live are tombstones.
  package internal(set) var log: [EntryKind: Int64] = [:]
  /// Captures of rows and receipts that wait for the sequencer.
  package internal(set) var captures: Int64 = 0
  package internal(set) var runs: Int64 = 0
  /// Users in spaces, by membership tables.
  package internal(set) var memberships: Int64 = 0
  /// Verdicts by outcome.
  package internal(set) var receipts: [Outcome: Int64] = [:]

  init() {}
}
