// SPDX-License-Identifier: Apache-2.0

import Foundation
import SkerryAmbientKit
import SkerryTokenKit

/// `skerry token`: a bearer token for tests and demonstrations; an app's own backend makes them otherwise.
struct TokenCommand {
  private let account: String
  private let secret: [UInt8]
  private let hours: Int

  init(_ words: [String]) throws {
    let arguments = try Arguments(words, options: ["account", "secret-file", "hours"])
    account = try arguments.text("account")
    hours = try arguments.number("hours", or: 1, in: 1...87_600)
    secret = try OldFile.bytes(arguments.text("secret-file"))
  }

  func run() throws -> Int32 {
    Output.line(try TokenCommand.token(account, secret: secret, hours: hours))
    return 0
  }

  static func token(_ account: String, secret: [UInt8], hours: Int) throws -> String {
    let now = SystemAmbient().now()
    return try TokenSigner(secret: secret).sign(
      TokenClaims(
        subject: account, issuer: "skerry", audience: ["skerry"], expires: now + Int64(hours) * 3_600_000, issuedAt: now
      ))
  }

  /// A new secret to sign tokens with.
  static func makeSecret() -> [UInt8] {
    let ambient = SystemAmbient()
    return (0..<TokenKey.minimumSecretBytes).map { _ in UInt8(truncatingIfNeeded: ambient.random()) }
  }

  /// The token in a file, without the line's end.
  static func read(_ file: String) throws -> String {
    try OldFile.text(file).split(separator: "\n").first.map(String.init) ?? ""
  }
}
