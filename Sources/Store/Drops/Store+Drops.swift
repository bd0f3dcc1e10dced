// SPDX-License-Identifier: Apache-2.0

import SkerryFileKit
import SkerryModel
import SkerrySQLiteKit

/// Taking in what other processes have dropped.
///
/// The order is: (1) one transaction with the rows, the outbox entry and a note that this drop was taken in; (2) the file is
/// removed, and durably so; (3) the note goes. A death after (1) finds the note and removes the file, one after (2) removes the
/// note. Another process that collects at the same time looks for the file within its transaction, so it either finds the note
/// or no file.
extension Store {
  private static let notePrefix = "skerry drop "

  /// Takes in each drop of this account once; what cannot be is set aside.
  ///
  /// - Throws: an error of the database or of the file system: what was not taken in is there for the next call.
  package func collect(_ folder: DropFolder) throws -> DropReport {
    _ = try connection
    var report = DropReport()
    var names = try folder.names(of: account)
    // Two of the same millisecond may be in the wrong order: what misses its row is tried again after the others.
    while !names.isEmpty {
      var late: [(name: String, error: StoreError)] = []
      for name in names {
        if let error = try collect(name, folder, &report) { late.append((name, error)) }
      }
      if late.count == names.count {
        for (name, error) in late { try setAside(name, folder, error, &report) }
        break
      }
      names = late.map(\.name)
    }
    try forgetNotes(folder)
    return report
  }

  /// Removes the notes of drops whose files are gone, once they are gone for good. A process that died may have left some.
  private func forgetNotes(_ folder: DropFolder) throws {
    let start = Store.notePrefix
    let notes = try connection.query(
      "SELECT name FROM skerry_done WHERE name >= ? AND name < ?", .text(start), .text(start + "~")
    ) { $0.text(0) }
    let over = notes.filter { note in
      let name = StorePlace.accountMark(account) + "-" + note.dropFirst(start.count) + Drop.suffix
      return !folder.files.exists(folder.path + "/" + name)
    }
    if over.isEmpty { return }
    try folder.files.syncFolder(of: folder.path + "/.")
    try transaction {
      for note in over { try connection.run("DELETE FROM skerry_done WHERE name = ?", .text(note)) }
    }
  }

  /// - Returns: what it lacks, if it may be there after another drop; nil when it is done with.
  private func collect(_ name: String, _ folder: DropFolder, _ report: inout DropReport) throws -> StoreError? {
    let path = folder.path + "/" + name
    guard let bytes = try folder.files.read(path) else { return nil }
    let (drop, operations): (Drop, [Operation])
    do {
      drop = try Drop(bytes)
      guard let known = try self.operations(of: drop) else {
        report.waiting.append(name)
        return nil
      }
      operations = known
    } catch let error as StoreError {
      try setAside(name, folder, error, &report)
      return nil
    }
    let note = Store.notePrefix + Hex.text(drop.id.raw.bytes)
    do {
      guard let isNew = try take(drop, operations, note, isThere: { folder.files.exists(path) }) else { return nil }
      if isNew { report.collected.append(drop.id) }
      try folder.files.remove(path)
    } catch let error as StoreError where error.code == .notFound {
      return error
    } catch let error as StoreError where Store.drop(isToBlameFor: error) {
      try setAside(name, folder, error, &report)
    }
    return nil
  }

  /// What is wrong with the store is not the drop's fault: it waits.
  private static func drop(isToBlameFor error: StoreError) -> Bool {
    [.invalid, .constraint, .exists, .overflow].contains(error.code)
  }

  private func setAside(
    _ name: String, _ folder: DropFolder, _ error: StoreError, _ report: inout DropReport
  ) throws {
    let path = folder.path + "/" + name
    try folder.files.move(path, to: path + ".refused")
    try folder.files.syncFolder(of: path)
    let id = try folder.files.read(path + ".refused").flatMap { try? Drop($0).id }
    report.refused.append(RefusedDrop(path: path + ".refused", id: id, reason: error))
  }

  /// The operations in this version of the schema; nil if the drop is of a later one.
  private func operations(of drop: Drop) throws -> [Operation]? {
    if drop.account != account { throw StoreError(.otherAccount, "the drop is another account's") }
    if drop.schema == catalog.schema { return drop.operations }
    guard drop.schema.name == catalog.schema.name else {
      throw StoreError(.otherSchema, "the drop is of the app \(drop.schema.name), this one is \(catalog.schema.name)")
    }
    if drop.schema.version > catalog.schema.version { return nil }
    do { return try SchemaUpgrade(from: drop.schema, to: catalog.schema).operations(drop.operations) } catch {
      throw StoreError(.otherSchema, "the drop is of version \(drop.schema.version) of the schema: \(error)")
    }
  }

  /// - Returns: whether it was taken in now, and not before; nil if its file is gone meanwhile.
  private func take(
    _ drop: Drop, _ operations: [Operation], _ note: String, isThere: () -> Bool
  ) throws -> Bool? {
    struct Gone: Error {}
    var isNew = false
    do {
      _ = try write(drop.label, once: note, as: (drop.id, drop.madeAt)) { write in
        if !isThere() { throw Gone() }
        isNew = true
        for operation in operations { try write.carryOut(operation) }
      }
    } catch is Gone { return nil }
    return isNew
  }
}

extension WriteTransaction {
  /// Does what a drop says, to the rows that are here now.
  fileprivate mutating func carryOut(_ operation: Operation) throws {
    let info = try table(operation.key.table)
    switch operation.action {
    case .insert: try insert(try store.normalised(operation), into: info)
    case .set(let fields, _): try set(fields, operation.key, info, try existing(operation.key))
    case .increment(let column, let amount): try increment(operation.key, column, by: amount)
    case .delete: try delete(operation.key)
    }
  }
}
