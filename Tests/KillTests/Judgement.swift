// SPDX-License-Identifier: Apache-2.0

import SkerryWire

/// Holds the ledger against the files: what was acknowledged is there exactly once, what is unknown counts once or not at all,
/// and nothing else is there.
///
/// Two accounts are compared that know nothing of each other: whether an order counted, by the place that its mutation has on
/// its device; and what is there, by the rows of the server, which are played anew from the orders that counted.
struct Judgement {
  private enum Fate {
    case counted
    case refused
    case never
  }

  private(set) var faults: [String] = []
  /// Orders whose answer never came, and how they turned out.
  private(set) var unknownCounted = 0
  private(set) var unknownNever = 0
  /// Those that the server refused since somebody had ended the row.
  private(set) var refusals = 0
  private let ledger: LedgerContent
  private let server: ServerContent
  private let devices: [String: DeviceContent]

  /// - Parameter devices: by their folders.
  init(_ ledger: LedgerContent, _ server: ServerContent, _ devices: [String: DeviceContent]) {
    self.ledger = ledger
    self.server = server
    self.devices = devices
    let fates = judgeOrders()
    judgeRows(ledger.orders.filter { fates[$0.number] == .counted })
    judgeNumbers()
    faults.sort()
  }

  private mutating func complain(_ text: String) { faults.append(text) }

  // MARK: Orders

  private mutating func judgeOrders() -> [Int: Fate] {
    var fates: [Int: Fate] = [:]
    var judged: Set<String> = []
    for (name, device) in devices.sorted(by: { $0.key < $1.key }) where device.pending > 0 {
      complain("\(name) still has \(device.pending) mutations that wait")
    }
    let byID = index(\.id)
    let byLabel = index(\.label)
    for order in ledger.orders {
      let answer = ledger.answers[order.number]
      guard let device = order.device else {
        fates[order.number] = if case .done? = answer { .counted } else { .never }
        continue
      }
      var found = byLabel[device]?[order.label] ?? []
      if case .done(let id)? = answer {
        let known = id.flatMap { byID[device]?[$0] } ?? []
        if known.count != 1 {
          complain("\(order.label) was acknowledged by \(device), which has it \(known.count) times")
        }
        found = known
      }
      if found.count > 1 { complain("\(order.label) is on \(device) \(found.count) times") }
      fates[order.number] = judge(order, answer, found.first, &judged)
    }
    for id in Set(server.receipts.keys).subtracting(judged).sorted() {
      complain("the server has judged \(id), which no order has made")
    }
    return fates
  }

  private mutating func judge(
    _ order: Order, _ answer: LedgerContent.Answer?, _ mutation: DeviceContent.Mutation?, _ judged: inout Set<String>
  ) -> Fate {
    if answer == nil {
      if mutation == nil { unknownNever += 1 } else { unknownCounted += 1 }
    }
    if case .refused(let reason)? = answer {
      if !order.mayBeRefused { complain("\(order.label) was refused by its device: \(reason)") }
      if mutation != nil { complain("\(order.label) was refused by its device, which has it all the same") }
    }
    guard let mutation else { return .never }
    judged.insert(mutation.id)
    let outcome = server.receipts[mutation.id]
    switch (mutation.place, outcome) {
    case (.archive, "confirmed"): return .counted
    case (.inbox, "rejected"):
      refusals += 1
      if !order.mayBeRefused { complain("\(order.label) was refused by the server") }
      return .refused
    default:
      complain("\(order.label) is in the \(mutation.place) of its device, and \(outcome ?? "unknown") on the server")
      return outcome == "confirmed" ? .counted : .never
    }
  }

  private func index(_ name: KeyPath<DeviceContent.Mutation, String>) -> [String: [String: [DeviceContent.Mutation]]] {
    devices.mapValues { Dictionary(grouping: $0.mutations) { $0[keyPath: name] } }
  }

  private func index(_ name: KeyPath<DeviceContent.Mutation, String?>) -> [String: [String: [DeviceContent.Mutation]]] {
    devices.mapValues { Dictionary(grouping: $0.mutations) { $0[keyPath: name] ?? "" } }
  }

  // MARK: Rows

  private struct Touch {
    var order: Order
    var step: Step
  }

  private mutating func judgeRows(_ orders: [Order]) {
    var touches: [RowName: [Touch]] = [:]
    for order in orders {
      for step in order.steps { touches[step.row, default: []].append(Touch(order: order, step: step)) }
    }
    for row in Set(touches.keys).union(server.rows.keys) {
      guard let all = touches[row] else {
        complain("\(row) is on the server, and no order that counted has made it")
        continue
      }
      judge(row, all)
    }
  }

  private mutating func judge(_ row: RowName, _ touches: [Touch]) {
    let isMade = touches.contains { if case .insert = $0.step { true } else { false } }
    let isEnded = touches.contains { if case .delete = $0.step { true } else { false } }
    let orders = touches.prefix(5).map(\.order.label).joined(separator: ", ")
    guard let values = server.rows[row] else {
      if isMade, !isEnded { complain("\(row) of \(orders) is missing") }
      return
    }
    if isEnded || !isMade { complain("\(row) of \(orders) is there, and was to be gone") }
    for (column, sum) in sums(touches) where values[column] != .integer(sum) {
      complain("\(row).\(column) is \(values[column] ?? nil), and the orders add up to \(sum)")
    }
    judgeFields(row, values, touches)
  }

  private func sums(_ touches: [Touch]) -> [String: Int64] {
    var sums: [String: Int64] = [:]
    for case .increment(_, let column, let amount) in touches.map(\.step) { sums[column, default: 0] += amount }
    return sums
  }

  /// What one writer has written alone is as it wrote last. Of several writers' changes the last to arrive stays, whichever
  /// that is; but of one of them all stays, since they all set the same columns.
  private mutating func judgeFields(_ row: RowName, _ values: [String: JSON], _ touches: [Touch]) {
    var states: [[String: JSON]] = []
    for step in touches.map(\.step) {
      switch step {
      case .insert(_, let fields): states = [fields]
      case .update(_, let fields): states.append((states.first ?? [:]).merging(fields) { $1 })
      case .increment, .delete: break
      }
    }
    if Set(touches.map(\.order.writer)).count == 1 { states = states.suffix(1) }
    let isOne = states.contains { $0.allSatisfy { values[$0.key] == $0.value } }
    if !isOne { complain("\(row) holds \(values), and none of \(states.count) orders has left it so") }
  }

  // MARK: Numbers

  /// A number that is used twice, or passed over, would hold a device up for ever or bring it another id.
  private mutating func judgeNumbers() {
    for (name, device) in devices.sorted(by: { $0.key < $1.key }) {
      guard device.replicas.count == 1, let replica = device.replicas.first else {
        complain("\(name) has had the ids \(device.replicas), one wanted")
        continue
      }
      let used = server.numbers[replica] ?? (0, 0)
      if used != (device.counter, device.counter) {
        complain("\(name) has given \(device.counter) numbers; the server knows \(used.count), up to \(used.highest)")
      }
    }
  }
}
