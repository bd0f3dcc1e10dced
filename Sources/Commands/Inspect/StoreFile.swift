// SPDX-License-Identifier: Apache-2.0

import Foundation
import SkerrySQLiteKit
import SkerryStorageSQLite
import SkerryStore

/// A file of Skerry's that is looked into: opened for reading only, in one snapshot, beside whoever has it open.
struct StoreFile {
  /// Whose file it is.
  enum Kind {
    case device
    case server
  }

  /// What the file takes.
  struct Sizes: Equatable {
    let bytes: Int64
    /// Nil if there is no WAL beside the file.
    let walBytes: Int64?
    let pageSize: Int64
    let pages: Int64
    let freePages: Int64
  }

  let kind: Kind
  let connection: SQLiteConnection
  let sizes: Sizes

  /// Gives a closure the file.
  ///
  /// - Throws: `FileError` for what is no file of Skerry's or a damaged one.
  static func read<T>(_ path: String, _ body: (StoreFile) throws -> T) throws -> T {
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
      throw FileError(path, "there is no such file", "name a device's store file or a server's database")
    }
    if isFolder.boolValue { throw FileError(path, "this is a folder", "name the file in it") }
    // SQLite keeps the WAL beside the file that a link leads to.
    let real = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
    do {
      if !hasWAL(real), let result = try readAlone(real, body) { return result }
      return try readOnce(real, .reader, body)
    } catch let error as SQLiteError {
      throw FileError(path, error)
    }
  }

  private static func hasWAL(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path + "-wal") }

  /// Without a WAL nobody has the file open, so it is read as it stands: an ordinary reader would make a WAL and its index
  /// beside it, which a folder that only holds a copy may not allow, and a look into a file should not do.
  ///
  /// - Returns: nil if a process opened it meanwhile, so that what was read may not be one state.
  private static func readAlone<T>(_ path: String, _ body: (StoreFile) throws -> T) throws -> T? {
    let before = Stamp(path)
    let result = Result { try readOnce(path, .immutable, body) }
    return hasWAL(path) || Stamp(path) != before ? nil : try result.get()
  }

  /// What tells that a file was written.
  private struct Stamp: Equatable {
    private let changed: Date?
    private let bytes: Int?

    init(_ path: String) {
      let attributes = try? FileManager.default.attributesOfItem(atPath: path)
      changed = attributes?[.modificationDate] as? Date
      bytes = (attributes?[.size] as? NSNumber)?.intValue
    }
  }

  private static func readOnce<T>(
    _ path: String, _ mode: SQLiteConnection.Mode, _ body: (StoreFile) throws -> T
  ) throws -> T {
    let connection = try SQLiteConnection(path: path, mode: mode)
    return try connection.transaction(.deferred) {
      try body(StoreFile(kind: kind(path, connection), connection: connection, sizes: sizes(path, connection)))
    }
  }

  private static func kind(_ path: String, _ connection: SQLiteConnection) throws -> Kind {
    if try Store.isStore(connection) { return .device }
    if try SQLiteStorage.isStorage(connection) { return .server }
    throw FileError(
      path, "this SQLite database has neither the tables of a device's store nor those of a server",
      hasWAL(path)
        ? "name another file" : "name another file, or copy the -wal beside the original too: it may hold all of it")
  }

  private static func sizes(_ path: String, _ connection: SQLiteConnection) throws -> Sizes {
    func pragma(_ name: String) throws -> Int64 { try connection.first("PRAGMA \(name)") { $0.integer(0) } ?? 0 }
    func bytes(_ path: String) -> Int64? {
      (try? FileManager.default.attributesOfItem(atPath: path))?[.size].flatMap { $0 as? NSNumber }?.int64Value
    }
    return Sizes(
      bytes: bytes(path) ?? 0, walBytes: bytes(path + "-wal"), pageSize: try pragma("page_size"),
      pages: try pragma("page_count"), freePages: try pragma("freelist_count"))
  }
}

/// Why a file cannot be looked into: which, what was found, and what to do.
struct FileError: Error, CustomStringConvertible {
  let description: String

  init(_ path: String, _ found: String, _ remedy: String) { description = "\(path): \(found); \(remedy)" }

  init(_ path: String, _ error: SQLiteError) {
    if error.isDamage {
      self.init(
        path, "a SQLite database was expected, this is none or a damaged one (\(error.message))",
        "take another copy of it, or restore it")
    } else {
      self.init(
        path, "it cannot be read (\(error))",
        "see whether it may be read; one with a -wal beside it also needs its -shm, or a folder that may be written")
    }
  }
}
