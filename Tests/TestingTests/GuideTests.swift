// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// The guide for authors of apps shows a test file that is compiled and run here.
@Suite struct GuideTests {
  @Test func `the test file in the guide is the one that is run`() throws {
    let here = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    let guide = try String(
      contentsOf: here.appendingPathComponent("../../docs/guides/test-your-app.md"), encoding: .utf8)
    let file = try String(contentsOf: here.appendingPathComponent("VisitTests.swift"), encoding: .utf8)
    let code = try #require(file.range(of: "import SkerryTesting")).lowerBound
    #expect(guide.contains("```swift\n" + file[code...] + "```\n"))
  }
}
