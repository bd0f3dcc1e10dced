// SPDX-License-Identifier: Apache-2.0
import SkerryDiskKit
import SkerrySQLiteKit

/// A disk with one machine, and a table that processes fill.
struct Desk {
  static let machine = "m"

  let disk: MemoryDisk

  init(seed: UInt64 = 1) { disk = MemoryDisk(seed: seed) }

  func open(
    _ process: String, _ mode: SQLiteConnection.Mode = .writer, file: String = "a.db", on machine: String = machine
  ) throws -> SQLiteConnection {
    let path = MemoryDisk.path(process: process, machine: machine, file: file)
    return try SQLiteConnection(path: path, mode: mode, busyTimeout: 0, vfs: disk.vfsName)
  }

  /// A connection to a file that has the table.
  func openTable(_ process: String, file: String = "a.db", on machine: String = machine) throws -> SQLiteConnection {
    let connection = try open(process, file: file, on: machine)
    try connection.execute("CREATE TABLE IF NOT EXISTS t(id INTEGER PRIMARY KEY, a TEXT)")
    return connection
  }

  static func insert(_ id: Int, _ connection: SQLiteConnection) throws {
    let text = String(repeating: "\(id) ", count: 300)
    try connection.transaction(.immediate) {
      _ = try connection.run("INSERT INTO t VALUES (?, ?)", .integer(Int64(id)), .text(text))
    }
  }

  static func ids(_ connection: SQLiteConnection) throws -> [Int] {
    try connection.query("SELECT id FROM t ORDER BY id") { Int($0.integer(0)) }
  }

  static func integrity(_ connection: SQLiteConnection) throws -> [String] {
    try connection.query("PRAGMA integrity_check") { $0.text(0) }
  }
}
