// SPDX-License-Identifier: Apache-2.0

import SkerryAmbientKit
import SkerryModel
import SkerrySQLiteKit
import SkerryServerCore
import SkerryTesting
import Testing

/// The sums that the sequencer keeps, against sums made anew from the tables after each of many random steps.
@Suite struct DigestTests {
  @Test(arguments: [11, 12, 13] as [UInt64])
  func `the digest of every space equals a full recomputation after each of a hundred random steps`(
    _ seed: UInt64
  ) throws {
    let world = try ServerWorld(seed: seed)
    let recount = Recount(world.sqlite.foreign)
    var random = SeededGenerator(seed: seed)
    try world.foreign(
      "INSERT INTO team(id) VALUES ('t1'), ('t2'); INSERT INTO member VALUES ('a', 't1', 'ana'), ('b', 't2', 'bob')")
    var (step, compared) = (0, 0)
    while compared < 100 {
      step += 1
      let deed = try act(&random, world)
      // Now and then a run has more than one step to sequence.
      if random.chance(0.2) { continue }
      try world.server.sequence()
      compared += 1
      let expected = try recount.sums()
      for space in DigestTests.spaces {
        let digest = try world.server.digest(of: space)
        let found = Recount.Sum(lanes: digest.lanes, rows: digest.rows)
        #expect(found == expected[space.text] ?? .init(), "\(space) after step \(step), \(deed), seed \(seed)")
      }
    }
  }

  private static let spaces: [SpaceID] = [
    "user:ana", "user:bob", "team:t1", "team:t2", "city:all", "odd:one", "replica:r",
  ]

  /// One deed of another program or of a device.
  private func act(_ random: inout SeededGenerator, _ world: ServerWorld) throws -> String {
    let homes = ["'user:ana'", "'user:bob'", "'team:t1'", "'team:t2'", "'odd:one'", "'replica:r'", "NULL"]
    let (item, other) = (Int.random(in: 0..<6, using: &random), Int.random(in: 0..<6, using: &random))
    let (note, reply) = (Int.random(in: 0..<6, using: &random), Int.random(in: 0..<4, using: &random))
    let (home, also) = (random.pick(homes) ?? "NULL", random.pick(homes) ?? "NULL")
    let token = random.next() % 1_000
    if random.chance(0.25) {
      let steps: [Step] = [
        .set("item", "i\(item)", ["title": .text("\(token)"), "home": .text("user:ana")])
      ]
      return try "device " + world.judge(steps, as: random.pick(["ana", "bob"]) ?? "ana")
    }
    let deeds = [
      "INSERT OR REPLACE INTO item(id, title, n, home, also) VALUES ('i\(item)', '\(token)', \(token), \(home), \(also))",
      "UPDATE item SET home = \(home), n = n + 1 WHERE id = 'i\(item)'",
      "UPDATE item SET also = \(also) WHERE id IN ('i\(item)', 'i\(other)')",
      "UPDATE item SET title = title",
      "UPDATE OR IGNORE item SET id = 'i\(other)' WHERE id = 'i\(item)'",
      "DELETE FROM item WHERE id = 'i\(item)'",
      "INSERT OR REPLACE INTO note(id, item, other) VALUES ('n\(note)', 'i\(item)', \(random.chance(0.5) ? "NULL" : "'i\(other)'"))",
      "DELETE FROM note WHERE id = 'n\(note)'",
      "INSERT OR REPLACE INTO reply(id, note) VALUES ('r\(reply)', 'n\(note)')",
      "UPDATE reply SET note = 'n\(note)'",
      "INSERT OR IGNORE INTO member VALUES ('m\(note)', 't\(1 + item % 2)', \(random.chance(0.5) ? "'ana'" : "'bob'"))",
      "DELETE FROM member WHERE id = 'm\(note)'",
      "UPDATE member SET team = 't\(1 + item % 2)' WHERE id = 'm\(note)'",
      "INSERT OR REPLACE INTO notice(id, words) VALUES ('x\(item)', '\(token)')",
      "INSERT OR IGNORE INTO seat(id, owner) VALUES (\(item), 'ana'); UPDATE seat SET owner = 'bob' WHERE id = \(other)",
      "INSERT OR REPLACE INTO ticket(id, seat) VALUES (x'0\(note)', \(item))",
      "BEGIN; DELETE FROM item WHERE id = 'i\(item)'; INSERT INTO item(id, n, home) VALUES ('i\(item)', 1, \(home)); COMMIT",
    ]
    let deed = random.pick(deeds) ?? ""
    try world.foreign(deed)
    return deed
  }
}

/// The sums of all spaces, from the tables and the row headers alone, by code that shares nothing with the sequencer: its own
/// rules for spaces, its own CBOR.
private struct Recount {
  struct Sum: Equatable {
    var lanes = SIMD4<UInt64>.zero
    var rows: Int64 = 0
  }

  private let connection: SQLiteConnection

  init(_ connection: SQLiteConnection) { self.connection = connection }

  private struct Line {
    let table: String
    let key: [SQLiteValue]
    let values: [(String, SQLiteValue)]
    let spaces: Set<String>
  }

