// SPDX-License-Identifier: Apache-2.0

/// Reads `Content-Type`.
package enum MediaType {
  /// Type and subtype in small letters, without parameters; nil if there is no such thing.
  package static func essence(_ text: String) -> String? {
    let whole = text.utf8.prefix { $0 != UInt8(ascii: ";") }.map(lower)
    let essence = whole.reversed().drop(while: isBlank).reversed().drop(while: isBlank)
    let parts = essence.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    guard parts.count == 2, parts.allSatisfy({ !$0.isEmpty && !$0.contains(where: isBlank) }) else { return nil }
    return String(decoding: essence, as: UTF8.self)
  }

  private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

  private static func lower(_ byte: UInt8) -> UInt8 { byte &- 65 < 26 ? byte | 0x20 : byte }
}
