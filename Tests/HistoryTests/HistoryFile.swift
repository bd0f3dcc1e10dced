// SPDX-License-Identifier: Apache-2.0

import Foundation

/// One history as it stands in a file. See `Tests/Histories/README.md`.
struct HistoryText {
  /// What the file calls it: a wrong variant of the model and `right` or `wrong`; empty where only the seed tells it.
  let title: String
  let lines: [HistoryScanner]

  /// The seed of the model's world.
  var seed: Int {
    get throws {
      guard var head = lines.first, head.takes("="), head.startsToken() else { throw Difference("no head") }
      return try head.number()
    }
  }
}

/// A file of histories, read whole and divided into lines.
enum HistoryFile {
  static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("Histories/Fixtures")

  /// The names of the files with the model's own histories, in order.
  static var names: [String] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    return names.filter { $0.hasPrefix("histories-") }.sorted()
  }

  static func read(_ name: String) throws -> [HistoryText] {
    var histories: [HistoryText] = []
    var (title, next): (String, String) = ("", "")
    var lines: [HistoryScanner] = []
    func finish() {
      if !lines.isEmpty { histories.append(HistoryText(title: title, lines: lines)) }
      lines = []
    }
    for line in try self.lines(name) {
      switch line.next {
      case UInt8(ascii: "*"):
        next = String(line.rest.dropFirst(2))
      case UInt8(ascii: "="):
        finish()
        title = next
        lines = [line]
      default: lines.append(line)
      }
    }
    finish()
    return histories
  }

  private static func lines(_ name: String) throws -> [HistoryScanner] {
    let bytes = [UInt8](try Data(contentsOf: folder.appendingPathComponent(name)))
    var lines: [HistoryScanner] = []
    var (start, end) = (0, 0)
    while end < bytes.count {
      if bytes[end] == UInt8(ascii: "\n") {
        lines.append(HistoryScanner(bytes, start..<end))
        start = end + 1
      }
      end += 1
    }
    return lines
  }
}
