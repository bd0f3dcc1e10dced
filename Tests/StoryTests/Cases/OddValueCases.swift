// SPDX-License-Identifier: Apache-2.0
import SkerryMachine
import SkerryModel
import SkerrySQLiteKit
import SkerryServerCore
import SkerryStore
import SkerryTestSupport
import SkerryTesting
import Testing

/// CASES.md, values that no device of ours would send.
@Suite struct OddValueCases {
  private static let odd: [Field] = [
    Field("a", 12), Field("a", 1.5), Field("a", .blob([1])), Field("b", 12),
    Field("home", "user:ben"), Field("n", 5), Field("colour", "red"), Field("id", "other"),
    Field("a", .text(String(repeating: "x", count: 1 << 20))),
  ]

  @Test func `B108 a server refuses at the push what does not fit, each alone and with a reason`() throws {
    let story = try Story()
    try story.insert("a", "i", ["a": "one"])
    try story.sync("a", "b")
    let edit = try story.set("a", "i", ["a": "two"])
    let store = try story.store("a")
    let own = try store.offer([edit])
    let incarnation = try #require(own.first?.operations.first?.incarnation)
    // A client that checks nothing sends them between two that are fine.
    let strange = OddValueCases.odd.enumerated().map { number, field in
      Mutation(
        id: story.world.ambient.makeMutationID(), number: 100 + Int64(number),
        operations: [Operation(Story.item("i"), incarnation, .set([field], base: nil))])
    }
    let verdicts = story.verdicts(try Story.push(own + strange, from: store))
    #expect(verdicts == ["settled confirmed"] + OddValueCases.odd.map { _ in "settled rejected" })
    let codes = try story.server("SELECT DISTINCT code FROM skerry_receipts WHERE outcome = 'rejected' ORDER BY code")
    #expect(codes == ["forbidden", "invalid"])
    story.end()
    #expect(try story.screen("b") == ["i two 0"])
  }
}
