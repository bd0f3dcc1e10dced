// SPDX-License-Identifier: Apache-2.0

import SkerryModel
public import SkerryRecords
public import SkerryStore

/// Rows that an app brings along: from the database that it had before, or from a file.
extension Replica {
  /// Adopts rows of one table. Call it at each start until it has returned once; after a death it goes on where it was, and no
  /// row comes twice. Once it has returned, a call under the same name does nothing, and does not look at the rows.
  ///
  /// What Skerry has wins: a row that is here already is left as it is, whether it is the same or was edited since, and one
  /// that was deleted since does not come back. Rows of tables that others refer to are adopted first.
  ///
  /// It is many transactions, and the rows may be read lazily. Tables can be written and synced meanwhile.
  ///
  /// - Parameters:
  ///   - rows: the records, in any order; but with `unsent`, rows that others of the table refer to come first.
  ///   - mode: what is known of them.
  ///   - name: what this adoption is called on this file; the table's name if nil. A second source needs another name,
  ///     and a table that is renamed while its adoption may still be under way needs one of its own.
  ///   - progress: called after each batch with what was done in this call so far.
  /// - Returns: what became of the rows in this call.
  /// - Throws: `AdoptionError` for a row that cannot be adopted, earlier batches stay; `StoreError` with code `invalid` for a table
  ///   that cannot be adopted so; `CancellationError` between two batches; what the sequence throws.
  @discardableResult
  public nonisolated func adopt<R: Record>(
    _ rows: some Sequence<R>, as mode: AdoptionMode, name: String? = nil,
    progress: (Adoption) async throws -> Void = { _ in }
  ) async throws -> Adoption {
    guard var work = try await begin(R.self, mode, name) else { return .done }
    var batch: [R] = []
    for row in rows {
      batch.append(row)
      guard batch.count == work.size else { continue }
      try await take(&batch, &work)
      try await progress(work.result)
    }
    return try await finish(batch, &work)
  }

  /// Adopts rows of one table that come one after the other, as from a cursor or a download; otherwise as
  /// `adopt(_:as:name:progress:)` with a sequence.
  @discardableResult
  public nonisolated func adopt<R: Record, Rows: AsyncSequence>(
    _ rows: Rows, as mode: AdoptionMode, name: String? = nil, progress: (Adoption) async throws -> Void = { _ in }
  ) async throws -> Adoption where Rows.Element == R {
    guard var work = try await begin(R.self, mode, name) else { return .done }
    var batch: [R] = []
    for try await row in rows {
      batch.append(row)
      guard batch.count == work.size else { continue }
      try await take(&batch, &work)
      try await progress(work.result)
    }
    return try await finish(batch, &work)
  }

  /// Adopts rows that are given as inserts, for a program that knows its schema at run time only.
  ///
  /// - Parameter table: of the replica's schema.
  package nonisolated func adopt(
    _ rows: some Sequence<Operation>, of table: String, as mode: AdoptionMode, name: String? = nil,
    progress: (Adoption) throws -> Void = { _ in }
  ) async throws -> Adoption {
    guard let info = catalog.table(table) ?? catalog.localTable(table) else {
      throw StoreError(.invalid, "the schema has no table '\(table)'")
    }
    guard var work = try await begin(info, mode, name) else { return .done }
    var batch: [Operation] = []
    for row in rows {
      batch.append(row)
      guard batch.count == work.size else { continue }
      try await take(batch, &work)
      batch.removeAll()
      try progress(work.result)
    }
    if !batch.isEmpty { try await take(batch, &work) }
    try await end(work)
    return work.result
  }

  // MARK: Batches

  /// An adoption that is under way.
  private struct Work {
    let table: TableInfo
    let mode: AdoptionMode
    let name: String
    let size: Int
    var result = Adoption()
  }

  private nonisolated func begin<R: Record>(
    _ type: R.Type, _ mode: AdoptionMode, _ name: String?
  ) async throws -> Work? {
    try await begin(try await table(of: type), mode, name)
  }

  private func table<R: Record>(of type: R.Type) throws -> TableInfo { try store.table(of: type) }

  private nonisolated func begin(_ table: TableInfo, _ mode: AdoptionMode, _ name: String?) async throws -> Work? {
    try catalog.check(mode, of: table)
    let name = name ?? table.name
    if try await hasAdopted(name) { return nil }
    // Guesses are no mutations: many in one transaction, and yet others have their turn in between.
    let size = if case .unsent(let batch) = mode { min(batch, Limits.operations) } else { 500 }
    return Work(table: table, mode: mode, name: name, size: size)
  }

  private nonisolated func take<R: Record>(_ batch: inout [R], _ work: inout Work) async throws {
    let first = work.result.rows + 1
    var rows: [Operation] = []
    for (index, record) in batch.enumerated() {
      do throws(OperationError) {
        rows.append(try catalog.insertion(of: try R.table.values(of: record), into: work.table))
      } catch { throw AdoptionError(row: first + index, StoreError(.invalid, error.description)) }
    }
    batch.removeAll(keepingCapacity: true)
    try await take(rows, &work)
  }

  private nonisolated func take(_ rows: [Operation], _ work: inout Work) async throws {
    try Task.checkCancellation()
    work.result.add(try await store(rows, work))
  }

  private nonisolated func finish<R: Record>(_ batch: [R], _ work: inout Work) async throws -> Adoption {
    var rest = batch
    if !rest.isEmpty { try await take(&rest, &work) }
    try await end(work)
    return work.result
  }

  private func hasAdopted(_ name: String) throws -> Bool { try store.hasAdopted(name) }

  private func store(_ rows: [Operation], _ work: Work) throws -> Adoption {
    let result = try store.adopt(
      rows, of: work.table, from: work.result.rows + 1, as: work.mode, name: work.name)
    if result.added > 0, work.mode != .alreadyOnServer { changed() }
    return result
  }

  private func end(_ work: Work) throws {
    try store.endAdoption(work.name)
    let result = work.result
    log?.note(
      .adoption, level: .notice,
      numbers: [
        "added": Int64(result.added), "differing": Int64(result.differing), "late": Int64(result.late),
        "resumed": Int64(result.resumed), "unchanged": Int64(result.unchanged),
      ], words: ["table": work.table.name])
  }
}
