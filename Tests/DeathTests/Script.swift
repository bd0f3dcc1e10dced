// SPDX-License-Identifier: Apache-2.0
import SkerryTesting
import Synchronization
import Testing

/// A piece of work during which a process may die.
struct Script: Sendable, CustomTestStringConvertible {
  typealias Step = () throws -> Void

  let name: String
  let victim: MortalWorld.Victim
  /// Above how many items a catch-up is published page by page.
  let bound: Int64
  /// How many transactions of the victim change something; one more would be a commit that was torn. Nil if that depends on
  /// where the script is interrupted.
  let transactions: Int?
  /// Whether the victim's file was copied or restored, so that it takes a new replica id.
  let isCopied: Bool
  /// What has happened before; all processes have ended since.
  let prepare: @Sendable (MortalWorld) throws -> Void
  /// The work, step by step: what a caller would do again if it failed.
  let steps: @Sendable (MortalWorld) throws -> [Step]

  init(
    _ name: String, _ victim: MortalWorld.Victim, transactions: Int?, bound: Int64 = 5_000,
    isCopied: Bool = false,
    prepare: @escaping @Sendable (MortalWorld) throws -> Void = { _ in },
    steps: @escaping @Sendable (MortalWorld) throws -> [Step]
  ) {
    self.name = name
    self.victim = victim
    self.transactions = transactions
    self.isCopied = isCopied
    self.bound = bound
    self.prepare = prepare
    self.steps = steps
  }

  var testDescription: String { name }

  /// The file that the victim writes.
  var file: String { if case .device(let name) = victim { name + ".db" } else { MortalWorld.serverFile } }
}

/// A moment of a world: its files, and what the user knows.
struct Moment: Hashable, Sendable {
  var image: FileImage
  var ledger: Ledger

  /// All processes start anew on copies of the files. Whoever draws ids after another wants another seed.
  func wakened(_ script: Script, seed: UInt64) throws -> MortalWorld {
    let world = try MortalWorld(image.restored(seed: seed), bound: script.bound, seed: seed)
    world.ledger = ledger
    return world
  }
}
