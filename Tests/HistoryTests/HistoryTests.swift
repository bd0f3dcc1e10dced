// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// The executable model's histories, driven through the real server and real stores.
@Suite struct HistoryTests {
  /// Every fourth history in the ordinary run, all of them with `make soak`.
  static let stride = ProcessInfo.processInfo.environment["SKERRY_SOAK"] == nil ? 4 : 1

  @Test func `there are 2,000 histories`() throws {
    let seeds = try HistoryFile.names.flatMap { try HistoryFile.read($0).map { try $0.seed } }
    #expect(seeds == Array(0..<2_000))
  }

  @Test(arguments: HistoryFile.names)
  func `a history of the model gives the same verdicts, pages, screens, outboxes and inboxes step by step`(
    _ file: String
  ) throws {
    for text in try HistoryFile.read(file) where try text.seed.isMultiple(of: HistoryTests.stride) {
      do {
        let replay = try HistoryReplay(text)
        try replay.run()
        #expect(replay.steps > 0)
      } catch { Issue.record(error, "seed \(try text.seed)") }
    }
  }
}
