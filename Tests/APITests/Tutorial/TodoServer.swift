// SPDX-License-Identifier: Apache-2.0

import SkerryServer

/// Serves the to-do lists from a file of SQLite, on a free port of this machine.
func startServer(database: String, secret: [UInt8]) throws -> Server {
  try Server.start(
    Server.Configuration(schema: .todo, database: database, keys: [.hs256(secret: secret)]))
}

/// What your sign-in hands to a device: who it is, for an hour.
func makeToken(for account: AccountID, secret: [UInt8], now: Int64) throws -> String {
  let claims = TokenClaims(
    subject: account.text, issuer: "skerry", audience: ["skerry"], expires: now + 3_600_000)
  return try TokenSigner(secret: secret).sign(claims)
}
