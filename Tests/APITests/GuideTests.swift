// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// A guide's code is the code that is compiled and run here.
@Suite struct GuideTests {
  private static let root = URL(fileURLWithPath: #filePath + "/../../..").standardized

  @Test(arguments: [("tutorial", "Tutorial"), ("designing-a-schema", "Designing")])
  func `a guide's Swift blocks are the files that are compiled, byte for byte`(guide: String, folder: String) throws {
    let file = Self.root.appendingPathComponent("docs/guides/\(guide).md")
    let blocks = try GuideBlocks(String(contentsOf: file, encoding: .utf8))
    let sources = Self.root.appendingPathComponent("Tests/APITests/\(folder)")
    let names = try FileManager.default.contentsOfDirectory(atPath: sources.path).filter { $0.hasSuffix(".swift") }
    #expect(blocks.names.sorted() == names.sorted())
    for name in names {
      let source = try Data(contentsOf: sources.appendingPathComponent(name))
      let wanted = Data(("// SPDX-License-Identifier: Apache-2.0\n\n" + blocks.text(of: name)).utf8)
      #expect(source == wanted, "\(guide).md and \(folder)/\(name) differ\(Self.difference(source, wanted))")
    }
  }

  /// Where two texts part, for the person who has to make them one again.
  private static func difference(_ source: Data, _ guide: Data) -> String {
    func lines(_ data: Data) -> [Substring] {
      String(decoding: data, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
    }
    let (source, guide) = (lines(source), lines(guide))
    for (index, pair) in zip(source, guide).enumerated() where pair.0 != pair.1 {
      return " in line \(index + 1):\n  source \(pair.0)\n  guide  \(pair.1)"
    }
    return ": \(source.count) lines in the source, \(guide.count) in the guide"
  }

  @Test func `blocks go to the file that is named last, and one without a file is an error`() throws {
    let blocks = try GuideBlocks("**`A.swift`**\n```swift\na\n```\ntext\n```swift\nb\n```\n```\nno code\n```\n")
    #expect(blocks.names == ["A.swift"])
    #expect(blocks.text(of: "A.swift") == "a\n\nb\n")
    #expect(throws: GuideBlocks.Misplaced.self) { try GuideBlocks("```swift\na\n```\n") }
    #expect(throws: GuideBlocks.Misplaced.self) { try GuideBlocks("**`A.swift`**\n```swift\na\n") }
  }
}
