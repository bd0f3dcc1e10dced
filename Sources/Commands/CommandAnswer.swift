// SPDX-License-Identifier: Apache-2.0

import Foundation

/// What a verb that only reads has to say: texts for standard output and standard error, and the exit code.
package struct CommandAnswer: Sendable, Equatable {
  package let output: String
  package let error: String
  /// 0 done · 1 the check that was asked for failed · 2 the command line is wrong · 3 it could not be done.
  package let code: Int32

  init(_ output: String, code: Int32 = 0) {
    self.output = output
    error = ""
    self.code = code
  }

  init(failure: any Error) {
    output = ""
    let isUsage = failure is UsageError
    error = isUsage ? "skerry: \(failure). See 'skerry help'." : "skerry: \(failure)"
    code = isUsage ? 2 : 3
  }

  /// Writes the texts where they belong.
  ///
  /// - Returns: the exit code.
  func give() -> Int32 {
    if !output.isEmpty { Output.line(output) }
    if !error.isEmpty { Output.error(error) }
    return code
  }
}

extension CommandLineTool {
  /// Carries out a verb that only reads: `inspect`, `explain` or `schema`.
  ///
  /// - Parameters:
  ///   - arguments: the command line without the program's name.
  ///   - input: gives all of standard input; asked only if the command line wants it.
  package static func answer(
    _ arguments: [String], input: () -> [UInt8] = { Array(FileHandle.standardInput.readDataToEndOfFile()) }
  ) -> CommandAnswer {
    let words = Array(arguments.dropFirst())
    do {
      switch arguments.first {
      case "inspect": return try InspectCommand(words).answer()
      case "explain": return try ExplainCommand(words).answer()
      case "schema": return try SchemaCommand(words).answer(input: input)
      default: throw UsageError(description: "no verb that only reads")
      }
    } catch { return CommandAnswer(failure: error) }
  }
}
