// SPDX-License-Identifier: Apache-2.0
import SkerryModel

/// The operations of the scripted users, followed from the write to the outcome.
struct Ledger {
  enum Fate: Equatable {
    case pending
    case settled(Outcome)
  }

  /// An operation in the oracle's words.
  struct Deed {
    enum Kind {
      case insert([Field])
      case set([Field])
      case add(Int64)
      case delete
    }
    let name: Name
    /// The life of the row that is meant, eighteen bytes; an insert begins one.
    let incarnation: [UInt8]
    let kind: Kind
  }

  struct Record {
    let device: String
    let tag: [UInt8]
    let deeds: [Deed]
    var fate = Fate.pending
    var isVoid = false
  }

  private(set) var records: [MutationID: Record] = [:]
  private var order: [MutationID] = []

  mutating func note(_ id: MutationID, on device: String, _ operations: [SkerryModel.Operation]) {
    let tag = id.raw.bytes
    let deeds = operations.enumerated().map { index, operation in
      let begun = tag + [UInt8(index >> 8), UInt8(index & 255)]
      let kind: Deed.Kind =
        switch operation.action {
        case .insert(let fields): .insert(fields)
        case .set(let fields, _): .set(fields)
        case .increment(_, let amount): .add(amount)
        case .delete: .delete
        }
      return Deed(name: Name(operation.key), incarnation: operation.incarnation?.bytes ?? begun, kind: kind)
    }
    records[id] = Record(device: device, tag: tag, deeds: deeds)
    order.append(id)
  }

  mutating func settle(_ id: MutationID, _ outcome: Outcome) { records[id]?.fate = .settled(outcome) }

  mutating func withdraw(_ id: MutationID) { records[id]?.isVoid = true }

  /// What a device waits for, in the order in which it was made.
  func pending(on device: String) -> [MutationID] {
    order.filter { records[$0]?.device == device && records[$0]?.fate == .pending }
  }

  /// What a device did that must be in what it shows: pending or confirmed, and not withdrawn.
  func effective(on device: String) -> [Deed] {
    order.flatMap { id -> [Deed] in
      guard let record = records[id], record.device == device, !record.isVoid,
        record.fate == .pending || record.fate == .settled(.confirmed)
      else { return [] }
      return record.deeds
    }
  }

  /// Folds a device's pending operations over confirmed rows, by the rule as the design states it.
  func fold(_ base: Lines, on device: String, _ reader: LineReader) -> Lines {
    var rows = base
    for id in pending(on: device) {
      guard let record = records[id], !record.isVoid else { continue }
      for deed in record.deeds { Ledger.apply(deed, record.tag, to: &rows, reader) }
    }
    return rows
  }

  private static func apply(_ deed: Deed, _ tag: [UInt8], to rows: inout Lines, _ reader: LineReader) {
    guard let table = reader.table(deed.name.table) else { return }
    func put(_ fields: [Field], _ line: inout Line) {
      for field in fields {
        if let index = table.columns.firstIndex(of: field.column) { line.values[index] = field.value }
      }
      line.tag = tag
    }
    if case .insert(let fields) = deed.kind {
      if rows[deed.name] != nil { return }
      var line = Line(values: table.columns.map { _ in .null }, tag: tag, incarnation: deed.incarnation)
      line.values[0] = .text(deed.name.id)
      if let counter = table.counter { line.values[counter] = 0 }
      put(fields, &line)
      rows[deed.name] = line
      return
    }
    guard var line = rows[deed.name], line.incarnation == deed.incarnation else { return }
    switch deed.kind {
    case .insert: break
    case .delete: rows[deed.name] = nil
    case .set(let fields):
      put(fields, &line)
      rows[deed.name] = line
    case .add(let amount):
      if let counter = table.counter { line.values[counter] = .integer((line.values[counter].integer ?? 0) + amount) }
      line.tag = tag
      rows[deed.name] = line
    }
  }
}
