// SPDX-License-Identifier: Apache-2.0

/// Reads CSV (RFC 4180): fields with commas between them, quoted where they hold commas, quotes or line ends.
struct CSVReader {
  /// A field as it was written.
  struct Cell: Equatable {
    var text: String
    /// An empty field without quotes stands for no value, one with quotes for an empty text.
    var isQuoted: Bool
    /// Where it begins in its line, from 1, in bytes.
    var place: Int
  }

  /// A record, and the line on which it begins.
  struct Line: Equatable {
    var number: Int
    var cells: [Cell]
  }

  private let bytes: [UInt8]
  private let path: String
  private var position = 0
  private var line = 1
  private var lineStart = 0

  init(_ bytes: [UInt8], _ path: String) {
    self.bytes = bytes
    self.path = path
    // Spreadsheets write a byte order mark.
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { (position, lineStart) = (3, 3) }
  }

  private var peek: UInt8? { position < bytes.count ? bytes[position] : nil }
  private var place: Int { position - lineStart + 1 }

  /// The next record that is not an empty line; nil at the end.
  mutating func next() throws(ImportError) -> Line? {
    while let byte = peek, byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") { endLine() }
    if peek == nil { return nil }
    var out = Line(number: line, cells: [])
    while true {
      out.cells.append(try cell())
      guard peek == UInt8(ascii: ",") else { break }
      position += 1
    }
    if peek != nil { endLine() }
    return out
  }

  private mutating func endLine() {
    if peek == UInt8(ascii: "\r") { position += 1 }
    if peek == UInt8(ascii: "\n") { position += 1 }
    line += 1
    lineStart = position
  }

  private mutating func cell() throws(ImportError) -> Cell {
    let (begins, place) = (line, place)
    guard peek == UInt8(ascii: "\"") else {
      let start = position
      while let byte = peek, byte != UInt8(ascii: ","), byte != UInt8(ascii: "\n"), byte != UInt8(ascii: "\r") {
        if byte == UInt8(ascii: "\"") {
          throw fault("a quote within a field that does not begin with one; double it and quote the field")
        }
        position += 1
      }
      return Cell(text: try text(bytes[start..<position]), isQuoted: false, place: place)
    }
    position += 1
    var content: [UInt8] = []
    while let byte = peek {
      position += 1
      if byte == UInt8(ascii: "\n") { (line, lineStart) = (line + 1, position) }
      guard byte == UInt8(ascii: "\"") else {
        content.append(byte)
        continue
      }
      if peek == UInt8(ascii: "\"") {
        content.append(byte)
        position += 1
        continue
      }
      if let next = peek, ![UInt8(ascii: ","), UInt8(ascii: "\n"), UInt8(ascii: "\r")].contains(next) {
        throw fault("something after the quote that ends a field; double a quote within it")
      }
      return Cell(text: try text(content[...]), isQuoted: true, place: place)
    }
    throw ImportError(path, line: begins, place: place, "a quoted field that is never closed")
  }

  private func text(_ bytes: ArraySlice<UInt8>) throws(ImportError) -> String {
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw fault("a text was expected, this is no UTF-8; save the file as UTF-8")
    }
    return text
  }

  private func fault(_ reason: String) -> ImportError { ImportError(path, line: line, place: place, reason) }
}

/// Why a row of a file cannot be imported: where, and what to do. It quotes no value.
struct ImportError: Error, CustomStringConvertible {
  let file: String
  /// The line in a text, or the row in a database, from 1.
  let line: Int
  /// Where in the line, from 1, in bytes; nil if that means nothing.
  let place: Int?
  /// The column, if the fault is in one.
  let column: String?
  let reason: String

  init(_ file: String, line: Int, place: Int? = nil, column: String? = nil, _ reason: String) {
    (self.file, self.line, self.place, self.column, self.reason) = (file, line, place, column, reason)
  }

  var description: String {
    "\(file):\(line)" + (place.map { ":\($0)" } ?? "") + ": " + (column.map { "column \($0): " } ?? "") + reason
  }
}
