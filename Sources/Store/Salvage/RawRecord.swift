// SPDX-License-Identifier: Apache-2.0

import SkerrySQLiteKit

/// A row as it lies in a leaf of a table's tree: its rowid and its values.
struct RawRecord {
  let rowID: Int64
  let values: [SQLiteValue]

  /// How the columns of the rows that are looked for are kept, by the serial types of SQLite's record format.
  struct Shape {
    enum Column {
      case null, integer, integerOrNull, blob, text, textOrNull, blobOrNull
      /// A blob of so many bytes.
      case bytes(Int)

      func takes(_ type: Int) -> Bool {
        switch self {
        case .null: type == 0
        case .integer: (1...6).contains(type) || type == 8 || type == 9
        case .integerOrNull: type <= 6 || type == 8 || type == 9
        case .blob: type >= 12 && type % 2 == 0
        case .text: type >= 13 && type % 2 == 1
        case .textOrNull: type == 0 || type >= 13 && type % 2 == 1
        case .blobOrNull: type == 0 || type >= 12 && type % 2 == 0
        case .bytes(let count): type == 12 + 2 * count
        }
      }
    }

    let columns: [Column]
    /// How many of them a row of before may lack at its end.
    var late = 0
  }

  /// All rows of a shape on one page, whatever of the page is broken.
  ///
  /// - Returns: the rows that could be read, and how many others begin as one of the shape.
  static func all(on page: ArraySlice<UInt8>, number: UInt32, of shapes: [Shape], in pages: RawPages) -> Found {
    var found = Found(shapes.count)
    let header = number == 1 ? 100 : 0
    guard page.count >= header + 8 else { return found }
    let kind = page[page.startIndex + header]
    if kind == 13 {
      let cells = page.number16(at: header + 3)
      var isBroken = cells > (page.count - header - 8) / 2
      for cell in 0..<min(cells, (page.count - header - 8) / 2) {
        let place = page.number16(at: header + 8 + 2 * cell)
        if place < header + 8 || place >= page.count {
          isBroken = true
        } else {
          isBroken = !take(page, place, shapes, pages, &found) || isBroken
        }
      }
      if !isBroken { return found }
    } else if [2, 5, 10].contains(kind) {
      return found
    }
    // The page's own list is not to be trusted: a row may begin at any byte.
    var places = found
    places.broken = Array(repeating: 0, count: shapes.count)
    let likely = page.withUnsafeBufferPointer { bytes in
      (header..<max(header, bytes.count - 4)).filter { mayBegin(bytes, $0) }
    }
    for place in likely { _ = take(page, place, shapes, pages, &places) }
    places.broken = zip(places.broken, found.broken).map(max)
    return places
  }

  struct Found {
    /// By shape.
    var records: [[RawRecord]]
    var broken: [Int]
    init(_ count: Int) {
      records = Array(repeating: [], count: count)
      broken = Array(repeating: 0, count: count)
    }
  }

  /// A cheap look: two numbers, the length of a header, and a first column that is null, as a row's own number is kept.
  private static func mayBegin(_ bytes: UnsafeBufferPointer<UInt8>, _ place: Int) -> Bool {
    // No payload is empty, and most of a page that is none of a tree's leaves is zeros.
    if bytes[place] == 0 { return false }
    var at = place
    for _ in 0..<2 {
      var length = 1
      while at < bytes.count, bytes[at] & 0x80 != 0, length < 9 {
        at += 1
        length += 1
      }
      at += 1
    }
    return at + 1 < bytes.count && bytes[at] > 10 && bytes[at] < 0x80 && bytes[at + 1] == 0
  }

  /// - Returns: false if what is there is no whole row.
  private static func take(
    _ page: ArraySlice<UInt8>, _ place: Int, _ shapes: [Shape], _ pages: RawPages, _ found: inout Found
  ) -> Bool {
    var reader = RawReader(page.dropFirst(place))
    guard let count = reader.varint(), count > 0, count < 1 << 30, let rowID = reader.varint() else { return false }
    let local = localBytes(Int(count), pageSize: pages.size)
    let start = reader.rest
    var peek = RawReader(start)
    guard let head = peek.varint(), head > 1, head <= 200, let types = peek.types(upTo: Int(head)) else {
      return false
    }
    guard let index = shapes.firstIndex(where: { $0.fits(types) }) else { return true }
    guard start.count >= local + (local < Int(count) ? 4 : 0) else {
      found.broken[index] += 1
      return false
    }
    let first = start.prefix(local)
    let payload =
      local == Int(count)
      ? Array(first) : pages.payload(first, Int(count), firstPage: start.dropFirst(local).number32(at: 0))
    guard let payload, let values = values(payload.dropFirst(Int(head)), types) else {
      found.broken[index] += 1
      return false
    }
    let record = RawRecord(rowID: rowID, values: values)
    if !found.records[index].contains(where: { $0.rowID == rowID && $0.values == values }) {
      found.records[index].append(record)
    }
    return true
  }

  /// How much of a payload is in the leaf itself (section 1.6 of the file format).
  private static func localBytes(_ count: Int, pageSize: Int) -> Int {
    if count <= pageSize - 35 { return count }
    let least = (pageSize - 12) * 32 / 255 - 23
    let wanted = least + (count - least) % (pageSize - 4)
    return wanted <= pageSize - 35 ? wanted : least
  }

  private static func values(_ body: ArraySlice<UInt8>, _ types: [Int]) -> [SQLiteValue]? {
    var rest = body
    var out: [SQLiteValue] = []
    func number(_ bytes: ArraySlice<UInt8>) -> Int64 {
      var value: Int64 = bytes.first.map { $0 & 0x80 != 0 } == true ? -1 : 0
      for byte in bytes { value = value << 8 | Int64(byte) }
      return value
    }
    for type in types {
      let size = type >= 12 ? (type - 12) / 2 : [0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0][type]
      guard rest.count >= size else { return nil }
      let bytes = rest.prefix(size)
      rest = rest.dropFirst(size)
      switch type {
      case 0: out.append(.null)
      case 1...6: out.append(.integer(number(bytes)))
      case 8, 9: out.append(.integer(Int64(type - 8)))
      case 12... where type % 2 == 0: out.append(.blob(Array(bytes)))
      case 13...: out.append(.text(String(decoding: bytes, as: UTF8.self)))
      default: return nil
      }
    }
    return out
  }
}

extension RawRecord.Shape {
  fileprivate func fits(_ types: [Int]) -> Bool {
    types.count <= columns.count && types.count >= columns.count - late
      && zip(columns, types).allSatisfy { $0.takes($1) }
  }
}

/// Reads variable-length integers.
private struct RawReader {
  private(set) var rest: ArraySlice<UInt8>

  init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

  mutating func varint() -> Int64? {
    var value: UInt64 = 0
    for index in 0..<9 {
      guard let byte = rest.popFirst() else { return nil }
      if index == 8 { return Int64(bitPattern: value << 8 | UInt64(byte)) }
      value = value << 7 | UInt64(byte & 0x7F)
      if byte & 0x80 == 0 { return Int64(bitPattern: value) }
    }
    return nil
  }

  /// The serial types of a record's header that takes so many bytes, of which the first varint has been read.
  mutating func types(upTo head: Int) -> [Int]? {
    let start = rest.startIndex
    let end = start + head - (head < 128 ? 1 : 2)
    var out: [Int] = []
    while rest.startIndex < end {
      guard let type = varint(), type >= 0, type < 1 << 31 else { return nil }
      out.append(Int(type))
    }
    return rest.startIndex == end ? out : nil
  }
}
