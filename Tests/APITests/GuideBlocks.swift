// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The Swift code of a guide, by the files that it names.
///
/// A block belongs to the file that the line **`File.swift`** in front of it names, or else to that of the block before
/// it; the blocks of a file stand in the guide in the order of the file, with an empty line between two.
struct GuideBlocks {
  struct Misplaced: Error { var line: Int }

  /// The files in the order in which the guide begins them.
  private(set) var names: [String] = []
  private var blocks: [String: [String]] = [:]

  init(_ guide: String) throws {
    var name: String?
    var block: [Substring]?
    for (number, line) in guide.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
      if let lines = block {
        if line != "```" {
          block = lines + [line]
          continue
        }
        guard let name else { throw Misplaced(line: number + 1) }
        if blocks[name] == nil { names.append(name) }
        blocks[name, default: []].append(lines.map { $0 + "\n" }.joined())
        block = nil
      } else if line == "```swift" {
        block = []
      } else if let match = line.wholeMatch(of: /\*\*`([A-Za-z]+\.swift)`\*\*/) {
        name = String(match.1)
      }
    }
    if block != nil { throw Misplaced(line: guide.split(separator: "\n", omittingEmptySubsequences: false).count) }
  }

  /// The text of a file as the guide has it: without the line that names the licence.
  func text(of name: String) -> String { (blocks[name] ?? []).joined(separator: "\n") }
}
