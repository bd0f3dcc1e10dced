// SPDX-License-Identifier: Apache-2.0
import SkerryMachine
import SkerryModel
import SkerrySQLiteKit
import SkerryServerCore
import SkerryStore
import SkerryTestSupport
import SkerryTesting
import Testing

/// CASES.md, clocks that are taken for positions.
@Suite struct ClockCases {
  private static let hour: Int64 = 3_600_000

  @Test(arguments: [26 * hour, -26 * hour, -3 * hour, 1 * hour])
  func `B41 a row is here at the first pull after its commit, whatever the device's clock says, now or later`(
    _ skew: Int64
  ) throws {
    let story = try Story()
    let ambient = story.world.ambient
    try story.insert("b", "m0")
    try story.world.sync("b")
    ambient.advance(by: skew)
    try story.world.sync("a")
    let position = try story.store("a").cursor?.position
    #expect(try story.screen("a").count == 1)
    ambient.advance(by: -skew)
    try story.insert("b", "m1")
    try story.world.sync("b")
    ambient.advance(by: skew)
    try story.world.sync("a")
    #expect(try story.screen("a").count == 2)
    for _ in 0..<4 { try story.world.sync("a") }
    // The device's clock is set right, between two pulls.
    ambient.advance(by: -skew)
    try story.insert("b", "m2")
    try story.world.sync("b")
    try story.world.sync("a")
    #expect(try story.screen("a").count == 3)
    let head = try story.world.server.history().head
    #expect(try story.store("a").cursor?.position == head)
    #expect((position ?? 0) < head)
    story.end()
  }

  @Test func `B55 a device whose clock is days ahead shadows nobody, and is heard when it is right again`() throws {
    let story = try Story()
    let ambient = story.world.ambient
    try story.insert("a", "t", ["a": "one"])
    try story.sync("a", "b")
    for skew in [72 * ClockCases.hour, -ClockCases.hour] {
      ambient.advance(by: skew)
      try story.set("a", "t", ["a": .text("A\(skew)")])
      try story.world.sync("a")
      ambient.advance(by: 60_000 - skew)
      try story.set("b", "t", ["a": .text("B\(skew)")])
      try story.world.sync("b")
      try story.world.sync("a")
      #expect(try story.screen("a") == ["t B\(skew) 0"])
      #expect(try story.server() == ["t B\(skew) 0"])
    }
    try story.set("a", "t", ["a": "A2"])
    story.end()
    #expect(try story.screen("b") == ["t A2 0"])
    #expect(try story.refusals("a") + story.refusals("b") == [])
  }
}
