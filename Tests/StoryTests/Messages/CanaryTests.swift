// SPDX-License-Identifier: Apache-2.0
import SkerryModel
import SkerrySQLiteKit
import SkerryStore
import SkerryTesting
import Testing

/// The checks of the scripted history can fail: each of these does to the world what a fault of the engine would.
@Suite struct CanaryTests {
  struct Canary: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// What the check must say.
    let finding: String
    let sabotage: Histories.Step
  }

  /// Changes a device's file behind the engine's back.
  private static func edit(_ device: String, _ sql: String) -> Histories.Step {
    { village in
      try village.world.devices[device]?.store.withConnection { try $0.execute(sql) }
      try village.checker.look(device, nil)
    }
  }

  static let canaries = [
    Canary(
      testDescription: "a push is carried out twice",
      finding: "increment 0 is more than once in item/shared on the server"
    ) {
      try $0.foreign("UPDATE item SET n = n + 1 WHERE id = 'shared'")
      try $0.checker.served()
    },
    Canary(
      testDescription: "a screen counts a pending increment twice", finding: "screen of phone",
      sabotage: { village in
        try village.write("phone", .add("item", "own", digit: 9))
        try edit("phone", "UPDATE item SET n = n * 2 WHERE id = 'own'")(village)
      }),
    Canary(
      testDescription: "a device shows what is not yet at its consistent point", finding: "before its consistent point",
      sabotage: edit("laptop", "UPDATE item SET a = 'new' WHERE id = 'shared'")),
    Canary(
      testDescription: "a row that may be seen vanishes", finding: "vanished from laptop",
      sabotage: edit("laptop", "DELETE FROM item WHERE id = 'shared'")),
    Canary(
      testDescription: "a row that may not be seen shows up", finding: "phone shows item/spy",
      sabotage: edit(
        "phone",
        "INSERT INTO item SELECT 'spy', a, n, home, also, skerry_tag, skerry_inc, skerry_space, 0, 0 FROM item LIMIT 1")
    ),
    Canary(
      testDescription: "an entry of the outbox is dropped", finding: "outbox of phone",
      sabotage: { village in
        try village.write("phone", .add("item", "own", digit: 9))
        try edit("phone", "DELETE FROM skerry_outbox")(village)
      }),
    Canary(
      testDescription: "a confirmed mutation has no effect", finding: "does not show its own increment of item/shared",
      sabotage: { village in
        try village.world.foreign.execute("UPDATE item SET n = n - 1 WHERE id = 'shared'")
        try village.sync("phone", "tablet", "laptop")
      }),
  ]

  @Test(arguments: canaries)
  func `a fault of the engine would be found`(_ canary: Canary) throws {
    let village = try Village()
    let error = #expect(throws: WorldError.self) {
      _ = try Trials(village, [Histories.long[0], canary.sabotage])
    }
    #expect(error?.description.contains(canary.finding) == true, "\(error?.description ?? "nothing")")
  }

  @Test func `a fault that has not happened is not counted`() throws {
    let trials = try Trials(try Village(), Histories.short)
    #expect(try trials.once([0: [99: .lost]]) == 0)
    #expect(try trials.once([0: [1: .lost], 1: [1: .lost]]) == 2)
  }
}
