// SPDX-License-Identifier: Apache-2.0

package import SkerryModel
package import SkerrySQLiteKit

/// Where a store's file is, and how it is opened.
package struct StorePlace: Sendable {
  /// SQLite before STRICT tables cannot hold a store (https://www.sqlite.org/stricttables.html).
  private static let oldestSQLite = 3_037_000

  package let path: String
  /// SQLite's name of the file system that the file is on; nil for its default.
  package var vfs: String?
  /// Asked for the key at each opening of a connection; nil for a file in clear.
  package var key: (@Sendable () throws -> EncryptionKey)?
  /// nil where the file is none of the system's.
  package var files: FilePolicy?

  package init(
    _ path: String, vfs: String? = nil, key: (@Sendable () throws -> EncryptionKey)? = nil, files: FilePolicy? = nil
  ) {
    self.path = path
    self.vfs = vfs
    self.key = key
    self.files = files
  }

  /// The key as a connection asks for it.
  package var cipherKey: CipherKey? {
    guard let key else { return nil }
    return { try key().bytes }
  }

  /// Opens the connection that writes; the files are there then, and as the policy wants them.
  func openWriter() throws -> SQLiteConnection {
    let version = SQLiteConnection.libraryVersion
    let isEncrypted = key != nil
    do {
      if isEncrypted { try SQLiteConnection.checkCipher() }
      if version < StorePlace.oldestSQLite {
        throw StoreError(
          .unsupported, "SQLite \(StorePlace.text(version)) is linked, 3.37 or later is needed; link a newer one")
      }
      try files?.prepare(path)
      let connection = try SQLiteConnection(path: path, mode: .writer, vfs: vfs, key: cipherKey)
      if let files {
        // A look at the file makes those beside it.
        _ = try connection.first("SELECT 1 FROM sqlite_schema LIMIT 1") { _ in true }
        for suffix in FilePolicy.companions { try files.apply(to: path + suffix) }
      }
      return connection
    } catch let error as CipherError { throw StoreError(error) }
  }

  private static func text(_ version: Int) -> String {
    "\(version / 1_000_000).\(version / 1_000 % 1_000).\(version % 1_000)"
  }
}

extension StoreError {
  /// What a cipher's error means to an app.
  package init(_ error: CipherError) {
    switch error {
    case .unavailable:
      self.init(
        .encryptionUnavailable,
        "a key is given, and the SQLite that is linked cannot encrypt; link SQLCipher in place of SQLite, or open without a key"
      )
    case .malformedKey(let count): self.init(.invalid, "a key has 32 bytes, or 48 with a salt, \(count) are given")
    case .refused:
      self.init(
        .wrongKey,
        "the file cannot be read with this key: it has another one, or is not encrypted; give the key that it was made with"
      )
    }
  }
}

extension StorePlace {
  /// The name of an account's file: a hash, so that no account id can name another path.
  package static func fileName(of account: AccountID) -> String { "skerry-" + accountMark(account) + ".db" }

  /// Stands for an account in the name of a file.
  package static func accountMark(_ account: AccountID) -> String {
    Hex.text(SHA256.hash(Array(account.text.utf8)).prefix(16))
  }
}
