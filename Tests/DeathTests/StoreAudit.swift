// SPDX-License-Identifier: Apache-2.0
import SkerryModel
import SkerrySQLiteKit

/// Holds a device's file against what must be true of it at every moment, by code of its own over raw SQL.
struct StoreAudit {
  private let content: StoreContent
  private let catalog: Catalog
  private let faults = Faults()
  /// The rows of the outbox.
  private let touched: Set<RowKey>

  /// What is wrong with the file; empty if nothing is.
  static func faults(_ connection: SQLiteConnection, _ catalog: Catalog, _ ledger: Ledger) throws -> [String] {
    let audit = StoreAudit(content: try StoreContent(connection, catalog), catalog: catalog)
    let integrity = try connection.query("PRAGMA integrity_check") { $0.text(0) }
    audit.faults.expect(integrity == ["ok"], "integrity: \(integrity)")
    audit.checkIndex()
    audit.checkOverlay()
    audit.checkConfirmed()
    try audit.checkCounters(connection)
    try audit.checkPlaces(connection, ledger)
    return audit.faults.list
  }

  private init(content: StoreContent, catalog: Catalog) {
    self.content = content
    self.catalog = catalog
    touched = Set(content.entries.flatMap { $0.operations.map(\.key) })
  }

  // MARK: Row changed if and only if there is an outbox entry

  private func checkIndex() {
    for entry in content.entries {
      faults.expect(content.index[entry.made] ?? [:] == entry.subjects, "index of subjects of entry \(entry.made)")
      let changed = Set(entry.subjects.filter { $0.value > 0 && $0.key.table != "$space" }.keys)
      faults.expect(changed == Set(entry.operations.map(\.key)), "subjects of entry \(entry.made)")
    }
    let orphans = Set(content.index.keys).subtracting(content.entries.map(\.made))
    faults.expect(orphans.isEmpty, "subjects of no entry: \(orphans)")
  }

  private func checkOverlay() {
    let strays = Set(content.bases.keys).subtracting(touched)
    faults.expect(strays.isEmpty, "bases \(strays) that the outbox does not touch")
    for key in touched.sorted() {
      var row = content.bases[key]?.row
      for entry in content.entries where !entry.isAsleep {
        for (index, operation) in entry.operations.enumerated() where operation.key == key {
          row = fold(operation, index, entry.id, row)
        }
      }
      let shown = content.visible[key]
      faults.expect(
        shown?.row == row, "\(key) shows \(String(describing: shown?.row)), folded \(String(describing: row))")
      faults.expect(shown.map { $0.state == 1 && $0.space == nil } ?? true, "\(key) is pending and not marked so")
    }
    for (key, shown) in content.visible where !touched.contains(key) {
      faults.expect(shown.state == 0, "\(key) is marked as pending, and nothing in the outbox touches it")
    }
  }

  /// The rule, written apart: what is refused has no effect.
  private func fold(
    _ operation: SkerryModel.Operation, _ index: Int, _ id: MutationID, _ row: RowContent?
  ) -> RowContent? {
    let tag = id.raw.bytes
    if case .insert(let fields) = operation.action {
      if row != nil { return row }
      var values: [String: Value] = [:]
      for column in catalog.table(operation.key.table)?.columns ?? [] {
        values[column.name] = column.rule == .counter ? .integer(0) : .null
      }
      values["id"] = operation.key.values[0]
      for field in fields { values[field.column] = field.value }
      return RowContent(values: values, tag: tag, incarnation: tag + [UInt8(index / 256), UInt8(index % 256)])
    }
    guard var row, row.incarnation == operation.incarnation?.bytes else { return row }
    switch operation.action {
    case .insert: break
    case .delete: return nil
    case .set(let fields, let base):
      if operation.key.table == "doc", base?.raw.bytes != row.tag { return row }
      for field in fields { row.values[field.column] = field.value }
    case .increment(let column, let amount):
      guard let sum = row.values[column]?.integer?.addingReportingOverflow(amount), !sum.overflow else { return row }
      row.values[column] = .integer(sum.partialValue)
    }
    row.tag = tag
    return row
  }

