// SPDX-License-Identifier: Apache-2.0

import SkerryModel

/// Tries out whether a record's columns are its properties: it is read from rows of examples, and its columns are read back.
///
/// Nothing else could tell: a key path does not know its name, and a coding key not its property. A column whose property is
/// another than its name says would write one value and read another.
struct RecordCheck<R: Record> {
  private let table: String
  private let columns: [Column<R>]
  private let names: ColumnNames

  init(_ type: R.Type, _ table: String, _ columns: [Column<R>]) {
    self.table = table
    self.columns = columns
    names = ColumnNames(columns.map(\.definition.name))
  }

  var complaints: [SchemaError] {
    for column in columns where column.examples.isEmpty {
      return [
        fault(
          column.definition.name, "there is no example of its property's values",
          "let the type be CaseIterable, or give it `examples`")
      ]
    }
    let first = columns.map { $0.examples[0] }
    let reading = RowReading(Row(names, first), noting: true)
    let record: R
    do { record = try R(from: RowDecoder(reading)) } catch {
      return reading.strangers.isEmpty ? [unreadable(error)] : reading.strangers.map(stranger)
    }
    if !reading.strangers.isEmpty { return reading.strangers.map(stranger) }
    let declared = Set(columns.map(\.definition.name))
    let forgotten = (reading.asked ?? []).subtracting(declared)
    if !forgotten.isEmpty { return forgotten.sorted().map(forgot) }
    return mixedUp(record, first)
  }

  /// Each column in turn gets its second example: its own property changes with it, and no other.
  private func mixedUp(_ record: R, _ first: [Value]) -> [SchemaError] {
    guard let before = try? columns.map({ try $0.read(record) }), before == first else {
      return columns.compactMap { column in
        guard (try? column.read(record)) != column.examples[0] else { return nil }
        return fault(
          column.definition.name, "its property is not the one with this coding key, or does not keep a value",
          "give the property whose coding key is '\(column.definition.name)'")
      }
    }
    return columns.indices.compactMap { index in
      guard columns[index].examples.count > 1 else { return nil }
      var values = first
      values[index] = columns[index].examples[1]
      guard let other = try? Row(names, values).decoded(as: R.self),
        (try? columns.map { try $0.read(other) }) == values
      else {
        return fault(
          columns[index].definition.name, "its property is not the one with this coding key",
          "give the property whose coding key is '\(columns[index].definition.name)'")
      }
      return nil
    }
  }

  private func unreadable(_ error: any Error) -> SchemaError {
    let remedy = "declare a Column for each property, under its coding key"
    switch error {
    case DecodingError.keyNotFound(let key, _):
      return fault(
        key.stringValue, "a property of \(R.self) has no column", "declare Column(\"\(key.stringValue)\", …)")
    case DecodingError.dataCorrupted(let context):
      return fault(context.codingPath.last?.stringValue, context.debugDescription, remedy)
    default: return fault(nil, "\(R.self) cannot be read from its columns", remedy)
    }
  }

  private func stranger(_ name: String) -> SchemaError {
    fault(name, "no property of \(R.self) has this coding key", "name the column as the property's coding key is")
  }

  private func forgot(_ name: String) -> SchemaError {
    fault(name, "a property of \(R.self) has no column", "declare Column(\"\(name)\", …)")
  }

  private func fault(_ column: String?, _ reason: String, _ remedy: String) -> SchemaError {
    SchemaError(table, column, reason, remedy)
  }
}
