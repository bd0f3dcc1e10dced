// SPDX-License-Identifier: Apache-2.0

/// What a run tells of itself when it is over.
struct Figures: Sendable, CustomStringConvertible {
  var kills: [String: Int] = [:]
  /// Orders that devices acknowledged; the increments among them.
  var writes = 0
  var increments = 0
  /// Transactions past Skerry.
  var foreign = 0
  var unknownCounted = 0
  var unknownNever = 0
  /// Refused by a device at once, or by the server later: a row had been ended by somebody else.
  var refusedHere = 0
  var refusedThere = 0
  var lost = 0
  var doubled = 0
  var milliseconds: Int64 = 0

  mutating func take(_ ledger: LedgerContent, _ judgement: Judgement) {
    for order in ledger.orders {
      switch (ledger.answers[order.number], order.device) {
      case (.done?, nil): foreign += 1
      case (.done?, _):
        writes += 1
        if order.isIncrement { increments += 1 }
      case (.refused?, .some): refusedHere += 1
      case (.refused?, nil), (nil, _): break
      }
    }
    unknownCounted = judgement.unknownCounted
    unknownNever = judgement.unknownNever
    refusedThere = judgement.refusals
  }

  var description: String {
    let total = kills.values.reduce(0, +)
    let kinds = kills.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
    let unknown = unknownCounted + unknownNever
    return """
      \(total) kills (\(kinds)); \(writes) acknowledged writes, \(increments) of them increments, and \(foreign) \
      transactions past the server; \(unknown) orders without an answer, of which \(unknownCounted) counted; \
      \(refusedHere + refusedThere) edits of rows that others had ended; at least \(lost) messages lost and \(doubled) \
      doubled; \(milliseconds / 1_000).\(milliseconds / 100 % 10) s
      """
  }
}
