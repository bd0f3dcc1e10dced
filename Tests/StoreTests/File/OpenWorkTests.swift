// SPDX-License-Identifier: Apache-2.0
import SkerryDiskKit
import SkerryModel
import SkerrySQLiteKit
import SkerryTestSupport
import SkerryTesting
import Testing

@testable import Skerry

/// What opening a store costs, in reads of the disk: a count, not a time.
@Suite("The work of opening") struct OpenWorkTests {
  /// A store on a disk of its own, with confirmed rows and with writes that wait.
  private final class Shelf {
    private let disk = MemoryDisk()
    private let executor = SerialQueueExecutor(label: "shelf")
    private let ambient = VirtualAmbient(seed: 1)
    private var starts = 0
    var reads: Int { disk.figures.reads }

    func open() throws -> Replica {
      starts += 1
      return try Replica(
        path: MemoryDisk.path(process: "p\(starts)", machine: "m", file: "a.db"), account: "ana",
        catalog: try Catalog(.library), ambient: ambient,
        host: ReplicaHost(executor: executor, lanes: .caller, vfs: disk.vfsName))
    }

    func fill(rows: Int) async throws {
      let replica = try open()
      _ = try await replica.withConnection { connection in
        try connection.run(
          """
          INSERT INTO main.book(id, owner, title, skerry_tag, skerry_inc, skerry_space, skerry_gen, skerry_state)
          WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ?)
          SELECT printf('%08d', n), 'ana', 'A title of some length', zeroblob(16), zeroblob(18), 1, 1, 0 FROM numbers
          """, .integer(Int64(rows)))
      }
      for number in 0..<rows / 100 {
        try await replica.write { tx in try tx.insert("book", ["id": .text("w\(number)"), "owner": "ana"]) }
      }
    }
  }

  private struct Work: Equatable {
    var open: Int
    var firstRows: Int
    var scan: Int
  }

  private func work(rows: Int) async throws -> Work {
    let shelf = Shelf()
    try await shelf.fill(rows: rows)
    var marks = [shelf.reads]
    let replica = try shelf.open()
    marks.append(shelf.reads)
    let books = try await replica.read(Query(String.self, "SELECT title FROM book ORDER BY id LIMIT 50"))
    #expect(books.count == 50)
    marks.append(shelf.reads)
    let count = try await replica.read(Query(Int.self, "SELECT count(title) FROM book"))
    #expect(count == [rows])
    marks.append(shelf.reads)
    return Work(open: marks[1] - marks[0], firstRows: marks[2] - marks[1], scan: marks[3] - marks[2])
  }

  @Test func `a store of many rows is opened by the reads that one of few takes`() async throws {
    let (few, many) = (try await work(rows: 1_000), try await work(rows: 20_000))
    #expect(many.open == few.open)
    // Two trees, of which each may have become one page higher.
    #expect(many.firstRows <= few.firstRows + 2)
    // A scan would be seen: it is here what it takes to tell the two apart.
    #expect(many.scan > few.scan + 100)
  }
}
