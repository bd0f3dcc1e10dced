// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import SkerryDiskKit

/// What one file may be after a power loss, over many draws.
@Suite struct ContentTests {
  private static func write(_ content: FileContent, _ byte: UInt8, _ count: Int, at offset: Int) {
    content.write([UInt8](repeating: byte, count: count), count, at: offset)
  }

  /// The contents that are left, each with how often.
  private func outcomes(_ body: (FileContent) -> Void) -> [[UInt8]: Int] {
    var out: [[UInt8]: Int] = [:]
    var random = DiskRandom(seed: 11)
    for _ in 0..<400 {
      let content = FileContent()
      body(content)
      _ = content.losePower(&random)
      out[Array(content.bytes.all), default: 0] += 1
    }
    return out
  }

  @Test func `what was synced is there, always`() {
    let found = outcomes { content in
      ContentTests.write(content, 1, 600, at: 0)
      content.truncate(to: 5)
      ContentTests.write(content, 2, 3, at: 1)
      content.sync()
    }
    #expect(found == [[1, 2, 2, 2, 1]: 400])
  }

  @Test func `writes that were not synced are kept or not, in any subset and any order`() {
    let found = outcomes { content in
      ContentTests.write(content, 1, 3, at: 0)
      content.sync()
      ContentTests.write(content, 2, 2, at: 0)
      ContentTests.write(content, 3, 2, at: 1)
    }
    #expect(Set(found.keys) == [[1, 1, 1], [2, 2, 1], [1, 3, 3], [2, 3, 3], [2, 2, 3]])
  }

  @Test func `a write is torn at 512 bytes only`() {
    let found = outcomes { content in
      ContentTests.write(content, 1, 2_000, at: 0)
      content.sync()
      ContentTests.write(content, 2, 1_000, at: 100)
    }
    for bytes in found.keys {
      for part in [100..<512, 512..<1_024, 1_024..<1_100] { #expect(Set(bytes[part]).count == 1) }
      #expect(bytes.count == 2_000 && Set(bytes[..<100] + bytes[1_100...]) == [1])
    }
    #expect(found.count == 8)
  }

  @Test func `a truncation is lost or kept, and so is growth`() {
    let found = outcomes { content in
      ContentTests.write(content, 1, 4, at: 0)
      content.sync()
      content.truncate(to: 2)
      ContentTests.write(content, 2, 1, at: 4)
    }
    let sizes = Set(found.keys.map(\.count))
    #expect(sizes == [2, 4, 5])
    #expect(found[[1, 1, 0, 0, 2]] != nil && found[[1, 1, 1, 1, 2]] != nil)
  }

  @Test func `after a failed sync a later one saves what came later, and not what came before`() {
    let found = outcomes { content in
      ContentTests.write(content, 1, 6, at: 0)
      content.sync()
      ContentTests.write(content, 2, 6, at: 0)
      content.failSync()
      ContentTests.write(content, 3, 2, at: 2)
      content.sync()
    }
    #expect(Set(found.keys).isSuperset(of: [[1, 1, 3, 3, 1, 1], [2, 2, 3, 3, 2, 2], [2, 2, 3, 3, 1, 1]]))
    #expect(found.keys.allSatisfy { Array($0[2..<4]) == [3, 3] })
  }

  @Test func `bytes that grow again after a truncation are zero`() {
    let content = FileContent()
    ContentTests.write(content, 1, 8, at: 0)
    content.truncate(to: 2)
    ContentTests.write(content, 2, 1, at: 5)
    #expect(Array(content.bytes.all) == [1, 1, 0, 0, 0, 2])
  }
}
