// SPDX-License-Identifier: Apache-2.0

import Skerry
public import SkerryModel
public import SkerryStore

/// Each throws a `TestFailure` that shows what was expected, what was found, and the whole world.
extension TestWorld {
  /// A SELECT on a device shows these rows, in this order, the device's own unconfirmed changes included.
  ///
  /// - Throws: `TestFailure`; as `Replica.read`.
  public func expect(
    _ device: TestDevice, _ sql: String, _ values: [Value] = [], shows rows: [[Value]], file: StaticString = #fileID,
    line: UInt = #line
  ) async throws {
    try await check(device, file, line)
    let found = try await device.replica.read(sql, values).map(\.values)
    try await compare(found, rows, "\(device.name): \(sql)", file, line)
  }

  /// A SELECT on the server's file shows these rows, in this order.
  ///
  /// - Throws: `TestFailure`; an error of the database.
  public func expectServer(
    _ sql: String, _ values: [Value] = [], shows rows: [[Value]], file: StaticString = #fileID, line: UInt = #line
  ) async throws {
    try await compare(try server.query(sql, values), rows, "server: \(sql)", file, line)
  }

  /// So many writes of a device wait for their outcome.
  ///
  /// - Throws: `TestFailure`; an error of the store.
  public func expectPending(
    _ device: TestDevice, _ count: Int, file: StaticString = #fileID, line: UInt = #line
  ) async throws {
    try await check(device, file, line)
    let found = try await device.replica.facts().pending
    if found == count { return }
    throw await failure("\(device.name): \(count) pending expected, \(found) found", file, line)
  }

  /// One refusal waits on a device to be seen, and has this code. Acknowledge it as the app does, or `finish()` objects.
  ///
  /// - Returns: the refusal.
  /// - Throws: `TestFailure`; an error of the store.
  @discardableResult
  public func expectRefusal(
    on device: TestDevice, code: RefusalCode, file: StaticString = #fileID, line: UInt = #line
  ) async throws -> Rejection {
    try await check(device, file, line)
    let found = try await device.replica.read(.rejections)
    if found.count == 1, let refusal = found.first, refusal.code == code { return refusal }
    let codes = found.isEmpty ? "none" : found.map(DeviceText.text).joined(separator: ", ")
    throw await failure("\(device.name): one refusal with the code \(code) expected, found \(codes)", file, line)
  }

  /// Every device holds what its account may see on the server: row for row, compared with the schema's rules applied to the
  /// server's rows, and digest for digest. Call `settle()` first.
  ///
  /// - Throws: `TestFailure` with what differs first; an error of a store.
  public func expectAgreement(file: StaticString = #fileID, line: UInt = #line) async throws {
    for device in devices {
      try await check(device, file, line)
      if let difference = try await Agreement(self).difference(of: device) {
        throw await failure("\(device.name) differs from the server: \(difference)", file, line)
      }
    }
  }

  /// The end of a test: every device agrees with the server, nothing is pending, every refusal was acknowledged, every fault
  /// has happened, every app is running, no engine is at work, nobody sleeps on the clock, and no late request is on its way.
  ///
  /// - Throws: `TestFailure` with all that is not so.
  public func finish(file: StaticString = #fileID, line: UInt = #line) async throws {
    var objections: [String] = []
    for device in devices { objections += try await self.objections(to: device) }
    objections += network.unused + parts.loop.waiting
    if objections.isEmpty { return }
    let list = objections.map { "\n  - \($0)" }.joined()
    throw await failure("the test cannot end like this:\(list)", file, line)
  }

  private func objections(to device: TestDevice) async throws -> [String] {
    let name = device.name
    if !device.isRunning { return ["\(name): the app is not running; call restart()"] }
    var out: [String] = []
    if await device.isAtWork() { out.append("\(name): an engine is at work; call stop(), or end the app's own call") }
    let facts = try await device.replica.facts()
    if facts.pending > 0 {
      out.append("\(name): \(facts.pending) pending; call settle(), or discard what is not to go")
    }
    for refusal in try await device.replica.read(.rejections) {
      out.append("\(name): a refusal that nobody has acknowledged: \(DeviceText.text(refusal))")
    }
    if facts.digestMismatches > 0 { out.append("\(name): its digests differed \(facts.digestMismatches) times") }
    if let difference = try await Agreement(self).difference(of: device) {
      out.append("\(name) differs from the server: \(difference)")
    }
    return out
  }

  /// Nothing can be expected of an app that is not running.
  private func check(_ device: TestDevice, _ file: StaticString, _ line: UInt) async throws {
    if device.isRunning { return }
    throw await failure("\(device.name): the app is not running; call restart() first", file, line)
  }

  private func compare(
    _ found: [[Value]], _ expected: [[Value]], _ what: String, _ file: StaticString, _ line: UInt
  ) async throws {
    if found == expected { return }
    let reason = "\(what)\n  expected\n\(TestWorld.lines(expected))  found\n\(TestWorld.lines(found))"
    throw await failure(reason, file, line)
  }

  private static func lines(_ rows: [[Value]]) -> String {
    if rows.isEmpty { return "    no rows\n" }
    return rows.map { "    " + $0.map(quoted).joined(separator: " | ") + "\n" }.joined()
  }

  /// A value with its class in sight: `1` is not `"1"`.
  private static func quoted(_ value: Value) -> String {
    if case .text(let text) = value { "\"\(text)\"" } else { RowText.text(value) }
  }
}
