// SPDX-License-Identifier: Apache-2.0

import SkerryModel
public import SkerryRecords
import SkerrySQLiteKit
public import SkerryStore

extension Replica {
  /// Why a row shows what it shows: what the server confirmed, what waits, what was decided about it, and how fresh it is, all as
  /// of one moment. A row that is not here has its reason too.
  ///
  /// - Throws: `StoreError` with code `invalid` for a table that is not in the schema, or is on the device only, or `suspended`; an
  ///   error of the database.
  public nonisolated func explain<R: Record>(_ id: RowID<R>) async throws -> RowExplanation {
    try await explain(R.self, key: id)
  }

  /// The same by the values of the key columns, in the order in which the key is declared.
  public nonisolated func explain<R: Record>(_ type: R.Type, key: any ColumnValue...) async throws -> RowExplanation {
    let key = try R.key(key)
    let catalog = catalog
    return try await reading { RowExplanation(try Store.explain(key, catalog: catalog, on: $0)) }
  }
}

extension Replica {
  /// Everything that helps to find out what is wrong on a device, as one JSON object for whoever supports the app: names of
  /// the schema, counts, states, versions, times, what was decided last, and the newest entries of the log if there is one.
  ///
  /// No value and no key of a row, no token and no text of a server's is in it. The account, labels and names of spaces are
  /// hashes that mean nothing outside this bundle.
  ///
  /// - Throws: `StoreError` with code `suspended`; an error of the database.
  public func supportBundle() async throws -> String {
    var live = SupportBundle.Live()
    live.condition = session.map { _ in condition() }
    live.report = session?.totals
    live.policy = policy
    live.log = log?.recent
    let (ambient, known) = (ambient, live)
    return try await reading { try SupportBundle(of: $0, ambient, known).text }
  }
}
