// SPDX-License-Identifier: Apache-2.0

import Testing

/// Whether the comparison sees anything: histories of wrong variants of the model must be told from the right ones.
///
/// For each variant there are two short histories that differ in the last event. Up to there both must pass, the right one to
/// its end; what a wrong model shows must be called a difference at once, whatever part of the comparison it takes.
@Suite struct WrongModelTests {
  struct Twins: Sendable, CustomTestStringConvertible {
    let variant: String
    let right: HistoryText
    let wrong: HistoryText

    var testDescription: String { variant }
  }

  static let twins: [Twins] = {
    let texts = (try? HistoryFile.read("wrong.txt")) ?? []
    let byTitle = Dictionary(texts.map { ($0.title, $0) }) { first, _ in first }
    return texts.compactMap { text in
      guard text.title.hasSuffix(" wrong"), let variant = text.title.split(separator: " ").first,
        let right = byTitle["\(variant) right"]
      else { return nil }
      return Twins(variant: String(variant), right: right, wrong: text)
    }
  }()

  @Test func `forty wrong variants and more have left a history`() { #expect(WrongModelTests.twins.count >= 40) }

  @Test(arguments: twins)
  func `the last event of a wrong model's history is a difference, and that of the right one is none`(
    _ twins: Twins
  ) throws {
    try HistoryReplay(twins.right).run()
    let replay = try HistoryReplay(twins.wrong)
    let error = #expect(throws: Difference.self) { try replay.run() }
    #expect(replay.reader.line == twins.wrong.lines.count, "\(String(describing: error))")
  }
}
