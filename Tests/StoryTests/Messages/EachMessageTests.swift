// SPDX-License-Identifier: Apache-2.0
import Testing

/// A lost answer followed by a foreign change never shows an old value and never counts an increment twice; the same for
/// requests and answers that come twice, late or overtaken. After every transaction of a device the whole world is checked.
@Suite struct EachMessageTests {
  static let faults: [Fault] =
    [.lost, .doubled, .late(by: 1), .late(by: 2), .late(by: 3)]
    + (isSoak ? [.slow(by: 1), .slow(by: 2), .slow(by: 5)] : [])

  @Test(arguments: faults)
  func `whatever befalls a single message, no screen goes back or counts twice, and all come together`(
    _ fault: Fault
  ) throws {
    let trials = try Trials(try Village(), Histories.long)
    #expect((60...100).contains(trials.messages), "\(trials.messages) messages")
    try trials.each(fault)
    #expect(trials.faults == trials.messages, "each message has met the fault")
  }

  @Test func `a message on a slow line is waited for, and work goes on`() throws {
    let trials = try Trials(try Village(), Histories.short)
    try trials.each(.slow(by: 1))
    try trials.each(.slow(by: 3))
    #expect(trials.faults == 2 * trials.messages)
  }

  @Test
  func `whatever befalls two messages of one history, no screen goes back or counts twice, and all come together`()
    throws
  {
    let trials = try Trials(try Village(), Histories.short)
    let kinds: [(Fault, Fault)] = [
      (.lost, .lost), (.lost, .late(by: 2)), (.late(by: 2), .lost), (.doubled, .lost), (.late(by: 3), .late(by: 1)),
    ]
    var (pair, happened) = (0, 0)
    for (index, first) in trials.places.enumerated() {
      for second in trials.places[(index + 1)...] {
        pair += 1
        for kind in isSoak ? kinds : [kinds[pair % kinds.count]] {
          var faults: [Int: [Int: Fault]] = [first.step: [first.message: kind.0]]
          faults[second.step, default: [:]][second.message] = kind.1
          happened += try trials.once(faults)
        }
      }
    }
    #expect(pair == trials.messages * (trials.messages - 1) / 2)
    #expect(happened > pair * 3 / 2, "in most pairs the second message is sent in spite of the first fault")
  }
}
