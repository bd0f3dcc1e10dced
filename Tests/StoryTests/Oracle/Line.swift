// SPDX-License-Identifier: Apache-2.0
import SkerryModel
import SkerrySQLiteKit
import SkerryStore
import SkerryTesting

/// A row's name for the oracle; every table here has the one key `id`.
struct Name: Hashable, Comparable, CustomStringConvertible {
  let table: String
  let id: String

  init(_ table: String, _ id: String) {
    self.table = table
    self.id = id
  }

  init(_ key: RowKey) { self.init(key.table, key.values.first?.text ?? "") }

  var description: String { "\(table)/\(id)" }

  static func < (left: Name, right: Name) -> Bool { (left.table, left.id) < (right.table, right.id) }
}

/// A row as the oracle reads it, by SQL of its own.
struct Line: Equatable, CustomStringConvertible {
  /// In the order of the table's columns.
  var values: [Value]
  var tag: [UInt8]
  /// The insert's tag and index, eighteen bytes.
  var incarnation: [UInt8]

  /// The content alone: what two histories that went alike have in common.
  var content: String {
    values.map { $0.text ?? $0.integer.map(String.init) ?? "-" }.joined(separator: " ")
  }

  var description: String { "\(content) @\(Hex.text(tag.prefix(8)))" }
}

/// Rows by their names.
typealias Lines = [Name: Line]

/// Reads rows of files by the schema's columns.
struct LineReader {
  struct Table {
    let name: String
    let columns: [String]
    let counter: Int?
    fileprivate let server: String
    fileprivate let device: String
  }

  let tables: [Table]

  init(_ catalog: Catalog) {
    tables = catalog.schema.features.flatMap(\.tables).map { table in
      let names = table.columns.map(\.name)
      let list = names.map { "\(table.name).\($0)" }.joined(separator: ", ")
      return Table(
        name: table.name, columns: names, counter: names.firstIndex(of: "n"),
        server: """
          SELECT \(list), h.tag, h.inc, h.idx, h.n FROM \(table.name)
          JOIN skerry_rows h ON h.tbl = '\(table.name)' AND h.key = quote(\(table.name).id) WHERE
          """, device: "SELECT \(list), skerry_tag, skerry_inc, skerry_state FROM \(table.name)")
    }
  }

  func table(_ name: String) -> Table? { tables.first { $0.name == name } }

  /// The number in a row's counter; 0 in a table without one.
  func count(_ name: Name, _ line: Line) -> Int64 {
    guard let counter = table(name.table)?.counter else { return 0 }
    return line.values[counter].integer ?? 0
  }

  /// The server's rows that a condition names, and the number of the capture that each one's version came with.
  func server(
    _ connection: SQLiteConnection, where condition: (String) -> String = { _ in "1" }
  ) throws -> [Name: (line: Line, order: Int64)] {
    var out: [Name: (line: Line, order: Int64)] = [:]
    for table in tables {
      let count = table.columns.count
      let rows = try connection.query("\(table.server) \(condition(table.name))") { row in
        let index = row.integer(count + 2)
        let incarnation = row.blob(count + 1) + [UInt8(index >> 8), UInt8(index & 255)]
        return (
          Line(values: values(row, count), tag: row.blob(count), incarnation: incarnation), row.integer(count + 3)
        )
      }
      for row in rows { out[Name(table.name, row.0.values[0].text ?? "")] = row }
    }
    return out
  }

  /// What a device shows, and which of it is confirmed.
  func device(_ store: Store) throws -> (screen: Lines, base: Lines) {
    var screen: Lines = [:]
    var base: Lines = [:]
    try store.withConnection { connection in
      for table in tables {
        let count = table.columns.count
        let rows = try connection.query(table.device) { row in
          let line = Line(values: values(row, count), tag: row.blob(count), incarnation: row.blob(count + 1))
          return (line, row.integer(count + 2) != 0)
        }
        for (line, isPending) in rows {
          let name = Name(table.name, line.values[0].text ?? "")
          screen[name] = line
          if !isPending { base[name] = line }
        }
      }
      let apart = try connection.query("SELECT tbl, key, tag, inc, image FROM skerry_base") {
        (Name(try RowKey(table: $0.text(0), bytes: $0.blob(1))), $0.blob(2), $0.blob(3), $0.blob(4))
      }
      for (name, tag, incarnation, image) in apart {
        var reader = CBORReader(image)
        base[name] = Line(values: try reader.values(), tag: tag, incarnation: incarnation)
      }
    }
    return (screen, base)
  }

  private func values(_ row: SQLiteRow, _ count: Int) -> [Value] {
    (0..<count).map { index in
      switch row.value(index) {
      case .null: .null
      case .integer(let number): .integer(number)
      case .real(let number): .real(number)
      case .text(let text): .text(text)
      case .blob(let bytes): .blob(bytes)
      }
    }
  }
}
