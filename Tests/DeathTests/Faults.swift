// SPDX-License-Identifier: Apache-2.0

/// Collects what an audit finds wrong.
final class Faults {
  private(set) var list: [String] = []

  func expect(_ condition: Bool, _ fault: @autoclosure () -> String) {
    if !condition { list.append(fault()) }
  }

  func add(_ fault: String) { list.append(fault) }

  func add(_ faults: [String], of name: String? = nil) {
    list += faults.map { (name.map { $0 + ": " } ?? "") + $0 }
  }
}
