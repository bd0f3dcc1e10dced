// SPDX-License-Identifier: Apache-2.0

package import SkerryModel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A report for a person: lines, and tables whose columns stand under each other.
package struct ReportText {
  private var lines: [String] = []

  package init() {}

  package var text: String { lines.joined(separator: "\n") }

  /// A line; nothing in it can move the cursor of a terminal or begin another line.
  package mutating func line(_ text: String, indent: Int = 0) {
    lines.append(String(repeating: "  ", count: indent) + ReportText.printable(text))
  }

  /// Rows under a heading; the heading alone, with what stands for nothing, if there are none.
  package mutating func table(_ heading: String, _ rows: [[String]], none: String = "none") {
    if rows.isEmpty { return line("\(heading): \(none)") }
    line("\(heading):")
    let rows = rows.map { $0.map(ReportText.printable) }
    let count = rows.map(\.count).max() ?? 0
    let widths = (0..<count).map { column in rows.map { column < $0.count ? $0[column].count : 0 }.max() ?? 0 }
    for row in rows {
      let cells = row.enumerated().map { index, cell in
        index == row.count - 1 ? cell : cell + String(repeating: " ", count: widths[index] - cell.count)
      }
      lines.append("  " + cells.joined(separator: "  "))
    }
  }

  /// Labels, spaces and reasons come from elsewhere, and control characters in them are shown, not obeyed.
  package static func printable(_ text: String) -> String {
    var out = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      switch scalar.properties.generalCategory {
      case .control, .lineSeparator, .paragraphSeparator, .format:
        out.append(contentsOf: "\\u{\(String(scalar.value, radix: 16))}".unicodeScalars)
      default: out.append(scalar)
      }
    }
    return String(out)
  }

  /// `2027-01-15T08:00:00.000Z`.
  package static func time(_ milliseconds: Int64) -> String {
    Date(timeIntervalSince1970: Double(milliseconds) / 1_000)
      .formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
  }

  package static func count(_ number: Int64, _ what: String, _ whats: String? = nil) -> String {
    "\(number) \(number == 1 ? what : whats ?? what + "s")"
  }

  package static func count(_ number: Int, _ what: String, _ whats: String? = nil) -> String {
    count(Int64(number), what, whats)
  }

  package static func value(_ value: Value) -> String {
    switch value {
    case .null: "null"
    case .integer(let number): "\(number)"
    case .real(let number): "\(number)"
    case .text(let text): "\"\(text)\""
    case .blob(let bytes): "x'\(Hex.text(bytes))'"
    }
  }
}
