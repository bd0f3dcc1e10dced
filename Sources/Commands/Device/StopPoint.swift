// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization

/// A place in the work of a process where it stops itself, so that a test can kill it right there.
///
/// It is armed by `--stop-at NAME:N`, and met at the N-th time. The process is stopped by SIGSTOP: everything is as it was
/// at that moment, locks and half a transaction included, until somebody sends `kill -9`.
final class StopPoint: Sendable {
  enum Name: String, CaseIterable, Sendable {
    /// Server: in a push's transaction, when a verdict is about to be stored.
    case push
    /// Server: after the transaction of a push, before its answer.
    case answer
    /// Server: in the sequencer's transaction, when a change is about to get its position.
    case sequencer
    /// Device: at a statement of a local write.
    case write
    /// Device: at a statement that takes a page in.
    case page

    static let server: [Name] = [.push, .answer, .sequencer]
    static let device: [Name] = [.write, .page]
  }

  private let name: Name
  private let left: Mutex<Int>
  /// What the open transaction of a device is for; nil as long as that is not known.
  private let transaction = Mutex<Name?>(nil)

  /// - Throws: `UsageError` if it is none of these points.
  init(_ text: String, of names: [Name]) throws(UsageError) {
    let parts = text.split(separator: ":", maxSplits: 1)
    let number = parts.count == 2 ? Int(parts[1]) : 1
    guard let name = parts.first.flatMap({ Name(rawValue: String($0)) }), names.contains(name), let number, number > 0
    else {
      let list = names.map(\.rawValue).joined(separator: ", ")
      throw UsageError(description: "--stop-at wants NAME or NAME:N with a name of \(list); '\(text)' found")
    }
    self.name = name
    left = Mutex(number)
  }

  /// The process is at this point.
  func pass(_ name: Name) {
    guard name == self.name else { return }
    let isMet = left.withLock { left in
      left -= 1
      return left == 0
    }
    if isMet { raise(SIGSTOP) }
  }

  /// The transaction that is open on a device's connection is a local write.
  func enterWrite() { transaction.withLock { $0 = .write } }

  /// The writing connection is about to carry out this statement.
  ///
  /// A device writes for several reasons, and all at once when its loop is on. So what a statement belongs to is told by its
  /// transaction: a local write says so from within, and nothing but a page or a reset has to do with the stage.
  func pass(statement: String) {
    if statement.hasPrefix("INSERT INTO skerry_receipts") { pass(.push) }
    if statement.hasPrefix("INSERT INTO skerry_log") { pass(.sequencer) }
    let current = transaction.withLock { transaction in
      if statement.hasPrefix("BEGIN") { transaction = nil }
      if transaction == nil, statement.contains("skerry_stage") { transaction = .page }
      defer { if statement == "COMMIT" || statement == "ROLLBACK" { transaction = nil } }
      return transaction
    }
    if let current { pass(current) }
  }
}
