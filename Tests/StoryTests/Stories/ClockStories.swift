// SPDX-License-Identifier: Apache-2.0
import SkerryMachine
import SkerryModel
import SkerrySQLiteKit
import SkerryServerCore
import SkerryStore
import SkerryTesting
import Testing

/// FAULTS.md, section 2.4: clocks that are wrong, jump, or agree too well.
@Suite struct ClockStories {
  private static let day: Int64 = 86_400_000

  /// Two devices edit, count, delete and make rows; one of them has a clock that is off.
  private func history(skew: Int64) throws -> Story {
    let story = try Story()
    let ambient = story.world.ambient
    /// The time is the device's while it works, and everybody else's again afterwards.
    func skewed(_ body: () throws -> Void) throws {
      ambient.advance(by: skew)
      defer { ambient.advance(by: -skew) }
      try body()
    }
    try skewed { try story.insert("a", "i", ["a": "one"]) }
    try skewed { try story.sync("a") }
    try story.sync("b")
    try skewed { try story.set("a", "i", ["a": "from a"]) }
    try story.set("b", "i", ["a": "from b"])
    try story.add("b", "i", 3)
    try skewed { try story.add("a", "i", 4) }
    try skewed { try story.sync("a") }
    try story.sync("b")
    try story.delete("b", "i")
    try story.sync("b")
    try skewed { try story.insert("a", "j", ["a": "again"]) }
    try skewed { try story.sync("a") }
    try story.insert("b", "i", ["a": "again"])
    try story.sync("b")
    try skewed { try story.sync("a") }
    return story
  }

  @Test(arguments: [-3_650 * day, -day, 3_650 * day])
  func `F-C01 B41 B55 how far a clock is off decides nothing`(_ skew: Int64) throws {
    let story = try history(skew: skew)
    story.end()
    #expect(try story.server() == ["i again 0", "j again 0"])
    #expect(try story.refusals("a").isEmpty)
    #expect(try story.refusals("b").isEmpty)
  }

  @Test func `F-C02 B41 a clock that jumps back keeps the order of work, its ids apart, and no one waiting`() throws {
    let story = try Story()
    var ids: Set<MutationID> = []
    try story.insert("a", "i")
    for number in 1...6 {
      story.world.ambient.advance(by: -3 * 3_600_000)
      ids.insert(try story.add("a", "i", Int64(number)))
      ids.insert(try story.set("a", "i", ["a": .text("\(number)")]))
      try story.sync("a")
      #expect(try story.store("a").outboxCount() == 0, "it waits for a time that is long past")
    }
    #expect(ids.count == 12)
    story.end()
    #expect(try story.server() == ["i 6 21"])
    #expect(try story.screen("b") == ["i 6 21"])
  }

  @Test func `F-C03 a clock that jumps a year ahead loses nothing and forgets nothing`() throws {
    let story = try Story()
    try story.insert("a", "i")
    try story.sync("a")
    try story.add("a", "i", 1)
    story.world.ambient.advance(by: 366 * ClockStories.day)
    #expect(try story.store("a").outboxCount() == 1)
    #expect(try story.screen("a") == ["i - 1"])
    try story.sync("a")
    story.world.ambient.advance(by: -366 * ClockStories.day)
    try story.add("a", "i", 10)
    story.end()
    #expect(try story.server() == ["i - 11"])
  }

  @Test(arguments: [["a", "b"], ["b", "a"]])
  func `F-C07 at equal times what arrives last at the server stays, on every device`(_ order: [String]) throws {
    let story = try Story()
    try story.insert("a", "i", ["a": "one", "b": "one"])
    try story.sync("a", "b")
    let now = story.world.ambient.now()
    for name in ["a", "b"] {
      try story.set(name, "i", ["a": .text("from \(name)"), "n": nil].filter { $0.key == "a" })
    }
    #expect(story.world.ambient.now() == now)
    let made = try ["a", "b"].flatMap { try story.store($0).outbox().map(\.madeAt) }
    #expect(Set(made).count == 1)
    for name in order { try story.world.sync(name) }
    story.end()
    for name in ["a", "b"] { #expect(try story.screen(name) == ["i from \(order[1]) 0"]) }
  }
}
