// SPDX-License-Identifier: Apache-2.0

import SkerryModel
import SkerrySQLiteKit
import SkerryTables

/// What can be read of the outbox in a damaged file.
struct Salvage {
  /// An entry whose checksum is that of its content.
  struct Entry {
    let made: Int64
    let id: MutationID
    let operations: [UInt8]
    let subjects: [UInt8]
    let label: String?
    let madeAt: Int64
    let isVoid: Bool
    let isSent: Bool
  }

  /// Whose file it is; nil if that cannot be read.
  struct Owner {
    let format: Int64
    let account: AccountID
    let schema: Schema
  }

  private(set) var entries: [Entry] = []
  /// Entries of which something is there, and not all that was written.
  private(set) var unreadable = 0
  /// Of `entries`, those that were written before there were checksums: they are whole by their form.
  private(set) var unverified = 0
  private(set) var owner: Owner?

  private static let outbox = RawRecord.Shape(
    columns: [
      .null, .bytes(16), .integer, .blob, .blob, .textOrNull, .integer, .integer, .integer, .integer, .integer,
      .integer,
      .textOrNull, .blobOrNull,
    ], late: 1)
  private static let state = RawRecord.Shape(
    columns: [
      .null, .integer, .text, .text, .integer, .text, .text, .integer, .integer, .blobOrNull, .integer, .integer,
      .integer, .integerOrNull,
    ])

  /// Reads a file and its WAL. Both are taken into memory.
  init(file: [UInt8], wal: [UInt8]) {
    let first = RawPages.size(of: file).map { [$0] } ?? []
    for size in first + RawPages.sizes.filter({ !first.contains($0) }) {
      self = Salvage(RawPages(file: file, wal: wal, size: size))
      if !entries.isEmpty || owner != nil { return }
    }
  }

  private init(_ pages: RawPages) {
    var whole: [MutationID: Entry] = [:]
    var unsure: [MutationID: Entry] = [:]
    var broken = 0
    for (number, images) in pages.all {
      for page in images {
        let found = RawRecord.all(on: page, number: number, of: [Salvage.outbox, Salvage.state], in: pages)
        broken += found.broken[0]
        for record in found.records[0] {
          guard let (entry, isSure) = Salvage.entry(record) else {
            broken += 1
            continue
          }
          // The newest image comes first.
          if isSure { whole[entry.id] = whole[entry.id] ?? entry } else { unsure[entry.id] = unsure[entry.id] ?? entry }
        }
        for record in found.records[1] where owner == nil { owner = Salvage.owner(record) }
      }
    }
    let old = unsure.filter { whole[$0.key] == nil }
    entries = (Array(whole.values) + Array(old.values)).sorted { $0.made < $1.made }
    unverified = old.count
    unreadable = broken
  }

  private static func entry(_ record: RawRecord) -> (Entry, isSure: Bool)? {
    let values = record.values
    guard case .blob(let raw) = values[1], let id = MutationID(bytes: raw), case .blob(let operations) = values[3],
      case .blob(let subjects) = values[4], case .integer(let madeAt) = values[6], case .integer(let void) = values[7],
      case .integer(let sent) = values[8]
    else { return nil }
    var label: String?
    if case .text(let text) = values[5] { label = text }
    let entry = Entry(
      made: record.rowID, id: id, operations: operations, subjects: subjects, label: label, madeAt: madeAt,
      isVoid: void != 0, isSent: sent != 0)
    if values.count > 13, case .blob(let sum) = values[13] {
      let wanted = EntrySum.of(
        id, madeAt: madeAt, label: label, isVoid: void != 0, operations: operations, subjects: subjects)
      return sum == wanted ? (entry, true) : nil
    }
    // Of before there were sums: one encoding is canonical, so most damage shows.
    guard let decoded = try? Operation.decode(operations), Operation.encode(decoded) == operations,
      (try? Subjects(encoded: subjects)) != nil
    else { return nil }
    return (entry, false)
  }

  private static func owner(_ record: RawRecord) -> Owner? {
    guard case .integer(let format) = record.values[1], case .text(let account) = record.values[2],
      case .text(let text) = record.values[5], let schema = SchemaText.decode(text)
    else { return nil }
    return Owner(format: format, account: AccountID(account), schema: schema)
  }
}
