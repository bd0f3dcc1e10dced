// SPDX-License-Identifier: Apache-2.0

import Foundation
package import SkerryModel

/// The command `skerry`: one file a verb.
public enum CommandLineTool {
  /// Runs one verb. Results go to standard output, errors to standard error.
  ///
  /// - Parameter arguments: the command line without the program's name.
  /// - Returns: the exit code; see the help page.
  public static func run(_ arguments: [String]) async -> Int32 {
    let words = Array(arguments.dropFirst())
    let options = words.prefix { $0 != "--" }
    if options.contains("--help") || options.contains("-h"), let page = HelpPage.of(arguments[0]) {
      Output.line(page.text)
      return 0
    }
    do {
      switch arguments.first {
      case "demo": return try await DemoCommand(words).run()
      case "serve": return try await ServeCommand(words).run()
      case "device": return try await DeviceCommand(words).run()
      case "token": return try TokenCommand(words).run()
      case "simulate": return try SimulateCommand(words).run()
      case "import":
        try await ImportCommand(words).run { Output.line($0) }
        return 0
      case "bench": return try await BenchCommand(words).run()
      case "inspect", "explain", "schema": return answer(arguments).give()
      case "help", "--help", "-h":
        Output.line(words.first.flatMap { HelpPage.of($0) }?.text ?? HelpPage.all)
        return 0
      case let verb: throw UsageError(description: verb.map { "there is no verb '\($0)'" } ?? "a verb is needed")
      }
    } catch {
      return CommandAnswer(failure: error).give()
    }
  }

  /// The schema in a file, without any complaint.
  package static func schema(_ path: String) throws -> Schema {
    let file = SchemaFile(try OldFile.bytes(path))
    if let first = file.complaints.first {
      throw FileError(path, "no schema that can be used: \(first)", "'skerry schema check' has all complaints")
    }
    return try file.schema()
  }
}

/// Standard output and standard error, written at once: `print` to a pipe keeps lines back until its buffer is full.
enum Output {
  static func line(_ text: String) { FileHandle.standardOutput.write(Data((text + "\n").utf8)) }
  static func error(_ text: String) { FileHandle.standardError.write(Data((text + "\n").utf8)) }
}
