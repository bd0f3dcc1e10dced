// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// The rows of the contract that `URLSession` does not meet outside Apple's systems, each with its reason: measured with
/// Swift 6.3.1 on Linux, described in `docs/gotchas.md`.
///
/// A row is tried all the same. One that passes fails the suite, so the table shrinks with the library's faults and
/// never says more than is true; only where it is a race that decides, nobody can say so. What ends the process is tried in
/// a process of its own.
enum Shortcoming: String, CaseIterable {
  case cutHead = "a head that is cut off behind its status line ends the process"
  case trailer = "a field behind a chunked body ends the process"
  case flood = "a task that is cancelled while its body floods in reads on"
  case basic = "an answer that asks for a Basic password never ends"
  case refusal = "a body is sent without asking first, and its refusal may be lost with the connection"
  case coding = "a Content-Encoding that nobody asked for is undone, or fails"

  /// Holds a library to a row of the contract, unless it is known not to meet it.
  func row(_ library: Library, _ body: () async throws -> Void) async throws {
    guard isKnown(of: library) else { return try await body() }
    await withKnownIssue(Comment(rawValue: rawValue), isIntermittent: self == .refusal) { try await body() }
  }

  private func isKnown(of library: Library) -> Bool {
    #if canImport(Darwin)
      library == .urlSession && [.refusal, .coding].contains(self)
    #else
      library == .urlSession
    #endif
  }
}

@Suite struct ShortcomingTests {
  @Test(arguments: Shortcoming.allCases)
  func `each row of the table belongs to a test`(shortcoming: Shortcoming) throws {
    let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
    let uses = try files.filter { $0.pathExtension == "swift" }.filter {
      try String(contentsOf: $0, encoding: .utf8).contains("Shortcoming.\(shortcoming).row(")
    }
    #expect(uses.count == 1)
  }
}
