// SPDX-License-Identifier: Apache-2.0
import SkerryDiskKit
import SkerrySQLiteKit
import Testing

/// Calls that fail by plan, and disks that are full.
@Suite struct FaultTests {
  /// Full, I/O errors of each kind of call, busy.
  private static let codes: [Int32] = [13, 778, 266, 1_034, 3_850, 5_130, 5, 10]

  @Test(arguments: codes, [false, true])
  func `an error at the n-th call leaves whole transactions, and all goes on without it`(
    _ code: Int32, _ isLasting: Bool
  ) throws {
    var number = 0
    var hasMet = true
    while hasMet {
      number += 1
      let desk = Desk(seed: UInt64(number))
      desk.disk.plan(.error(code, isLasting: isLasting), for: "one", atCall: number)
      let opened = try? desk.openTable("one")
      try opened?.execute("PRAGMA cache_size = 2; PRAGMA wal_autocheckpoint = 2")
      let done = (1...3).filter { id in opened.map { (try? Desk.insert(id, $0)) != nil } ?? false }
      hasMet = desk.disk.faultMet(by: "one") != nil
      #expect(hasMet || done == [1, 2, 3])
      #expect(desk.disk.figures.errors[code] ?? 0 >= (hasMet ? 1 : 0))
      desk.disk.clearPlan(for: "one")
      let connection = try opened ?? desk.openTable("one")
      try Desk.insert(4, connection)
      #expect(try Set(Desk.ids(connection)).isSuperset(of: done + [4]))
      #expect(try Desk.integrity(connection) == ["ok"])
    }
    #expect(number > 1)
  }

  @Test func `an error comes only where its code is plausible`() throws {
    let desk = Desk()
    let connection = try desk.openTable("one")
    desk.disk.plan(.error(1_034, isLasting: true), for: "one", atCall: 1)
    #expect(try Desk.ids(connection) == [])
    let error = #expect(throws: SQLiteError.self) { try Desk.insert(1, connection) }
    #expect(error?.extendedCode == 1_034)
    #expect(desk.disk.faultMet(by: "one")?.kind == .syncs)
    #expect(desk.disk.faultMet(by: "one")?.file == "a.db-wal")
  }

  @Test func `calls are counted by kind`() throws {
    let desk = Desk()
    let connection = try desk.openTable("one")
    desk.disk.plan(.death, for: "one", atCall: 2, counting: .syncs)
    try Desk.insert(1, connection)
    #expect(throws: SQLiteError.self) { try Desk.insert(2, connection) }
    #expect(desk.disk.isDead("one"))
    #expect(desk.disk.calls(of: "one") > 20)
    #expect(desk.disk.calls(of: "one", counting: .syncs) > 2)
    #expect(desk.disk.calls(of: "one", counting: .deletes) < desk.disk.calls(of: "one", counting: .writes))
    #expect(desk.disk.calls(of: "nobody") == 0)
  }

  @Test func `a file that was never to be opened is not opened`() throws {
    let desk = Desk()
    desk.disk.plan(.error(14, isLasting: false), for: "one", atCall: 1)
    let error = #expect(throws: SQLiteError.self) { try desk.open("one") }
    #expect(error?.extendedCode == 14)
    #expect(desk.disk.files(on: Desk.machine) == [])
    _ = try desk.open("one")
  }

  @Test func `a full disk refuses what grows a file, and nothing else`() throws {
    let desk = Desk()
    let connection = try desk.openTable("one")
    for id in 1...20 { try Desk.insert(id, connection) }
    try connection.checkpoint(truncating: false)
    desk.disk.setFreeBytes(9_000, on: Desk.machine)
    // The WAL is overwritten from its beginning first.
    var (done, codes) = (0, Set<Int32>())
    for id in 21...60 {
      do { try Desk.insert(id, connection) } catch let error as SQLiteError {
        codes.insert(error.code)
        continue
      }
      done += 1
    }
    #expect(done > 3 && done < 40)
    #expect(codes == [13])
    #expect(try Desk.ids(connection).count == 20 + done)
    #expect(try Desk.integrity(connection) == ["ok"])
    desk.disk.setFreeBytes(nil, on: Desk.machine)
    try Desk.insert(100, connection)
    #expect(try Desk.ids(connection).count == 21 + done)
    #expect(desk.disk.figures.fullWrites > 0)
  }
}