  func sums() throws -> [String: Sum] {
    var out: [String: Sum] = [:]
    for line in try lines() where !line.spaces.isEmpty {
      let hash = SHA256.hash(try bytes(line))
      for space in line.spaces {
        for lane in 0..<4 {
          let word = hash[lane * 8..<lane * 8 + 8].reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
          out[space, default: Sum()].lanes[lane] &+= word
        }
        out[space, default: Sum()].rows += 1
      }
    }
    return out
  }

  private func lines() throws -> [Line] {
    var spaces: [String: Set<String>] = [:]  // of each row, by table and quoted key
    var out: [Line] = []
    func take(
      _ table: String, _ columns: [String], key: [String], _ rule: ([String: SQLiteValue]) -> Set<String>
    ) throws {
      let names = columns.joined(separator: ", ")
      let rows = try connection.query("SELECT \(names) FROM \(table)") { row in
        Dictionary(uniqueKeysWithValues: columns.enumerated().map { ($1, row.value($0)) })
      }
      for row in rows {
        let found = rule(row)
        spaces["\(table) \(key.map { "\(row[$0] ?? .null)" })"] = found
        let values = columns.sorted().map { ($0, row[$0] ?? .null) }
        out.append(Line(table: table, key: key.map { row[$0] ?? .null }, values: values, spaces: found))
      }
    }
    func named(_ value: SQLiteValue?) -> Set<String> {
      guard case .text(let name)? = value, !name.hasPrefix("replica:") else { return [] }
      return [name]
    }
    func owned(_ kind: String, _ value: SQLiteValue?) -> Set<String> {
      guard case .text(let name)? = value else { return [] }
      return [kind + ":" + name]
    }
    func parent(_ table: String, _ value: SQLiteValue?) -> Set<String> {
      spaces["\(table) \(["\(value ?? .null)"])"] ?? []
    }
    try take("team", ["id", "title"], key: ["id"]) { owned("team", $0["id"]) }
    try take("member", ["id", "team", "account"], key: ["id"]) { owned("team", $0["team"]) }
    try take("item", ["title", "id", "n", "home", "also"], key: ["id"]) { named($0["home"]).union(named($0["also"])) }
    try take("note", ["id", "item", "other"], key: ["id"]) {
      parent("item", $0["item"]).union(parent("item", $0["other"]))
    }
    try take("reply", ["id", "note"], key: ["id"]) { parent("note", $0["note"]) }
    try take("seat", ["id", "owner"], key: ["id"]) { owned("user", $0["owner"]) }
    try take("ticket", ["id", "seat"], key: ["id"]) { parent("seat", $0["seat"]) }
    try take("notice", ["id", "words"], key: ["id"]) { _ in ["city:all"] }
    return out
  }

  /// [table, [key], incarnation, version, [column, value, ...]] with the header's tag and incarnation.
  private func bytes(_ line: Line) throws -> [UInt8] {
    let key = try line.key.map { value in
      try connection.first("SELECT quote(?)", value) { $0.text(0) } ?? ""
    }.joined(separator: ",")
    let header = try connection.first(
      "SELECT tag, inc, idx FROM skerry_rows WHERE tbl = ? AND key = ? AND dead = 0", .text(line.table), .text(key)
    ) { ($0.blob(0), $0.blob(1), $0.integer(2)) }
    guard let (tag, incarnation, index) = header else { throw WorldError("no header of \(line.table) \(key)") }
    var out: [UInt8] = [0x85]
    out += cbor(.text(line.table))
    out.append(0x80 + UInt8(line.key.count))
    for value in line.key { out += cbor(value) }
    out += cbor(.blob(incarnation + [UInt8(index >> 8 & 255), UInt8(index & 255)]))
    out += cbor(.blob(tag))
    let present = line.values.filter { $0.1 != .null }
    out.append(0x80 + UInt8(present.count * 2))
    for (name, value) in present { out += cbor(.text(name)) + cbor(value) }
    return out
  }

  private func cbor(_ value: SQLiteValue) -> [UInt8] {
    func head(_ major: UInt8, _ argument: UInt64) -> [UInt8] {
      for (limit, low, count) in [(24, 0, 0), (1 << 8, 24, 1), (1 << 16, 25, 2), (1 << 32, 26, 4)]
        as [(UInt64, UInt8, Int)]
      where argument < limit {
        let first = major << 5 | (count == 0 ? UInt8(argument) : low)
        return [first] + (0..<count).reversed().map { UInt8(truncatingIfNeeded: argument >> UInt64($0 * 8)) }
      }
      return [major << 5 | 27] + (0..<8).reversed().map { UInt8(truncatingIfNeeded: argument >> UInt64($0 * 8)) }
    }
    switch value {
    case .null: return [0xF6]
    case .integer(let number): return number < 0 ? head(1, UInt64(-1 - number)) : head(0, UInt64(number))
    case .text(let text): return head(3, UInt64(text.utf8.count)) + Array(text.utf8)
    case .blob(let bytes): return head(2, UInt64(bytes.count)) + bytes
    case .real: return []  // none of these tables has one
    }
  }
}
