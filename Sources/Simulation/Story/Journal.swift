// SPDX-License-Identifier: Apache-2.0

import SkerryDiskKit

/// What happened in a run, in words and as a hash of every message; kept in full only when somebody wants to read it.
package final class Journal {
  package enum Mark: String, Sendable {
    case write, crash, start, refusal, server, access, fault
  }

  /// A line of the story.
  package struct Line: Sendable {
    package let at: Int64
    package let lane: String
    package let mark: Mark?
    package let text: String
  }

  /// A message from one lane to another.
  package struct Arrow: Sendable {
    package let from: String
    package fileprivate(set) var to: String
    package let sent: Int64
    /// Nil if it never arrived.
    package var arrived: Int64?
    package let label: String
  }

  package let isKept: Bool
  package private(set) var lines: [Line] = []
  package private(set) var arrows: [Arrow] = []
  /// Over the bytes of all messages, in their order.
  private var trace = TraceHash()
  package var hash: UInt64 { trace.value }

  package init(isKept: Bool) { self.isKept = isKept }

  func say(_ at: Int64, _ lane: String, _ mark: Mark? = nil, _ text: @autoclosure () -> String) {
    if isKept { lines.append(Line(at: at, lane: lane, mark: mark, text: text())) }
  }

  func fold(_ number: UInt64) { trace.fold(number) }

  func fold(_ bytes: [UInt8]) {
    trace.fold(bytes.count)
    bytes.withUnsafeBytes { trace.fold($0) }
  }

  /// - Returns: a number to say later that it arrived.
  func send(_ from: String, _ to: String, _ at: Int64, _ label: @autoclosure () -> String) -> Int {
    if isKept { arrows.append(Arrow(from: from, to: to, sent: at, label: label())) }
    return arrows.count - 1
  }

  /// - Parameter place: where it arrived, if that was open when it was sent.
  func arrive(_ number: Int, _ at: Int64, at place: String? = nil) {
    guard isKept, arrows.indices.contains(number) else { return }
    arrows[number].arrived = at
    if let place { arrows[number].to = place }
  }
}
