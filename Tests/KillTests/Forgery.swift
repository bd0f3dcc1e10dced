// SPDX-License-Identifier: Apache-2.0

/// Ledgers that are not true, to see that the judgement says so.
enum Forgery {
  /// A true ledger, with one thing changed in each.
  static func all(_ ledger: LedgerContent) -> [(name: String, ledger: LedgerContent)] {
    let isDone = { (order: Order) in if case .done? = ledger.answers[order.number] { true } else { false } }
    let orders = ledger.orders.filter { $0.device != nil && !$0.mayBeRefused && isDone($0) }
    var out: [(String, LedgerContent)] = []
    let next = (ledger.orders.map(\.number).max() ?? 0) + 1
    func added(_ steps: [Step], mutation: String?, writer: String) -> LedgerContent {
      var forged = ledger
      forged.add(Order(writer: writer, number: next, steps: steps), .done(mutation: mutation))
      return forged
    }
    let id = "00000000-0000-7000-8000-000000000000"
    let writer = orders.first?.writer ?? "phone.0"
    out.append(("an insert that never was", added(Writer.insert(next, by: writer), mutation: id, writer: writer)))
    out.append(
      (
        "a write past Skerry that never was",
        added(Writer.insert(next, by: Order.sql), mutation: nil, writer: Order.sql)
      ))
    if let counted = orders.first(where: \.isIncrement) {
      let steps = counted.steps.filter { if case .increment = $0 { true } else { false } }
      let mutation: String? = if case .done(let id)? = ledger.answers[counted.number] { id } else { nil }
      out.append(("an increment that counts twice", added(steps, mutation: mutation, writer: counted.writer)))
    }
    if let last = orders.last {
      var forged = ledger
      forged.forget(last)
      out.append(("an order left out", forged))
    }
    return out
  }
}
