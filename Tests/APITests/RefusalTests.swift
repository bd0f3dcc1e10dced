// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// What the interface promises not to compile, by the compiler that compiles it.
@Suite("What must not compile") struct RefusalTests {
  private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
  static let files: [String] =
    ((try? FileManager.default.contentsOfDirectory(atPath: folder.path + "/Refusals")) ?? []).sorted()

  @Test func `there are files, and one that must compile`() {
    #expect(Self.files.count >= 12)
    #expect(Self.files.contains("Accepted.swift"))
  }

  @Test(arguments: files)
  func `a file with a mistake is refused for that mistake`(file: String) throws {
    let source = try String(contentsOf: Self.folder.appending(path: "Refusals/" + file), encoding: .utf8)
    let first = try #require(source.split(separator: "\n").first)
    #expect(first.hasPrefix("// expect: "))
    let expected = first.dropFirst("// expect: ".count)
    let (code, output) = try Self.check(file)
    if expected == "nothing" {
      #expect(code == 0, "\(output)")
    } else {
      #expect(code != 0)
      let errors = output.split(separator: "\n").filter { $0.contains(": error: ") }
      #expect(errors.contains { $0.contains(expected) }, "\(output)")
    }
  }

  /// Checks a file beside the records that all of them use, as an app's own target would: types, and what is moved where.
  private static func check(_ file: String) throws -> (Int32, String) {
    // The tests' own program is in the folder where the modules are.
    let built = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent().path
    let package = folder.deletingLastPathComponent().deletingLastPathComponent().path
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments =
      [
        "swiftc", "-wmo", "-emit-sil", "-o", "/dev/null", "-swift-version", "6", "-module-name", "Refused", "-I",
        built + "/Modules",
      ]
      + ["ExistentialAny", "MemberImportVisibility", "InternalImportsByDefault", "NonisolatedNonsendingByDefault"]
      .flatMap { ["-enable-upcoming-feature", $0] }
      + ["-Xcc", "-fmodule-map-file=\(package)/Sources/CLayer/CSkerrySQLite/module.modulemap"]
      + [folder.path + "/Program/Records.swift", folder.path + "/Refusals/" + file]
    let pipe = Pipe()
    process.standardError = pipe
    process.standardOutput = pipe
    try process.run()
    let output = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    return (process.terminationStatus, output)
  }
}
