// SPDX-License-Identifier: Apache-2.0
import Foundation
import SkerryTesting

extension Schema {
  /// The Contacts example's.
  static var contacts: Schema {
    get throws {
      let file = URL(fileURLWithPath: #filePath + "/../../../Examples/Contacts/schema.json").standardized
      return try JSONDecoder().decode(Schema.self, from: Data(contentsOf: file))
    }
  }
}

/// A team of Ana and Ben, who have a phone each, and one person whom they know.
struct Office {
  let world: TestWorld
  let ana: TestDevice
  let ben: TestDevice

  init(seed: UInt64 = 1) async throws {
    world = try TestWorld(.contacts, seed: seed)
    try world.server.execute(
      """
      INSERT INTO teams(id, name) VALUES ('t', 'Team');
      INSERT INTO members(id, team, user) VALUES ('m1', 't', 'ana'), ('m2', 't', 'ben');
      INSERT INTO people(id, team, first, last) VALUES ('luz', 't', 'Ana', 'Luz')
      """)
    ana = try world.device("ana's phone", account: "ana")
    ben = try world.device("ben's phone", account: "ben")
    try await world.settle()
  }

  static let luz = RowKey("people", "luz")

  /// One more visit to Luz, on a device.
  func visit(_ device: TestDevice) async throws {
    try await device.replica.write("visit") { try $0.increment(Office.luz, "visits") }
  }

  func add(_ id: String, on device: TestDevice, nickname: String? = nil) async throws {
    try await device.replica.write("add") { tx in
      try tx.insert(
        "people",
        [
          "id": .text(id), "team": "t", "first": "F", "last": .text(id),
          "nickname": nickname.map { .text($0) } ?? .null,
        ])
    }
  }

  /// How often the server says that Luz was visited.
  func expectVisits(_ count: Int64, line: UInt = #line) async throws {
    try await world.expectServer("SELECT visits FROM people WHERE id = 'luz'", shows: [[.integer(count)]], line: line)
  }

  /// All comes to rest with so many visits, and the test may end.
  func end(visits: Int64) async throws {
    try await world.settle()
    try await expectVisits(visits)
    try await world.expect(ben, "SELECT visits FROM people WHERE id = 'luz'", shows: [[.integer(visits)]])
    try await world.finish()
  }
}
