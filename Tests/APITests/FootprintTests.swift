// SPDX-License-Identifier: Apache-2.0
import Foundation
import SkerryTestSupport
import Testing

#if os(Linux)
  /// What an app is linked with that imports `Skerry` and nothing else.
  @Suite("What an app links") struct FootprintTests {
    /// The program is built beside the tests' own.
    private static let program = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
      .appending(path: "SkerryFootprint")

    private func run(_ arguments: [String]) throws -> (Int32, String) {
      let process = Process()
      process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
      process.arguments = arguments
      let pipe = Pipe()
      process.standardOutput = pipe
      try process.run()
      let output = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
      process.waitUntilExit()
      return (process.terminationStatus, output)
    }

    @Test func `an app that imports Skerry alone is linked with SQLite, and no other library beside Swift's`() throws {
      let (code, output) = try run(["ldd", Self.program.path])
      #expect(code == 0)
      let libraries = output.split(separator: "\n").compactMap { $0.split(whereSeparator: \.isWhitespace).first }
      func has(_ name: String) -> Bool { libraries.contains { $0.hasPrefix(name) } }
      #expect(has("libsqlite3.so"), "\(libraries)")
      #expect(has("libswiftCore.so"), "\(libraries)")
      let foreign = [
        "libcurl", "libpq", "libmariadb", "libmicrohttpd", "libcrypto", "libssl", "libgnutls", "libicu",
        "lib_FoundationICU",
        "libFoundation.so", "libFoundationNetworking", "libFoundationInternationalization",
      ]
      for name in foreign { #expect(!has(name), "\(libraries)") }
    }

    @Test func `the same list names what a program links that uses more, so that the test above can fail`() throws {
      let tests = URL(fileURLWithPath: CommandLine.arguments[0]).path
      let (code, output) = try run(["ldd", tests])
      #expect(code == 0)
      for name in ["libcurl", "libmicrohttpd", "libcrypto", "libFoundation.so"] { #expect(output.contains(name)) }
    }

    @Test func `it runs`() throws {
      let folder = try TemporaryFolder()
      let (code, output) = try run([Self.program.path, folder.url.path])
      #expect(code == 0)
      #expect(output == "1\n")
    }
  }
#endif
