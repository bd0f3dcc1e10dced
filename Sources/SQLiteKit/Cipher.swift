// SPDX-License-Identifier: Apache-2.0

import CSkerrySQLite

/// Gives the 32 bytes of a key, or 48 with the salt of the file behind them; asked at each opening of a connection.
package typealias CipherKey = @Sendable () throws -> [UInt8]

/// Why an encrypted file cannot be opened. It never holds the key, nor a statement with it.
package enum CipherError: Error, Hashable, Sendable {
  /// The SQLite that is linked cannot encrypt.
  case unavailable
  /// The key has another length than it should.
  case malformedKey(count: Int)
  /// The file cannot be read with the key: it is another file's key, or the file is no database or not encrypted.
  case refused(SQLiteError)
}

/// SQLCipher's way to a key (https://www.zetetic.net/sqlcipher/sqlcipher-api/), which SEE's pragma shares.
enum Cipher {
  /// - Throws: `CipherError.unavailable` if the SQLite that is linked cannot encrypt. No file is touched.
  static func check() throws {
    let memory = try DatabaseHandle.open(":memory:", flags: SQLITE_OPEN_READWRITE, vfs: nil)
    var hasAnswer = false
    // A pragma that SQLite does not know is no error, and has no row.
    let result = withUnsafeMutablePointer(to: &hasAnswer) { answer in
      sqlite3_exec(
        memory.pointer, "PRAGMA cipher_version",
        { context, count, values, _ in
          if count > 0, values?[0] != nil { context?.assumingMemoryBound(to: Bool.self).pointee = true }
          return 0
        }, answer, nil)
    }
    if result != SQLITE_OK || !hasAnswer { throw CipherError.unavailable }
  }

  /// Gives the key to a connection on which nothing else has been done, and reads the file with it.
  static func unlock(_ database: OpaquePointer, with key: [UInt8]) throws {
    guard key.count == 32 || key.count == 48 else { throw CipherError.malformedKey(count: key.count) }
    // No text of Swift's: this buffer can be cleared.
    var statement = Array("PRAGMA key = \"x'".utf8)
    statement.reserveCapacity(statement.count + 2 * key.count + 3)
    let digits = Array("0123456789abcdef".utf8)
    for byte in key { statement += [digits[Int(byte >> 4)], digits[Int(byte & 15)]] }
    statement += Array("'\"".utf8) + [0]
    defer { for index in statement.indices { statement[index] = 0 } }
    let result = statement.withUnsafeBytes { bytes in
      sqlite3_exec(database, bytes.bindMemory(to: CChar.self).baseAddress, nil, nil, nil)
    }
    // The message is SQLite's on the file; the statement with the key is not told.
    func error(_ code: Int32, _ sql: String?) -> CipherError {
      .refused(
        SQLiteError(extendedCode: code, message: sql == nil ? "" : String(cString: sqlite3_errmsg(database)), sql: sql))
    }
    if result != SQLITE_OK { throw error(result, nil) }
    let check = "SELECT count(*) FROM sqlite_master"
    let found = sqlite3_exec(database, check, nil, nil, nil)
    if found & 0xFF == SQLITE_NOTADB { throw error(found, check) }
    // A file that is locked or cannot be read now is told as just that.
    if found != SQLITE_OK {
      throw SQLiteError(extendedCode: found, message: String(cString: sqlite3_errmsg(database)), sql: check)
    }
  }
}

extension SQLiteConnection {
  /// - Throws: `CipherError.unavailable` if the SQLite that is linked cannot encrypt. No file is touched.
  package static func checkCipher() throws { try Cipher.check() }
}
