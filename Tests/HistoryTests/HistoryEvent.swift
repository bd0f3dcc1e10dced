// SPDX-License-Identifier: Apache-2.0

import Foundation

/// One line of a history: what happens, and what must be so afterwards. See `Tests/Histories/README.md`.
struct HistoryEvent {
  let json: [String: Any]

  init(_ line: Substring) throws {
    let object = try JSONSerialization.jsonObject(with: Data(line.utf8))
    json = object as? [String: Any] ?? [:]
  }

  init(_ json: [String: Any]) { self.json = json }

  func text(_ name: String) -> String { json[name] as? String ?? "" }
  func number(_ name: String) -> Int { json[name] as? Int ?? 0 }
  func flag(_ name: String) -> Bool { json[name] as? Bool ?? false }
  func list(_ name: String) -> [[Any]] { json[name] as? [[Any]] ?? [] }
  func texts(_ name: String) -> [String] { json[name] as? [String] ?? [] }
  func object(_ name: String) -> [String: Any]? { json[name] as? [String: Any] }
  func has(_ name: String) -> Bool { json[name] != nil && !(json[name] is NSNull) }

  static func read(_ path: String) throws -> [HistoryEvent] {
    let text = try String(contentsOfFile: path, encoding: .utf8)
    return try text.split(separator: "\n").map { try HistoryEvent($0) }
  }
}

/// A history and the implementation differ.
struct Difference: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}

func require<T: Equatable>(_ found: T, _ expected: T, _ what: @autoclosure () throws -> String) throws {
  if found != expected { throw Difference("\(try what()):\n  expected \(expected)\n  found    \(found)") }
}