  // MARK: Confirmed rows, their spaces and digests

  private func checkConfirmed() {
    var sums: [Int64: SpaceDigest] = [:]
    var confirmed: Set<RowKey> = []
    func count(_ key: RowKey, _ row: RowContent, _ space: Int64?) -> Bool {
      confirmed.insert(key)
      guard let hash = catalog.table(key.table).flatMap({ row.hash(key, $0) }) else { return false }
      for id in Set((content.pairs[key] ?? [:]).keys).union(space.map { [$0] } ?? []) {
        sums[id, default: SpaceDigest()].add(hash)
      }
      return space != nil || content.held.contains(key)
    }
    for (key, shown) in content.visible where !touched.contains(key) {
      let isSound = count(key, shown.row, shown.space)
      faults.expect(isSound, "\(key) is in no space, and nothing that brings it back is held")
    }
    for (key, base) in content.bases {
      let isSound = count(key, base.row, base.space)
      faults.expect(isSound, "the base of \(key) is in no space, and nothing that brings it back is held")
    }
    let homeless = Set(content.pairs.keys).subtracting(confirmed)
    faults.expect(homeless.isEmpty, "pairs of rows that are not here: \(homeless)")
    for (id, space) in content.spaces {
      let sum = sums[id] ?? SpaceDigest()
      faults.expect(
        space.digest == sum, "digest of \(space.name): kept \(space.digest?.rows ?? -1) rows, counted \(sum.rows)")
    }
    let unknown = Set(sums.keys).subtracting(content.spaces.keys)
    faults.expect(unknown.isEmpty, "rows in spaces without a name: \(unknown)")
  }

  // MARK: Numbers, and where each write is

  private func checkCounters(_ connection: SQLiteConnection) throws {
    let found = try connection.query("SELECT ids, counter, made, cursor FROM skerry_state") { row in
      (row.text(0), row.integer(1), row.integer(2), row.isNull(3) ? nil : try Cursor(encoded: row.blob(3)))
    }
    guard found.count == 1, let (ids, counter, made, cursor) = found.first else {
      return faults.add("\(found.count) rows of state")
    }
    faults.expect(!ids.isEmpty, "no replica id")
    faults.expect(
      cursor.map { $0.owner.map(\.text).joined(separator: " ") == ids } ?? true, "the cursor serves other ids")
    let numbers = content.entries.map(\.number)
    faults.expect(Set(numbers).count == numbers.count, "a number is used twice: \(numbers)")
    faults.expect(numbers.allSatisfy { $0 <= counter && $0 > 0 }, "numbers \(numbers) above the counter \(counter)")
    let newest = try connection.first(
      """
      SELECT max(made) FROM (SELECT made FROM skerry_outbox UNION ALL SELECT made FROM skerry_archive
        UNION ALL SELECT made FROM skerry_inbox)
      """
    ) { $0.integer(0) }
    faults.expect(newest ?? 0 <= made, "entry \(newest ?? 0) was made after \(made)")
  }

  /// Each acknowledged write is in one place and in one only; without any, the server has called it safe or void.
  private func checkPlaces(_ connection: SQLiteConnection, _ ledger: Ledger) throws {
    var places: [MutationID: [String]] = [:]
    for place in ["outbox", "archive", "inbox"] {
      for id in try connection.query("SELECT mid FROM skerry_\(place)", row: { MutationID(bytes: $0.blob(0)) }) {
        if let id { places[id, default: []].append(place) }
      }
    }
    for (id, list) in places { faults.expect(list.count == 1, "\(id) is in \(list)") }
    for (old, new) in ledger.edits {
      faults.expect(!(places[old] != nil && places[new] != nil), "\(old) is here beside the edit that replaces it")
    }
  }
}
