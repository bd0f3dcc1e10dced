// SPDX-License-Identifier: Apache-2.0

/// What was got out of a damaged store.
public struct SalvageReport: Sendable, Equatable {
  /// The waiting mutations that the new store has, byte for byte as they were written, under their own ids.
  public let salvaged: Int
  /// Of these, the ones that an earlier version of the library wrote without a checksum: they are whole by their form only.
  public let unverified: Int
  /// Mutations of which something was found, and not all. What has gone without a trace is not among them.
  public let unreadable: Int
  /// The path of the new store.
  public let store: String
  /// The path under which the damaged file is kept; its WAL, if it had one, is beside it under `…-wal`.
  public let damaged: String
}
