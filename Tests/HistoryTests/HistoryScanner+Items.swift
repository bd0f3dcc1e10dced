// SPDX-License-Identifier: Apache-2.0

import SkerryModel
import SkerryServerCore

/// Pages, runs and verdicts.
extension HistoryScanner {
  /// An item or step as it is spelled; one that is like the one before but for its row is the row alone.
  private struct Token {
    var kind: UInt8 = 0
    /// The space, or the member of it.
    var place = ""
    /// The row, the mutation, or the space of a member: letter and rank; 0 where there is none.
    var letter: UInt8 = 0
    var rank = 0
    var still: [String] = []
  }

  private mutating func tokens(_ body: (Token) throws -> Void) throws {
    var token = Token()
    while !isAtEnd, !"#;|".utf8.contains(second), startsToken() {
      if "+-/<>=".utf8.contains(next) {
        token.kind = try take()
        token.place = try reference()
        token.letter = 0
      }
      if !isAtEnd, next != UInt8(ascii: " "), next != UInt8(ascii: "(") {
        token.letter = try take()
        token.rank = try number()
      }
      token.still = []
      if takes("(") {
        repeat { token.still.append(try reference()) } while takes(",")
        _ = takes(")")
      }
      try body(token)
    }
  }

  /// The items of a page.
  mutating func items(_ names: HistoryNames) throws -> [HistoryItem] {
    var out: [HistoryItem] = []
    try tokens { token in
      let subject: HistoryItem.Subject =
        switch token.letter {
        case 0: .space
        case UInt8(ascii: "m"): .receipt(names.mutations[token.rank])
        default: .row(names.keys[try names.key(token.letter, token.rank)])
        }
      out.append(
        HistoryItem(
          kind: token.kind, space: try names.space(token.place), subject: subject,
          still: try token.still.map { try names.space($0) }))
    }
    return out
  }

  /// The steps of a sequencer run.
  mutating func run(_ names: HistoryNames, _ state: HistoryState) throws -> [RunStep] {
    var out: [RunStep] = []
    try tokens { token in
      if token.kind == UInt8(ascii: ">") || token.kind == UInt8(ascii: "<") {
        let space = try names.space("\(UnicodeScalar(token.letter))\(token.rank)")
        let member = Membership(user: AccountID(token.place), space: space)
        return out.append(.member(member, isInside: token.kind == UInt8(ascii: ">")))
      }
      let kind: EntryKind =
        token.kind == UInt8(ascii: "+") ? .live : token.kind == UInt8(ascii: "/") ? .left : .deleted
      let space = try names.space(token.place)
      if token.letter == UInt8(ascii: "m") {
        let user = AccountID(try state.user(ofReplica: token.place))
        out.append(.entry(space, .receipt(ReceiptKey(user: user, mutation: names.mutations[token.rank])), kind))
      } else {
        out.append(.entry(space, .row(names.keys[try names.key(token.letter, token.rank)]), kind))
      }
    }
    return out
  }

  /// Verdicts, and the rows that other programs had locked.
  mutating func pushOutcome(_ names: HistoryNames) throws -> PushOutcome {
    guard startsToken(), takes(":") else { throw Difference("verdicts wanted at \(rest)") }
    var verdicts = word()
    let isSequenced = verdicts.hasSuffix("+")
    if isSequenced { verdicts.removeLast() }
    var locked: [Int] = []
    if second == UInt8(ascii: "&") {
      _ = startsToken()
      _ = try take()
      repeat { locked.append(try key(names)) } while takes(",")
    }
    return PushOutcome(verdicts: verdicts, isSequenced: isSequenced, locked: locked)
  }

  /// A page, a reset, or nothing.
  ///
  /// - Parameter open: the open spaces of the cursor that was asked with.
  mutating func pullOutcome(
    _ names: HistoryNames, open before: [SpaceID], between: [ForeignCommit]
  ) throws -> PullOutcome {
    guard startsToken() else { throw Difference("an answer wanted") }
    let mark = try take()
    let reason = mark == UInt8(ascii: "!") ? resetReason() : ""
    let isBusy = takes("~")
    let answer: PullOutcome.Answer
    switch UnicodeScalar(mark) {
    case "0": answer = .nothing
    case "!":
      var spaces: [SpaceID] = []
      while !"#;".utf8.contains(second), startsToken() { spaces.append(try names.space(reference())) }
      answer = .reset(reason, spaces)
    default:
      let items = try items(names)
      var open = HistoryState.open(behind: items, before)
      if second == UInt8(ascii: "|") { open = try openSpaces(names) }
      answer = .page(closes: mark == UInt8(ascii: "."), items: items, open: open)
    }
    return PullOutcome(isBusy: isBusy, between: between, answer: answer)
  }

  private mutating func openSpaces(_ names: HistoryNames) throws -> [SpaceID] {
    _ = startsToken()
    _ = try take()
    return isAtEnd || next == UInt8(ascii: " ") ? [] : try spaces(names)
  }

  /// Spaces between commas.
  mutating func spaces(_ names: HistoryNames) throws -> [SpaceID] {
    var out: [SpaceID] = []
    repeat { out.append(try names.space(reference())) } while takes(",")
    return out
  }

  private mutating func resetReason() -> String {
    var out = ""
    while !isAtEnd, next != UInt8(ascii: " "), next != UInt8(ascii: "~") {
      out.unicodeScalars.append(UnicodeScalar(next))
      _ = try? take()
    }
    return out
  }
}
