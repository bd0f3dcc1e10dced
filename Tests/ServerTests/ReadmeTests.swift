// SPDX-License-Identifier: Apache-2.0

import Foundation
import SkerryHTTPKit
import SkerryTestSupport
import Testing

/// What the README tells to type does what it says.
@Suite(.timeLimit(.minutes(5))) struct ReadmeTests {
  struct Missing: Error { var what: String }

  /// The shell commands under "By hand".
  static func commands() throws -> String {
    let text = try String(contentsOf: Shop.root.appendingPathComponent("README.md"), encoding: .utf8)
    guard let section = text.components(separatedBy: "\n## By hand\n").dropFirst().first,
      let block = section.components(separatedBy: "\n```").dropFirst().first
    else { throw Missing(what: "a fenced block under By hand") }
    return block
  }

  /// The program that was built with the tests, beside them.
  static func program() throws -> URL {
    let tests = URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath()
    let candidates = [
      Bundle.main.bundleURL, tests.deletingLastPathComponent(), Shop.root.appendingPathComponent(".build/debug"),
    ]
    .map { $0.appendingPathComponent("skerry") }
    guard let program = candidates.first(where: { FileManager.default.isExecutableFile(atPath: $0.path) }) else {
      throw Missing(what: "skerry in \(candidates.map(\.path))")
    }
    return program
  }

  /// A port that nobody listened on a moment ago.
  static func freePort() throws -> Int {
    let server = try HTTPServer.start(routes: HTTPRoutes([]))
    server.stop()
    return server.port
  }

  /// The README's commands, then its last one again with the cursor that came back, and the end of the server.
  static func script(_ commands: String, port: Int) throws -> String {
    guard let pull = commands.range(of: "curl -s", options: .backwards).map({ String(commands[$0.lowerBound...]) })
    else {
      throw Missing(what: "a curl command")
    }
    let second = pull.replacing("\"cursor\": null", with: "\"cursor\": \"'\"$CURSOR\"'\"")
    guard second != pull else { throw Missing(what: "a pull without a cursor") }
    return """
      {
      trap 'kill $SERVER 2>/dev/null' EXIT
      \(commands.replacing("&\n", with: "& SERVER=$!\n"))
      } > first
      CURSOR=$(sed -n 's/.*"cursor":"\\([^"]*\\)".*/\\1/p' first)
      {
      \(second)
      } > second
      kill $SERVER
      wait $SERVER
      echo "ended with $?" > end
      trap - EXIT

      """.replacing("8080", with: String(port))
  }

  static func run(_ script: String, in folder: TemporaryFolder) throws {
    let manager = FileManager.default
    let bin = folder.url.appendingPathComponent("bin")
    try manager.createDirectory(at: bin, withIntermediateDirectories: false)
    try manager.createSymbolicLink(at: bin.appendingPathComponent("skerry"), withDestinationURL: program())
    try manager.createSymbolicLink(
      at: folder.url.appendingPathComponent("Examples"),
      withDestinationURL: Shop.root.appendingPathComponent("Examples"))
    try Data("max-time = 20\n".utf8).write(to: folder.url.appendingPathComponent(".curlrc"))
    let shell = Process()
    shell.executableURL = URL(fileURLWithPath: "/bin/sh")
    shell.arguments = ["-c", script]
    shell.currentDirectoryURL = folder.url
    shell.environment = [
      "PATH": "\(bin.path):/usr/local/bin:/usr/bin:/bin", "HOME": folder.url.path, "no_proxy": "127.0.0.1",
    ]
    try shell.run()
    shell.waitUntilExit()
    #expect(shell.terminationStatus == 0)
  }

  @Test func `the commands by hand push a row and bring it back`() async throws {
    let folder = try TemporaryFolder()
    let script = try Self.script(Self.commands(), port: Self.freePort())
    try await withCheckedThrowingContinuation { (done: CheckedContinuation<Void, any Error>) in
      Thread.detachNewThread { done.resume(with: Result { try Self.run(script, in: folder) }) }
    }
    func read(_ name: String) throws -> String { try String(contentsOfFile: folder.path(name), encoding: .utf8) }
    let first = try read("first")
    #expect(first.contains(#""outcome":"confirmed""#), "\(first)")
    #expect(first.contains(#""kind":"reset""#), "\(first)")
    let second = try read("second")
    let page = object(second)
    let items = page["items"] as? [[String: Any]] ?? []
    let row = items.first { $0["kind"] as? String == "put" && $0["table"] as? String == "teams" }
    #expect(page["kind"] as? String == "page", "\(second)")
    #expect(row?["key"] as? [String] == ["t1"], "\(second)")
    #expect((row?["fields"] as? [String: Any])?["name"] as? String == "Team one", "\(second)")
    #expect(try read("end") == "ended with 0\n")
  }
}
