// SPDX-License-Identifier: Apache-2.0

import CSkerrySQLite

/// The only owner of a database handle: it closes when this goes away.
struct DatabaseHandle: ~Copyable {
  let pointer: OpaquePointer

  private init(pointer: OpaquePointer) { self.pointer = pointer }

  static func open(_ path: String, flags: Int32, vfs: String?) throws(SQLiteError) -> DatabaseHandle {
    var pointer: OpaquePointer?
    let result = sqlite3_open_v2(path, &pointer, flags, vfs)
    guard result == SQLITE_OK, let pointer else {
      let message = pointer.map { String(cString: sqlite3_errmsg($0)) } ?? "out of memory"
      sqlite3_close_v2(pointer)  // a failed open leaves a handle that must be closed all the same
      throw SQLiteError(extendedCode: result, message: "\(message) (\(path))")
    }
    sqlite3_extended_result_codes(pointer, 1)
    return DatabaseHandle(pointer: pointer)
  }

  deinit { sqlite3_close_v2(pointer) }
}

/// The only owner of a prepared statement: it is finalised when this goes away.
struct StatementHandle: ~Copyable {
  let pointer: OpaquePointer
  deinit { sqlite3_finalize(pointer) }
}
