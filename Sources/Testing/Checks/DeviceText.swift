// SPDX-License-Identifier: Apache-2.0

import Skerry
import SkerryModel
import SkerryStore
import SkerryTables

/// A device as text.
struct DeviceText {
  private let device: TestDevice
  private let catalog: Catalog

  init(_ device: TestDevice, _ catalog: Catalog) {
    self.device = device
    self.catalog = catalog
  }

  func text() async throws -> String {
    var facts = [device.account.text]
    if device.isOffline { facts.append("offline") }
    if device.isStarted { facts.append("syncing") }
    let head = "\(device.name) (\(facts.joined(separator: ", ")))\n"
    if !device.isRunning { return head + "  the app is not running\n" }
    return head + (try await rows()) + (try await inboxes())
  }

  private func rows() async throws -> String {
    var out = ""
    for table in catalog.tables {
      let sql = TableSQL(table)
      let rows = try await device.replica.read("SELECT \(sql.columns) FROM \(sql.name) ORDER BY \(sql.keyColumns)")
      for row in rows { out += RowText.line(table.name, row.values) }
    }
    return out
  }

  private func inboxes() async throws -> String {
    var out = ""
    for entry in try await device.replica.read(.outbox) {
      let error = entry.lastError.map { ", \($0)" } ?? ""
      out += "  pending, \(entry.state): \(DeviceText.words(entry.label, entry.operations))\(error)\n"
    }
    for refusal in try await device.replica.read(.rejections) {
      out += "  refused, \(DeviceText.text(refusal)): \(DeviceText.words(refusal.label, refusal.operations))\n"
    }
    for space in try await device.replica.read(.lostSpaces) { out += "  lost \(space)\n" }
    return out
  }

  static func text(_ refusal: Rejection) -> String { refusal.code?.text ?? "without a code" }

  /// A write in words: what the app calls it, and the rows that it is about.
  static func words(_ label: String?, _ operations: [Operation]) -> String {
    let steps = operations.map { operation in
      switch operation.action {
      case .insert: "insert \(operation.key)"
      case .set(let fields, _): "set \(operation.key) \(fields.map(\.column).joined(separator: " "))"
      case .increment(let column, let amount): "add \(amount) to \(column) of \(operation.key)"
      case .delete: "delete \(operation.key)"
      }
    }
    return (label.map { "\"\($0)\" " } ?? "") + steps.joined(separator: ", ")
  }
}
