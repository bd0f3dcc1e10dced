// SPDX-License-Identifier: Apache-2.0

/// The content of one file as programs see it, and the way back to what is on the disk for certain.
///
/// A change since the last sync is kept as what it replaced. So a write that appends copies nothing, a sync forgets the list,
/// and only a power loss pays for what may be lost.
final class FileContent {
  /// One write or truncation that no sync has followed.
  struct Change {
    var isTruncation: Bool
    /// Where the write begins, or the size that the truncation leaves.
    var offset: Int
    /// How many bytes are written; 0 for a truncation.
    var count: Int
    /// The size before; nil if a sync has made the size of the file durable since.
    var sizeBefore: Int?
    /// Where in `replaced` the old bytes begin, and how many there were.
    var kept: Range<Int>
  }

  let bytes = RawBytes()
  private(set) var changes: [Change] = []
  private let replaced = RawBytes()
  /// So many changes at the front have met a sync that failed: no later sync brings them to the disk.
  private(set) var lost = 0
  /// Of files without a name, which no power loss can leave behind.
  private let isTemporary: Bool
  var locks = FileLocks()
  var sharedMemory: SharedMemory?

  init(isTemporary: Bool = false) { self.isTemporary = isTemporary }

  /// A content that is on the disk.
  init(_ content: UnsafeRawBufferPointer) {
    isTemporary = false
    if let start = content.baseAddress { bytes.put(start, content.count, at: 0) }
  }

  var size: Int { bytes.count }

  /// Other bytes are on the disk from now on.
  func replace(by content: UnsafeRawBufferPointer) {
    (changes, lost) = ([], 0)
    replaced.removeAll()
    bytes.removeAll()
    if let start = content.baseAddress { bytes.put(start, content.count, at: 0) }
  }

  func write(_ source: UnsafeRawPointer, _ count: Int, at offset: Int) {
    if !isTemporary {
      note(isTruncation: false, offset, count, replacing: offset..<max(offset, min(size, offset + count)))
    }
    bytes.put(source, count, at: offset)
  }

  func truncate(to size: Int) {
    if !isTemporary { note(isTruncation: true, size, 0, replacing: size..<max(size, self.size)) }
    bytes.resize(to: size)
  }

  private func note(isTruncation: Bool, _ offset: Int, _ count: Int, replacing range: Range<Int>) {
    let start = replaced.count
    if !range.isEmpty { replaced.put(bytes.start + range.lowerBound, range.count, at: start) }
    changes.append(
      Change(isTruncation: isTruncation, offset: offset, count: count, sizeBefore: size, kept: start..<replaced.count))
  }

  /// All is on the disk, but for what an earlier sync has failed on and nothing has replaced since.
  func sync() {
    let left = lost == 0 ? [] : leftOfLost()
    changes.removeAll(keepingCapacity: changes.count < 1_024)
    changes += left
    lost = left.count
    if lost == 0 { replaced.removeAll() }
  }

  /// A sync has failed. As on Linux, the system believes from now on that these changes are written.
  func failSync() { lost = changes.count }

  /// What is still lost when the changes after the failed sync are durable.
  private func leftOfLost() -> [Change] {
    var out: [Change] = []
    for (index, change) in changes[..<lost].enumerated() where !change.isTruncation {
      var ranges = [change.offset..<(change.offset + change.count)]
      for (later, other) in changes.enumerated().dropFirst(index + 1) where other.isTruncation || later >= lost {
        let covered = other.offset..<(other.isTruncation ? Int.max : other.offset + other.count)
        ranges = ranges.flatMap { range in
          [
            range.lowerBound..<min(range.upperBound, max(range.lowerBound, covered.lowerBound)),
            max(range.lowerBound, min(range.upperBound, covered.upperBound))..<range.upperBound,
          ]
        }.filter { !$0.isEmpty }
      }
      out += ranges.map { change.part($0) }
    }
    return out
  }

  /// Takes the changes back, the last one first, and tells what each had written.
  func takeBack() -> [(change: Change, bytes: [UInt8])] {
    var out: [(change: Change, bytes: [UInt8])] = []
    for change in changes.reversed() {
      out.append((change, Array(bytes.all[change.offset..<min(size, change.offset + change.count)])))
      if let before = change.sizeBefore, before > size { bytes.resize(to: before) }
      bytes.put(replaced.start + change.kept.lowerBound, change.kept.count, at: change.offset)
      bytes.zero(
        (change.offset + change.kept.count)..<max(change.offset + change.kept.count, change.offset + change.count))
      if let before = change.sizeBefore { bytes.resize(to: before) }
    }
    (changes, lost) = ([], 0)
    replaced.removeAll()
    return out.reversed()
  }
}

extension FileContent.Change {
  /// The part of a write that is in a range.
  fileprivate func part(_ range: Range<Int>) -> FileContent.Change {
    var part = self
    (part.offset, part.count, part.sizeBefore) = (range.lowerBound, range.count, nil)
    let skipped = range.lowerBound - offset
    let start = min(kept.upperBound, kept.lowerBound + skipped)
    part.kept = start..<min(kept.upperBound, start + range.count)
    return part
  }
}
