// SPDX-License-Identifier: Apache-2.0
import Testing

@Suite struct EachMessageTests {
  @Test(arguments: [Fault.lost, .doubled, .late(by: 1), .late(by: 2), .late(by: 3), .slow(by: 2)])
  func `whatever befalls a single message, no screen goes back or counts twice, and all come together`(
    _ fault: Fault
  ) throws {
    let village = try Village()
    let trials = try Trials(village, Histories.long)
    #expect((60...100).contains(trials.messages), "\(trials.messages) messages")
    try trials.each(fault)
    #expect(trials.faults == trials.messages)
    print(fault, trials.messages, trials.runs, village.checker.checks)
  }
}
