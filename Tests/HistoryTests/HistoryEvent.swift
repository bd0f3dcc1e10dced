// SPDX-License-Identifier: Apache-2.0

import SkerryModel
import SkerryServerCore

/// What happens in a history, and what its answers must be. Mutations and rows are named by their places.
enum HistoryEvent {
  case foreign(ForeignCommit)
  case write(device: String, mutation: Int, [HistoryOperation])
  case edit(device: String, mutation: Int, new: Int, [HistoryOperation], isRefused: Bool)
  case discard(device: String, mutation: Int)
  case offer(device: String, [(mutation: Int, after: [Int])])
  case ask(device: String)
  case push(message: Int, PushOutcome)
  case pull(message: Int, PullOutcome)
  /// `fits`: whether a page or reset applies; `minted`: the replica id that verdicts make the device take.
  case receive(message: Int, device: String, fits: Bool?, minted: String?)
  case crash(device: String)
  case image(device: String)
  case restore(device: String)
  case clone(device: String, new: String)
  case sequence
  case expire(upTo: Int)
  case backUp
  case loseTail(epoch: String?)
  case attackPush(user: String, number: Int, mutation: Int, [HistoryOperation], PushOutcome)
  case attackPull(user: String, device: String, open: [SpaceID], limit: Int, PullOutcome)

  /// The device that it may change.
  var device: String? {
    switch self {
    case .write(let device, _, _), .edit(let device, _, _, _, _), .discard(let device, _), .offer(let device, _),
      .ask(let device), .receive(_, let device, _, _), .crash(let device), .image(let device), .restore(let device),
      .clone(_, let device):
      device
    default: nil
    }
  }
}

/// A transaction of another program: what it leaves of each row that it writes.
struct ForeignCommit {
  enum Action {
    case insert, update, delete
    /// Deleted and inserted: another life.
    case replace
    /// Inserted and deleted.
    case none
  }

  let transaction: Int
  let writes: [(key: Int, action: Action, values: [Value])]
}

/// How a push is answered.
struct PushOutcome {
  /// A letter a verdict, in the order of the mutations.
  let verdicts: String
  /// Whether the sequencer ran afterwards.
  let isSequenced: Bool
  /// Rows that other programs' open transactions have written.
  let locked: [Int]
}

/// How a pull is answered.
struct PullOutcome {
  /// Whether another process is sequencing.
  let isBusy: Bool
  /// What others commit between the sequencer's run and the page.
  let between: [ForeignCommit]
  let answer: Answer

  enum Answer {
    case nothing
    case reset(String, [SpaceID])
    case page(closes: Bool, items: [HistoryItem], open: [SpaceID])
  }
}

/// An item of a page or a step of a sequencer run, without the row's content.
struct HistoryItem: Equatable, CustomStringConvertible {
  enum Subject: Equatable {
    case space
    case row(RowKey)
    case receipt(MutationID)
    /// That an account is in the space.
    case member(AccountID)
  }

  /// As in the file: `+` put, `/` left, `-` deleted, `>` gain, `<` lose, `=` filled.
  let kind: UInt8
  let space: SpaceID
  let subject: Subject
  /// The user's spaces that still hold a row that left this one.
  var still: [SpaceID] = []

  var description: String {
    "\(UnicodeScalar(kind))\(space) \(subject)" + (still.isEmpty ? "" : " still in \(still.map(\.text))")
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
