// SPDX-License-Identifier: Apache-2.0
import Foundation
import SkerryContacts
import SkerryModel
import Testing

@testable import SkerryCommands

/// The guide to `skerry simulate` and the command's own help name the same flags.
@Suite struct GuideTests {
  @Test func `the guide tells of each flag of skerry simulate, and of no other`() throws {
    let file = URL(fileURLWithPath: #filePath + "/../../../docs/guides/simulate-your-app.md").standardized
    let guide = try String(contentsOf: file, encoding: .utf8)
    let help = try #require(HelpPage.of("simulate")).text
    let flags = Self.flags(in: help)
    #expect(flags.count > 10)
    #expect(Self.flags(in: guide).subtracting(["--product", "--help"]) == flags.subtracting(["--help"]))
  }

  @Test func `the guide to adoption calls skerry import as it is`() throws {
    let file = URL(fileURLWithPath: #filePath + "/../../../docs/guides/adopt-existing-data.md").standardized
    let calls = try String(contentsOf: file, encoding: .utf8).split(separator: "\n").filter {
      $0.hasPrefix("skerry import ")
    }
    #expect(calls.count > 2)
    let known = Self.flags(in: try #require(HelpPage.of("import")).text)
    for call in calls { #expect(Self.flags(in: String(call)).isSubset(of: known)) }
  }

  private static func flags(in text: String) -> Set<String> {
    Set(text.matches(of: /--[a-z][a-z-]*/).map { String($0.output) })
  }
}

/// The example's schema as records, and as the file that commands read.
@Suite struct ExampleTests {
  @Test func `the example's schema file says what its records say`() throws {
    let file = URL(fileURLWithPath: #filePath + "/../../../Examples/Contacts/schema.json").standardized
    #expect(try JSONDecoder().decode(Schema.self, from: Data(contentsOf: file)) == Schema.contacts)
    _ = try Catalog(Schema.contacts)
  }
}
