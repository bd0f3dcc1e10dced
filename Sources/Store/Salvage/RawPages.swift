// SPDX-License-Identifier: Apache-2.0

/// The pages of a SQLite file and its WAL as bytes, read without SQLite and whatever is broken in them
/// (https://www.sqlite.org/fileformat2.html).
struct RawPages {
  let size: Int
  /// The newest image of each page by its number, and behind it older ones for as long as the newer is one of a WAL frame whose
  /// checksum is not that of its content.
  private let images: [UInt32: [ArraySlice<UInt8>]]

  /// The sizes that a page can have.
  static let sizes = [4_096, 1_024, 2_048, 8_192, 16_384, 32_768, 65_536, 512]

  /// The page size that the file says it has; nil if it says none.
  static func size(of file: [UInt8]) -> Int? {
    guard file.count >= 100 else { return nil }
    let found = Int(file[16]) << 8 | Int(file[17])
    let size = found == 1 ? 65_536 : found
    return sizes.contains(size) ? size : nil
  }

  init(file: [UInt8], wal: [UInt8], size: Int) {
    self.size = size
    var images: [UInt32: [ArraySlice<UInt8>]] = [:]
    var number: UInt32 = 1
    // What is cut off in the middle of a page is a page of which the rest is missing.
    for start in stride(from: 0, to: file.count, by: size) {
      images[number] = [file[start..<min(start + size, file.count)]]
      number += 1
    }
    for frame in RawPages.frames(wal, size) {
      let older = frame.isWhole ? [] : images[frame.page] ?? []
      images[frame.page] = [frame.content] + older
    }
    self.images = images
  }

  /// All images that count, by page, the newest of each first.
  var all: [(page: UInt32, images: [ArraySlice<UInt8>])] {
    images.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }

  func newest(_ page: UInt32) -> ArraySlice<UInt8>? { images[page]?.first }

  /// Joins a payload of which a part is in a chain of further pages.
  func payload(_ start: ArraySlice<UInt8>, _ count: Int, firstPage: UInt32) -> [UInt8]? {
    var out = Array(start)
    var next = firstPage
    while out.count < count {
      guard next != 0, let page = newest(next), page.count > 4 else { return nil }
      next = page.number32(at: 0)
      let part = page.dropFirst(4).prefix(count - out.count)
      if part.isEmpty { return nil }
      out += part
      // A damaged chain may lead round in a circle; no payload is longer than all pages.
      if out.count > images.count * size { return nil }
    }
    return out.count == count ? out : nil
  }

  // MARK: The WAL

  private struct Frame {
    let page: UInt32
    let content: ArraySlice<UInt8>
    let isWhole: Bool
  }

  /// The frames of the WAL's present generation up to the last one that ends a transaction.
  private static func frames(_ wal: [UInt8], _ size: Int) -> [Frame] {
    guard wal.count >= 32 + 24 + size else { return [] }
    let isBig = wal[3] & 1 == 1
    var salts = Array(wal[16..<24])
    // A damaged header: the first frame is of this generation.
    if wal[32 + 8..<32 + 16].elementsEqual(salts) == false, checksum(wal[0..<24], (0, 0), isBig) != sums(wal, at: 24) {
      salts = Array(wal[32 + 8..<32 + 16])
    }
    var (out, ended): ([Frame], Int) = ([], 0)
    var before = sums(wal, at: 24)
    for start in stride(from: 32, through: wal.count - 24 - size, by: 24 + size) {
      let header = wal[start..<start + 24]
      let content = wal[start + 24..<start + 24 + size]
      // Behind the present generation are frames of those before.
      guard header[start + 8..<start + 16].elementsEqual(salts) else { break }
      let sum = checksum(content, checksum(header[start..<start + 8], before, isBig), isBig)
      before = sums(wal, at: start + 16)
      let page = wal[start...].number32(at: 0)
      out.append(Frame(page: page, content: content, isWhole: sum == before))
      if wal[start...].number32(at: 4) != 0 { ended = out.count }
    }
    return Array(out.prefix(ended))
  }

  private static func sums(_ wal: [UInt8], at place: Int) -> (UInt32, UInt32) {
    (wal[place...].number32(at: 0), wal[place...].number32(at: 4))
  }

  /// The WAL's running checksum (section 4.2 of the file format).
  private static func checksum(
    _ bytes: ArraySlice<UInt8>, _ before: (UInt32, UInt32), _ isBig: Bool
  ) -> (UInt32, UInt32) {
    var (one, two) = before
    for start in stride(from: bytes.startIndex, to: bytes.endIndex - 7, by: 8) {
      let words = (bytes[start...].number32(at: 0), bytes[start...].number32(at: 4))
      one &+= (isBig ? words.0 : words.0.byteSwapped) &+ two
      two &+= (isBig ? words.1 : words.1.byteSwapped) &+ one
    }
    return (one, two)
  }
}

extension ArraySlice<UInt8> {
  /// Four bytes in big-endian order.
  func number32(at offset: Int) -> UInt32 {
    let start = startIndex + offset
    return UInt32(self[start]) << 24 | UInt32(self[start + 1]) << 16 | UInt32(self[start + 2]) << 8
      | UInt32(self[start + 3])
  }

  /// Two bytes in big-endian order.
  func number16(at offset: Int) -> Int { Int(self[startIndex + offset]) << 8 | Int(self[startIndex + offset + 1]) }
}
