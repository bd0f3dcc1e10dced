// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import SkerryDiskKit

/// The same calls give the same run. Below SQLite, whose own random numbers are one sequence for the whole process.
@Suite struct TraceTests {
  private static let readAndWrite: Int32 = 0x2 | 0x4
  private static let wal: Int32 = 0x8_0000

  private func open(_ disk: MemoryDisk, _ path: DiskPath, _ flags: Int32 = readAndWrite) throws -> DiskHandle {
    var handle: DiskHandle?
    disk.core.locked { handle = disk.core.open(path, flags).handle }
    return try #require(handle)
  }

  /// Writes, syncs and power losses, drawn from a seed.
  private func run(_ disk: MemoryDisk, seed: UInt64 = 9, rounds: Int = 30) throws -> [[UInt8]?] {
    var draws = DiskRandom(seed: seed)
    for round in 0..<rounds {
      let path = DiskPath(MemoryDisk.path(process: "p\(round)", machine: "m", file: "f\(draws.below(3))"))
      let handle = try open(disk, path, TraceTests.readAndWrite | TraceTests.wal)
      for _ in 0..<draws.below(20) {
        let bytes = [UInt8](repeating: UInt8(draws.below(255)), count: 1 + draws.below(3_000))
        let offset = draws.below(9_000)
        switch draws.below(6) {
        case 0: _ = disk.core.locked { handle.sync() }
        case 1: _ = disk.core.locked { handle.truncate(to: offset) }
        default: _ = disk.core.locked { handle.write(bytes, bytes.count, at: offset) }
        }
      }
      if draws.coin() { disk.cutPower(of: "m") }
    }
    return (0..<3).map { disk.bytes(of: "f\($0)", on: "m") }
  }

  @Test func `the same seeds give the same trace and the same bytes`() throws {
    let disks = (0..<2).map { _ in MemoryDisk(seed: 5) }
    let contents = try disks.map { try run($0) }
    #expect(contents[0] == contents[1])
    #expect(disks[0].traceHash == disks[1].traceHash)
    #expect(disks[0].figures == disks[1].figures)
    #expect(disks[0].figures.tornWrites > 0)
  }

  @Test func `another seed of the disk loses other bytes, and other writes leave another trace`() throws {
    let (first, second, third) = (MemoryDisk(seed: 5), MemoryDisk(seed: 6), MemoryDisk(seed: 5))
    #expect(try run(first) != run(second))
    _ = try run(third, seed: 10)
    #expect(first.traceHash != third.traceHash)
  }

  @Test func `one byte makes another trace, unless contents are left out`() throws {
    func hash(_ byte: UInt8, tracesContent: Bool) throws -> UInt64 {
      let disk = MemoryDisk(tracesContent: tracesContent)
      let handle = try open(disk, DiskPath("p:m/f"))
      var bytes = [UInt8](repeating: 0, count: 4_096)
      bytes[1_234] = byte
      _ = disk.core.locked { handle.write(bytes, bytes.count, at: 0) }
      return disk.traceHash
    }
    #expect(try hash(0, tracesContent: true) != hash(1, tracesContent: true))
    #expect(try hash(0, tracesContent: false) == hash(1, tracesContent: false))
  }

  @Test func `a path is taken apart at its first colon and the first slash after it`() {
    let path = DiskPath(MemoryDisk.path(process: "p 1", machine: "m:x", file: "a/b.db-wal"))
    #expect([path.process, path.machine, path.file] == ["p 1", "m:x", "a/b.db-wal"])
    let bare = DiskPath("plain.db")
    #expect([bare.process, bare.machine, bare.file] == ["", "", "plain.db"])
  }
}
