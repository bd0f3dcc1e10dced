// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#elseif canImport(Darwin)
  import Darwin
#endif

/// Whole files, written so that a power loss leaves all of one or nothing, and what belongs to that.
///
/// Every call blocks. A value of its own, so that a test can let a process die before any step that changes something.
package struct FileSystem: Sendable {
  /// Called before each call that changes a file or folder, with its name; whatever it throws is thrown, and nothing is done.
  private let beforeStep: @Sendable (String) throws -> Void

  package init(beforeStep: @escaping @Sendable (String) throws -> Void = { _ in }) { self.beforeStep = beforeStep }

  package static let system = FileSystem()

  // MARK: Reading

  /// - Returns: the file's bytes; nil if there is none.
  package func read(_ path: String) throws -> [UInt8]? {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    if file < 0, errno == ENOENT { return nil }
    guard file >= 0 else { throw FileError("read", path, code: errno) }
    defer { close(file) }
    var out: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = buffer.withUnsafeMutableBytes { readSome(file, $0) }
      if count < 0, errno == EINTR { continue }
      if count < 0 { throw FileError("read", path, code: errno) }
      if count == 0 { return out }
      out += buffer[..<count]
    }
  }

  /// - Returns: the names in a folder in the order of their bytes; none if there is no such folder.
  package func names(in folder: String) throws -> [String] {
    guard let stream = opendir(folder) else {
      if errno == ENOENT { return [] }
      throw FileError("list", folder, code: errno)
    }
    defer { closedir(stream) }
    var out: [String] = []
    while let entry = readdir(stream) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        pointer.withMemoryRebound(to: CChar.self, capacity: Int(NAME_MAX) + 1) { String(cString: $0) }
      }
      if name != ".", name != ".." { out.append(name) }
    }
    return out.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }

  /// - Returns: the file's size in bytes; nil if there is none.
  package func size(of path: String) -> Int64? {
    var found = stat()
    return stat(path, &found) == 0 ? Int64(found.st_size) : nil
  }

  package func exists(_ path: String) -> Bool { size(of: path) != nil }

  /// - Returns: who may read and write the file, as `chmod` has it; nil if there is none.
  package func mode(of path: String) -> UInt16? {
    var found = stat()
    return stat(path, &found) == 0 ? UInt16(truncatingIfNeeded: found.st_mode & 0o777) : nil
  }

  /// How many bytes the volume has left for this process; nil if it does not say.
  package func freeSpace(beside path: String) -> Int64? {
    let folder = FileSystem.folder(of: path)
    var found = statvfs()
    guard statvfs(folder, &found) == 0 else { return nil }
    return Int64(clamping: UInt64(found.f_bavail) &* UInt64(found.f_frsize))
  }

  /// The folder that a path is in.
  package static func folder(of path: String) -> String {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  // MARK: Changing

  /// Makes an empty file, unless it is there.
  package func create(_ path: String, mode: UInt16) throws {
    try beforeStep("create")
    let file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, mode_t(mode))
    guard file >= 0 else { throw FileError("make", path, code: errno) }
    close(file)
  }

  package func setMode(_ mode: UInt16, of path: String) throws {
    try beforeStep("chmod")
    if chmod(path, mode_t(mode)) != 0 { throw FileError("change the permissions of", path, code: errno) }
  }

  /// Puts bytes under a name that nothing has yet: all of them or nothing, also after a power loss, once this returns.
  ///
  /// - Parameter draft: the name in the same folder under which they are written first.
  package func write(_ bytes: [UInt8], to path: String, by draft: String, mode: UInt16) throws {
    try beforeStep("write")
    let file = open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode_t(mode))
    guard file >= 0 else { throw FileError("write", draft, code: errno) }
    do {
      defer { close(file) }
      try put(bytes, into: file, draft)
      try beforeStep("sync")
      try FileSystem.sync(file, draft)
    }
    try move(draft, to: path)
    try syncFolder(of: path)
  }

  private func put(_ bytes: [UInt8], into file: Int32, _ path: String) throws {
    var rest = bytes[...]
    while !rest.isEmpty {
      // In two halves at least, so that a death between them leaves what a death leaves.
      try beforeStep("write")
      let part = rest.prefix(max(1, (bytes.count + 1) / 2))
      let count = part.withUnsafeBytes { writeSome(file, $0) }
      if count < 0, errno == EINTR { continue }
      if count < 0 { throw FileError("write", path, code: errno) }
      rest = rest.dropFirst(count)
    }
  }

  /// Gives a file another name; whatever had that name is gone.
  package func move(_ path: String, to other: String) throws {
    try beforeStep("rename")
    if rename(path, other) != 0 { throw FileError("rename", path, code: errno) }
  }

  /// Gives a file a second name, unless that is taken.
  package func link(_ path: String, to other: String) throws {
    try beforeStep("link")
    if makeLink(path, other) != 0, errno != EEXIST { throw FileError("link", path, code: errno) }
  }

  /// Removes a file; one that is not there is no error.
  package func remove(_ path: String) throws {
    try beforeStep("unlink")
    if unlink(path) != 0, errno != ENOENT { throw FileError("remove", path, code: errno) }
  }

  /// Makes the names in a file's folder durable: those that came and those that went.
  package func syncFolder(of path: String) throws {
    try beforeStep("sync folder")
    let folder = FileSystem.folder(of: path)
    let file = open(folder, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { throw FileError("open", folder, code: errno) }
    defer { close(file) }
    try FileSystem.sync(file, folder)
  }

  private static func sync(_ file: Int32, _ path: String) throws {
    #if canImport(Darwin)
      // fsync leaves the bytes in the drive's cache there (man 2 fsync); a volume that lacks the other gets fsync.
      if fcntl(file, F_FULLFSYNC) == 0 { return }
    #endif
    if fsync(file) != 0 { throw FileError("sync", path, code: errno) }
  }
}

extension FileSystem {
  /// Whether two paths lead to one file that is there.
  package func areSame(_ path: String, _ other: String) -> Bool {
    var (one, two) = (stat(), stat())
    guard stat(path, &one) == 0, stat(other, &two) == 0 else { return false }
    return one.st_dev == two.st_dev && one.st_ino == two.st_ino
  }
}

// The system's calls where no method of `FileSystem` bears their names.

private func readSome(_ file: Int32, _ bytes: UnsafeMutableRawBufferPointer) -> Int {
  read(file, bytes.baseAddress, bytes.count)
}

private func writeSome(_ file: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
  write(file, bytes.baseAddress, bytes.count)
}

private func makeLink(_ path: String, _ other: String) -> Int32 { link(path, other) }
