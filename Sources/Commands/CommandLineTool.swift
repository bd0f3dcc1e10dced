// SPDX-License-Identifier: Apache-2.0

import Foundation
import SkerryModel

/// The command `skerry`: one file a verb.
public enum CommandLineTool {
  private static let help = """
    skerry: an offline-first sync engine

    usage: skerry VERB [options]

      demo    two devices and a server as processes on this machine, on real contacts
              [--drop SHARE] [--seed N] [--sabotage] [--data FOLDER] [--folder FOLDER]
      serve   a server beside one SQLite file
              --database FILE --schema FILE --secret-file FILE (HS256) or --public-key-file FILE (ES256)
              [--public-key-id ID] [--issuer TEXT] [--audience TEXT] [--host ADDRESS] [--port N] [--threads N]
      device  a device as a process, told what to do over HTTP on the loopback address (docs/device.md)
              --folder FOLDER --account ID --schema FILE [--server URL --token-file FILE]
              [--control PORT] [--run] [--seed N]
      bench   what Skerry costs beside the bare thing; one JSON object a line
              [write|push|firstSync|emptyPull] [--runs N] [--percent N] [--folder FOLDER]
      token   prints a bearer token (HS256)
              --account ID --secret-file FILE [--hours N]
      inspect what the file of a device or of a server holds, without any value of a row; keys of rows only with --keys.
              The file is only read, and may be in use or a copy
              STORE [--keys] [--json]
      explain why one row looks as it does, on a device or a server; values only with --values. The files keep no schema, only
              its name and version or fingerprint, so it must be given. A KEY is one word for each column of the key
              STORE TABLE KEY… --schema FILE [--values] [--json]
      schema  check: every complaint about a schema file · sql: what a server (or a device) makes of it · json: its
              canonical form, to compare two files. FILE may be - for standard input
              check FILE | sql FILE [--server | --device] | json FILE
      help    this page

    serve and device: [--until-eof] ends with the standard input, [--stop-at POINT:N] for tests of death (docs/device.md)

    exit codes: 0 done · 1 the check that was asked for failed · 2 the command line is wrong · 3 it could not be done

    """

  /// Runs one verb. Results go to standard output, errors to standard error.
  ///
  /// - Parameter arguments: the command line without the program's name.
  /// - Returns: the exit code; see the help page.
  public static func run(_ arguments: [String]) async -> Int32 {
    let words = Array(arguments.dropFirst())
    do {
      switch arguments.first {
      case "demo": return try await DemoCommand(words).run()
      case "serve": return try await ServeCommand(words).run()
      case "device": return try await DeviceCommand(words).run()
      case "token": return try TokenCommand(words).run()
      case "bench": return try await BenchCommand(words).run()
      case "inspect", "explain", "schema": return answer(arguments).give()
      case "help", "--help", "-h":
        Output.line(help)
        return 0
      case let verb: throw UsageError(description: verb.map { "there is no verb '\($0)'" } ?? "a verb is needed")
      }
    } catch {
      return CommandAnswer(failure: error).give()
    }
  }

  static func schema(_ path: String) throws -> Schema {
    do { return try JSONDecoder().decode(Schema.self, from: Data(contentsOf: URL(fileURLWithPath: path))) } catch {
      throw UsageError(description: "schema \(path): \(error)")
    }
  }

  static func secret(_ path: String) throws -> [UInt8] { Array(try Data(contentsOf: URL(fileURLWithPath: path))) }
}

/// Standard output and standard error, written at once: `print` to a pipe keeps lines back until its buffer is full.
enum Output {
  static func line(_ text: String) { FileHandle.standardOutput.write(Data((text + "\n").utf8)) }
  static func error(_ text: String) { FileHandle.standardError.write(Data((text + "\n").utf8)) }
}
