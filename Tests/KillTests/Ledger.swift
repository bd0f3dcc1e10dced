// SPDX-License-Identifier: Apache-2.0

import Foundation
import SkerrySQLiteKit
import SkerryWire
import Synchronization

/// The test's own account of what it was promised, kept on disk outside of every process that dies.
///
/// Each line is on the disk before the test goes on: the intent before the order is given, the answer before anything
/// follows from it. So an order without an answer is one that nobody knows the fate of.
actor Ledger {
  nonisolated let path: String
  private nonisolated let executor = SerialQueueExecutor(label: "skerry.ledger")
  private nonisolated let numbers = Mutex(0)
  private let file: FileHandle

  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  init(path: String) throws {
    self.path = path
    guard FileManager.default.createFile(atPath: path, contents: nil) else { throw CocoaError(.fileWriteUnknown) }
    file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
  }

  /// A number that no other order has.
  nonisolated func nextNumber() -> Int {
    numbers.withLock { number in
      number += 1
      return number
    }
  }

  /// The order is about to be given.
  func intend(_ order: Order) throws {
    try append([
      "order": .init(order.number), "by": .string(order.writer), "steps": .array(order.steps.map(\.json)),
    ])
  }

  /// The order was carried out, by its own account.
  func acknowledge(_ order: Order, mutation: String?) throws {
    try append(["done": .init(order.number), "mutation": mutation.map { .string($0) } ?? .null])
  }

  /// Nothing has happened, by its own account.
  func refuse(_ order: Order, _ reason: String) throws {
    try append(["refused": .init(order.number), "reason": .string(reason)])
  }

  /// For whoever reads the file after a failure.
  func note(_ text: String) throws { try append(["note": .string(text)]) }

  private func append(_ line: JSON) throws {
    try file.write(contentsOf: Data(line.encoded + [UInt8(ascii: "\n")]))
    try file.synchronize()
  }
}

/// What a ledger's file says.
struct LedgerContent: Sendable {
  enum Answer: Sendable, Equatable {
    /// With the mutation's id; nil for a write past Skerry, or one that changed nothing.
    case done(mutation: String?)
    case refused(String)
  }

  private(set) var orders: [Order] = []
  /// By the order's number; none for an order whose answer never came.
  private(set) var answers: [Int: Answer] = [:]
  private var position: UInt64 = 0

  init() {}

  init(_ orders: [Order], _ answers: [Int: Answer]) {
    self.orders = orders
    self.answers = answers
  }

  /// Reads from the disk what was written since it was last read.
  mutating func read(_ path: String) throws {
    let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
    try file.seek(toOffset: position)
    guard let data = try file.readToEnd(), let end = data.lastIndex(of: UInt8(ascii: "\n")) else { return }
    for line in data[...end].split(separator: UInt8(ascii: "\n")) { try take(try JSON(parsing: Array(line)), line) }
    position += UInt64(data.distance(from: data.startIndex, to: end) + 1)
  }

  private mutating func take(_ line: JSON, _ text: Data) throws {
    switch (line["order"], line["done"], line["refused"], line["note"]) {
    case (.integer(let number)?, _, _, _):
      guard case .string(let writer)? = line["by"], case .array(let list)? = line["steps"] else { break }
      let steps = list.compactMap { Step($0) }
      if steps.count < list.count { break }
      orders.append(Order(writer: writer, number: Int(number), steps: steps))
      return
    case (_, .integer(let number)?, _, _):
      if case .string(let mutation)? = line["mutation"] {
        answers[Int(number)] = .done(mutation: mutation)
      } else {
        answers[Int(number)] = .done(mutation: nil)
      }
      return
    case (_, _, .integer(let number)?, _):
      guard case .string(let reason)? = line["reason"] else { break }
      answers[Int(number)] = .refused(reason)
      return
    case (_, _, _, .string?): return
    default: break
    }
    throw LedgerError(line: String(decoding: text, as: UTF8.self))
  }

  mutating func add(_ order: Order, _ answer: Answer?) {
    orders.append(order)
    answers[order.number] = answer
  }

  mutating func forget(_ order: Order) {
    orders.removeAll { $0.number == order.number }
    answers[order.number] = nil
  }
}

struct LedgerError: Error, CustomStringConvertible {
  let line: String
  var description: String { "the ledger has a line that nobody wrote so: \(line)" }
}
