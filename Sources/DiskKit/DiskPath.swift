// SPDX-License-Identifier: Apache-2.0

/// A file as SQLite names it to a disk, `process:machine/file`. What has no `:` or `/` belongs to a process or a machine
/// without a name.
struct DiskPath {
  let process: String
  let machine: String
  let file: String

  init(_ text: String) {
    let bytes = text.utf8
    let colon = bytes.firstIndex(of: UInt8(ascii: ":"))
    let rest = colon.map(bytes.index(after:)) ?? bytes.startIndex
    let slash = bytes[rest...].firstIndex(of: UInt8(ascii: "/"))
    process = colon.map { String(text[..<$0]) } ?? ""
    machine = slash.map { String(text[rest..<$0]) } ?? ""
    file = String(text[(slash.map(bytes.index(after:)) ?? rest)...])
  }
}
