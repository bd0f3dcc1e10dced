// SPDX-License-Identifier: Apache-2.0
import Foundation
import SkerryCommands
import SkerryModel
import SkerryTestSupport
import Testing

/// Command lines that are wrong: exit code 2, and what is wrong.
@Suite struct ArgumentTests {
  @Test(arguments: [
    ("inspect", "STORE is needed"), ("inspect --json", "STORE is needed"), ("inspect a b", "'b' is one word too many"),
    ("inspect a --values", "there is no option --values here"), ("inspect a --keys=1", "there is no option --keys=1"),
    ("explain a t k", "--schema is needed"), ("explain a t --schema f", "KEY… is needed"),
    ("explain a --schema f", "TABLE is needed"), ("explain a t k --schema", "--schema needs a value"),
    ("explain a t k --schema f --schema f", "--schema is given twice"),
    ("explain a t k --schema --values", "--schema needs a value"),
    ("schema", "one of check, sql, json is needed"), ("schema check", "FILE is needed"),
    ("schema draw f", "schema has no 'draw'; it has check, sql, json"),
    ("schema check f --server", "there is no option --server here"),
    ("schema sql f --server --device", "--server and --device cannot be had in one output"),
    ("schema json f g", "'g' is one word too many"),
  ])
  func `a wrong command line is named and refused`(line: String, error: String) {
    let answer = CommandLineTool.answer(line.split(separator: " ").map(String.init))
    #expect(answer.code == 2, "\(answer)")
    #expect(answer.error.contains(error), "\(answer.error)")
    #expect(answer.output.isEmpty)
  }

  @Test func `after two dashes a word is a word`() {
    let answer = CommandLineTool.answer(["inspect", "--", "--json"])
    #expect(answer.code == 3)
    #expect(answer.error.hasPrefix("skerry: --json: there is no such file"))
  }

  @Test func `a file that is not there is no fault of the command line`() {
    let answer = CommandLineTool.answer(["explain", "a", "t", "k", "--schema", "/nonexistent"])
    #expect(answer.code == 3)
    #expect(answer.error.hasPrefix("skerry: /nonexistent: it cannot be read"))
  }

  @Test(arguments: [
    "token --account a --secret-file /nonexistent --hours 0",
    "token --account a --secret-file /nonexistent --hours 9999999999999", "serve --database d",
    "serve --port 1 --port 2",
    "device --folder f --account a", "demo --drop 0.9", "demo --drop x", "demo --folder --sabotage", "bench nothing",
    "bench write --runs 0", "nothing", "",
  ])
  func `a command line that cannot be carried out ends with 2, before anything is done`(line: String) async {
    #expect(await CommandLineTool.run(line.split(separator: " ").map(String.init)) == 2)
  }

  @Test(arguments: [("--host nowhere", 2), ("--host 127.0.0.1 --port 65536", 2), ("--threads 0", 2)])
  func `an address that cannot be listened on ends with 2`(options: String, code: Int32) async throws {
    let folder = try TemporaryFolder()
    let schema = try JSONEncoder().encode(Schema.model)
    try schema.write(to: URL(fileURLWithPath: folder.path("schema.json")))
    try Data(repeating: 7, count: 32).write(to: URL(fileURLWithPath: folder.path("secret")))
    let files = [
      "--database", folder.path("app.db"), "--schema", folder.path("schema.json"), "--secret-file",
      folder.path("secret"),
    ]
    #expect(await CommandLineTool.run(["serve"] + files + options.split(separator: " ").map(String.init)) == code)
  }
}
