// SPDX-License-Identifier: Apache-2.0
internal import CSkerrySQLite

/// The index of a WAL, which the connections of a machine share, and its eight locks
/// (https://www.sqlite.org/walformat.html#the_wal_index_or_shm_file).
///
/// The memory lives as long as a handle refers to it, a dead one too: SQLite still reads there while it closes.
final class SharedMemory {
  /// What one handle holds: bits of slots.
  struct Holding {
    var shared: UInt8 = 0
    var exclusive: UInt8 = 0
  }

  private var regions: [UnsafeMutableRawPointer] = []
  private var readers = [Int](repeating: 0, count: Int(SQLITE_SHM_NLOCK))
  private var exclusive: UInt8 = 0
  /// Handles of living processes.
  var users = 0

  deinit { for region in regions { region.deallocate() } }

  /// A region, made of zeros if it is missing; nil if it is missing and is not to be made.
  func region(_ index: Int, size: Int, isMade: Bool) -> UnsafeMutableRawPointer? {
    while isMade, regions.count <= index {
      let region = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 64)
      region.initializeMemory(as: UInt8.self, repeating: 0, count: size)
      regions.append(region)
    }
    return index < regions.count ? regions[index] : nil
  }

  func lock(_ slots: Range<Int>, isExclusive: Bool, _ holding: inout Holding) -> Int32 {
    let mask = SharedMemory.mask(slots)
    if isExclusive {
      if holding.exclusive & mask == mask { return SQLITE_OK }
      let others = slots.contains { readers[$0] > (holding.shared >> UInt8($0) & 1 == 1 ? 1 : 0) }
      if others || exclusive & mask & ~holding.exclusive != 0 { return SQLITE_BUSY }
      exclusive |= mask
      holding.exclusive |= mask
    } else {
      if holding.shared & mask == mask { return SQLITE_OK }
      if exclusive & mask & ~holding.exclusive != 0 { return SQLITE_BUSY }
      for slot in slots { readers[slot] += 1 }
      holding.shared |= mask
    }
    return SQLITE_OK
  }

  func unlock(_ slots: Range<Int>, _ holding: inout Holding) {
    let mask = SharedMemory.mask(slots)
    for slot in slots where holding.shared >> UInt8(slot) & 1 == 1 { readers[slot] -= 1 }
    exclusive &= ~(mask & holding.exclusive)
    holding.shared &= ~mask
    holding.exclusive &= ~mask
  }

  /// All slots of a handle.
  func unlock(_ holding: inout Holding) { unlock(0..<Int(SQLITE_SHM_NLOCK), &holding) }

  private static func mask(_ slots: Range<Int>) -> UInt8 {
    UInt8(truncatingIfNeeded: (1 << slots.count - 1) << slots.lowerBound)
  }
}
