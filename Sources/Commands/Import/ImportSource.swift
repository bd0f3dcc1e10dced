// SPDX-License-Identifier: Apache-2.0

import Foundation
import SkerryModel
import SkerrySQLiteKit
import SkerryTables
import SkerryWire

/// A row as a file has it: values by the names of the file's columns.
struct ImportRow {
  /// A value as the file writes it.
  enum Cell {
    /// Text of a CSV file, whose meaning the column decides.
    case written(String, isQuoted: Bool)
    case json(JSON)
    case stored(Value)
  }

  let line: Int
  var cells: [(column: String, place: Int?, cell: Cell)] = []
}

/// Where rows are imported from.
enum ImportSource {
  /// The rows of a file, by the end of its name.
  ///
  /// - Parameter table: of a database, the table that is read.
  /// - Throws: `ImportError`, `FileError`, or `UsageError` for a file of an unknown kind.
  static func rows(_ path: String, table: String) throws -> [ImportRow] {
    switch URL(fileURLWithPath: path).pathExtension.lowercased() {
    case "csv": try csv(path)
    case "json", "ndjson", "jsonl": try json(path)
    case "sqlite", "sqlite3", "db": try database(path, table)
    case let other:
      throw UsageError(
        description: "FILE is a .csv, .json, .ndjson or .sqlite, '\(other.isEmpty ? path : other)' found")
    }
  }

  private static func csv(_ path: String) throws -> [ImportRow] {
    var reader = CSVReader(try OldFile.bytes(path), path)
    guard let names = try reader.next() else {
      throw ImportError(path, line: 1, "a line with the names of the columns was expected, the file is empty")
    }
    for (index, name) in names.cells.enumerated() {
      if names.cells[..<index].contains(where: { $0.text.utf8.elementsEqual(name.text.utf8) }) {
        throw ImportError(path, line: names.number, place: name.place, column: name.text, "named twice")
      }
    }
    var out: [ImportRow] = []
    while let line = try reader.next() {
      if line.cells.count != names.cells.count {
        throw ImportError(
          path, line: line.number, "\(names.cells.count) fields were expected, \(line.cells.count) found")
      }
      out.append(
        ImportRow(
          line: line.number,
          cells: zip(names.cells, line.cells).map { ($0.text, $1.place, .written($1.text, isQuoted: $1.isQuoted)) }))
    }
    return out
  }

  /// An array of objects, or an object on each line.
  private static func json(_ path: String) throws -> [ImportRow] {
    let bytes = try OldFile.bytes(path)
    let first = bytes.first { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }
    if first == UInt8(ascii: "[") { return try array(path, bytes) }
    var out: [ImportRow] = []
    for (index, line) in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated() {
      if line.allSatisfy({ [0x20, 0x09, 0x0D].contains($0) }) { continue }
      do {
        out.append(try object(JSONReader.read(Array(line), limit: Limits.messageBytes).root, path, line: index + 1))
      } catch let error as WireError { throw ImportError(path, line: index + 1, "no object of JSON: \(error)") }
    }
    return out
  }

  private static func array(_ path: String, _ bytes: [UInt8]) throws -> [ImportRow] {
    let document: JSONDocument
    do { document = try JSONReader.read(bytes, limit: Int(Int32.max)) } catch {
      throw ImportError(path, line: 1, "no array of JSON: \(error)")
    }
    var out: [ImportRow] = []
    var (line, seen) = (1, 0)
    for node in document.root.children {
      line += bytes[seen..<node.offset].count { $0 == UInt8(ascii: "\n") }
      seen = node.offset
      out.append(try object(node, path, line: line))
    }
    return out
  }

  private static func object(_ node: JSONNode, _ path: String, line: Int) throws(ImportError) -> ImportRow {
    guard node.kind == .object else {
      throw ImportError(path, line: line, "an object was expected, something else found")
    }
    var out = ImportRow(line: line)
    for name in node.children { out.cells.append((name.rawString, nil, .json(JSON(name.following)))) }
    return out
  }

  private static func database(_ path: String, _ table: String) throws -> [ImportRow] {
    guard FileManager.default.fileExists(atPath: path) else {
      throw FileError(path, "there is no such file", "name a database")
    }
    do {
      let connection = try SQLiteConnection(path: path, mode: .reader)
      return try connection.transaction(.deferred) {
        let statement = try connection.statement("SELECT * FROM \(TableSQL.quoted(table))")
        let names = statement.columnNames
        var number = 0
        return try statement.query([]) { row in
          number += 1
          let values = row.modelValues(names.indices)
          return ImportRow(line: number, cells: zip(names, values).map { ($0, nil, .stored($1)) })
        }
      }
    } catch let error as SQLiteError { throw FileError(path, error) }
  }
}
