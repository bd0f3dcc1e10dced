// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// The executable model's histories, driven through the real server and real stores.
@Suite struct HistoryTests {
  static let files: [String] = {
    let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .appendingPathComponent("Histories/Fixtures")
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    return names.filter { $0.hasSuffix(".ndjson") }.sorted().map { folder.appendingPathComponent($0).path }
  }()

  @Test func `there are 200 histories`() { #expect(HistoryTests.files.count == 200) }

  @Test(arguments: files)
  func `a history of the model gives the same verdicts, screens, outboxes and inboxes step by step`(
    _ file: String
  ) throws {
    let replay = try HistoryReplay(file)
    try replay.run()
    #expect(replay.steps > 0)
  }
}
