// SPDX-License-Identifier: Apache-2.0

package import SkerryFileKit
package import SkerryModel
import SkerrySQLiteKit

/// From a damaged file to a new store with what waited in it.
///
/// The damaged file gets a second name first, and keeps it. The new store is made under a name of its own and takes its place in one
/// step when it is whole. A death at any step leaves the damaged file under its old name or the new store in its place, and the
/// second name in both cases; the next call begins anew from there.
extension Store {
  /// - Parameter place: where the new store is to be: in place of the damaged one, or where there is none.
  package static func salvage(
    _ path: String, to place: StorePlace, account: AccountID, catalog: Catalog, ambient: any Ambient,
    files: FileSystem = .system
  ) throws -> SalvageReport {
    guard files.exists(path) else { throw StoreError(.notFound, "there is no file at \(path)") }
    let isInPlace = files.areSame(path, place.path)
    if !isInPlace, files.exists(place.path) {
      throw StoreError(.exists, "there is a store at \(place.path) already; salvage into an empty folder")
    }
    let kept = isInPlace ? try keep(path, files) : path
    let found = Salvage(file: try files.read(kept) ?? [], wal: try files.read(kept + "-wal") ?? [])
    let upgrade = try found.owner.flatMap { try check($0, account, catalog.schema) }

    var draft = StorePlace(place.path + ".draft", key: place.key, files: place.files)
    draft.vfs = place.vfs
    for suffix in ["", "-wal", "-shm", "-journal"] { try files.remove(draft.path + suffix) }
    do {
      let store = try Store(at: draft, account: account, catalog: catalog, ambient: ambient)
      try store.adopt(found.entries, upgrade)
      try store.connection.checkpoint(truncating: true)
    }
    if isInPlace {
      // What is in them is kept; with the new file they would be another's.
      for suffix in ["-wal", "-shm"] { try files.remove(place.path + suffix) }
    }
    try files.move(draft.path, to: place.path)
    try files.syncFolder(of: place.path)
    return SalvageReport(
      salvaged: found.entries.count, unverified: found.unverified, unreadable: found.unreadable, store: place.path,
      damaged: kept)
  }

  /// Gives a file and its WAL second names, unless a call before this one has.
  private static func keep(_ path: String, _ files: FileSystem) throws -> String {
    var number = 1
    while true {
      let kept = "\(path).damaged-\(number)"
      if files.exists(kept), !files.areSame(path, kept) {
        number += 1
        continue
      }
      // The WAL first: whoever finds the file's second name finds the WAL's.
      if !files.exists(kept), files.exists(path + "-wal") { try files.link(path + "-wal", to: kept + "-wal") }
      try files.link(path, to: kept)
      try files.syncFolder(of: path)
      return kept
    }
  }

  /// - Returns: the way from the file's schema to this one; nil if they are the same.
  private static func check(_ owner: Salvage.Owner, _ account: AccountID, _ schema: Schema) throws -> SchemaUpgrade? {
    if owner.account != account {
      throw StoreError(.otherAccount, "the file belongs to another account; salvage it for that one")
    }
    if owner.schema.name != schema.name || owner.schema.version > schema.version {
      throw StoreError(
        .otherSchema,
        "the file was made with \(owner.schema.name) \(owner.schema.version), salvaged with \(schema.name) \(schema.version); use the newer app"
      )
    }
    return owner.schema == schema ? nil : try SchemaUpgrade(from: owner.schema, to: schema)
  }

  /// Puts entries of another file into the outbox, in their order, with their ids and under new numbers.
  private func adopt(_ entries: [Salvage.Entry], _ upgrade: SchemaUpgrade?) throws {
    try transaction {
      var touched: Set<RowKey> = []
      for entry in entries {
        state.counter += 1
        state.made += 1
        var (operations, subjects) = (entry.operations, try Subjects(encoded: entry.subjects))
        if let upgrade {
          operations = Operation.encode(upgrade.operations(try Operation.decode(operations)))
          subjects = subjects.renamed(by: upgrade) ?? subjects
        }
        let sorted = subjects.sorted
        try connection.run(
          """
          INSERT INTO skerry_outbox(made, mid, n, ops, subjects, label, at, void, sent, dormant, failed, attempts)
          VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0, 0)
          """, .integer(state.made), .blob(entry.id.raw.bytes), .integer(state.counter), .blob(operations),
          .blob(sorted.encoded), entry.label.map { .text($0) } ?? .null, .integer(entry.madeAt),
          .integer(entry.isVoid ? 1 : 0), .integer(entry.isSent ? 1 : 0))
        try sorted.index(state.made, on: connection)
        try EntrySum.refresh(state.made, on: connection)
        touched.formUnion(subjects.touched)
      }
      try refold(touched, ConfirmedRows(connection, catalog, spaces))
    }
  }
}
