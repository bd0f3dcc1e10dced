// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#elseif canImport(Darwin)
  internal import Darwin
#endif

extension MemoryDisk {
  /// What belongs to a database beside its file.
  private static let suffixes = ["", "-wal", "-journal"]

  /// The names of a machine's files, sorted.
  package func files(on machine: String) -> [String] { core.locked { core.machine(machine).files.keys.sorted() } }

  /// A file as programs see it now; nil if there is none.
  package func bytes(of file: String, on machine: String) -> [UInt8]? {
    core.locked { core.machine(machine).files[file].map { Array($0.bytes.all) } }
  }

  /// Changes a file under whoever has it open, for certain and at once: damage, or a file put back. Nil takes it away.
  package func setBytes(_ bytes: [UInt8]?, of file: String, on machine: String) {
    core.locked {
      let machine = core.machine(machine)
      guard let bytes else { return machine.place(file, nil) }
      let content = machine.files[file] ?? FileContent()
      bytes.withUnsafeBytes { content.replace(by: $0) }
      machine.place(file, content)
    }
  }

  /// Copies a database with its WAL as it is now, in place of what was there; whoever had that open keeps the old one.
  package func copy(from machine: String, _ file: String, to target: String, _ name: String) {
    core.locked {
      let (from, to) = (core.machine(machine), core.machine(target))
      for suffix in MemoryDisk.suffixes {
        to.place(name + suffix, from.files[file + suffix].map { FileContent($0.bytes.all) })
      }
    }
  }

  /// The files whose present content holds the bytes somewhere.
  package func contains(_ needle: [UInt8], on machine: String) -> [String] {
    core.locked {
      let files = core.machine(machine).files
      return files.keys.sorted().filter { files[$0].map { MemoryDisk.search($0.bytes.all, for: needle) } ?? false }
    }
  }

  /// By C's functions, which also are fast in a debug build.
  private static func search(_ hay: UnsafeRawBufferPointer, for needle: [UInt8]) -> Bool {
    guard let first = needle.first, let start = hay.baseAddress else { return needle.isEmpty }
    var place = start
    let end = start + hay.count
    while end - place >= needle.count {
      guard let found = memchr(place, Int32(first), end - place - needle.count + 1) else { return false }
      if memcmp(found, needle, needle.count) == 0 { return true }
      place = UnsafeRawPointer(found) + 1
    }
    return false
  }
}
