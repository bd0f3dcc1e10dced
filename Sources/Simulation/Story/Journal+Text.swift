// SPDX-License-Identifier: Apache-2.0

extension Journal {
  /// The story, a line for each happening: seconds since the beginning, who, and what.
  package func text(last count: Int = .max) -> String {
    let start = lines.first?.at ?? 0
    return lines.suffix(count).map { line in
      let time = line.at - start
      let seconds = "\(time / 1_000).\(String(1_000 + time % 1_000).dropFirst())"
      return String(repeating: " ", count: max(0, 12 - seconds.count)) + seconds + "  "
        + line.lane + String(repeating: " ", count: max(1, 11 - line.lane.count)) + line.text
    }.joined(separator: "\n")
  }
}
