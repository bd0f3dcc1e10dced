// SPDX-License-Identifier: Apache-2.0

/// Bytes that grow at their end, at addresses that C may write to. What is between the old end and the new one is zero.
final class RawBytes {
  private(set) var start: UnsafeMutableRawPointer
  private(set) var count = 0
  private var capacity: Int

  private static let least = 1_024
  /// Emptied bytes give memory above this back.
  private static let spare = 1 << 20

  init() {
    capacity = RawBytes.least
    start = .allocate(byteCount: capacity, alignment: 16)
  }

  deinit { start.deallocate() }

  var all: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: start, count: count) }

  func resize(to size: Int) {
    if size > capacity { move(to: max(size, capacity * 2)) }
    if size > count { (start + count).initializeMemory(as: UInt8.self, repeating: 0, count: size - count) }
    count = size
  }

  /// Puts bytes at an offset; the end moves if they reach beyond it.
  func put(_ source: UnsafeRawPointer, _ length: Int, at offset: Int) {
    guard length > 0 else { return }
    if offset > count { resize(to: offset) }
    if offset + length > capacity { move(to: max(offset + length, capacity * 2)) }
    (start + offset).copyMemory(from: source, byteCount: length)
    count = max(count, offset + length)
  }

  func zero(_ range: Range<Int>) {
    let range = range.clamped(to: 0..<count)
    (start + range.lowerBound).initializeMemory(as: UInt8.self, repeating: 0, count: range.count)
  }

  func removeAll() {
    count = 0
    if capacity > RawBytes.spare { move(to: RawBytes.least) }
  }

  private func move(to size: Int) {
    let next = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 16)
    next.copyMemory(from: start, byteCount: count)
    start.deallocate()
    (start, capacity) = (next, size)
  }
}
