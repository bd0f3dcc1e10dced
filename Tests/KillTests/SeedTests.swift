// SPDX-License-Identifier: Apache-2.0
import SkerryCommands
import Testing

/// A seed of the simulator is the same run wherever it is run: it can be handed on as a number.
@Suite struct SeedTests {
  @Test func `the same seeds in two processes give the same bytes, message by message and write by write`() throws {
    let program = try Stage.findProgram()
    let reports = try (0..<2).map { _ in
      let words = ["simulate", "--worker", "--first", "7", "--seeds", "3", "--steps", "60"]
      let child = try ChildProcess(words, program: program)
      defer { child.kill() }
      return try (0..<3).map { _ in try child.line() }
    }
    // A report names the hash of everything that was sent and written.
    #expect(reports[0] == reports[1])
    #expect(Set(reports[0]).count == 3)
    for report in reports[0] { #expect(report.contains("\"trace\":\"") && !report.contains("\"check\"")) }
  }
}
