// SPDX-License-Identifier: Apache-2.0

import SkerryMerge
import SkerryModel

/// The items of one page as they come: what applies at once is carried out, the rest is kept in order.
struct Arrivals {
  private let spaces: SpaceTable
  private let applier: PageApplier
  private var items: [StagedItem] = []
  private var lost: Set<SpaceID> = []
  private var left: [RowKey: Set<SpaceID>] = [:]
  private var generations: [SpaceID: Int64] = [:]
  /// Items come in runs of one space.
  private var last: (space: SpaceID, generation: Int64)?

  init(_ applier: PageApplier, _ spaces: SpaceTable, count: Int) {
    self.applier = applier
    self.spaces = spaces
    items.reserveCapacity(count)
  }

  mutating func take(_ item: PageItem) throws {
    switch item {
    case .gain(let space):
      // The loss between may never have been seen, so each gain is swept when it is filled.
      try applier.gain(space)
      generations[space] = nil
      last = nil
    case .lose(let space):
      try applier.lose(space)
      lost.insert(space)
    case .left(let space, let key, let still):
      try applier.leave(space, key, still: still)
      left[key, default: []].insert(space)
    case .put(let space, let image):
      let row = RowState(values: image.values, version: image.version, incarnation: image.incarnation)
      try keep(.put, space, image.key, row: row)
    case .deleted(let space, let key):
      try applier.removeHeld(key, in: space)
      try applier.end(guess: key)
      try keep(.deleted, space, key)
    case .filled(let space): try keep(.filled, space, RowKey("$space", .text(space.text)))
    case .receipt(let space, let receipt): try keep(.receipt, space, Stage.receiptKey(receipt.id), receipt: receipt)
    }
  }

  /// What is left to publish or to stage. A page names a row once in a space it left, and no row of a space it lost; an older
  /// put of either is void.
  var rest: [StagedItem] {
    if lost.isEmpty, left.isEmpty { return items }
    return items.filter { !lost.contains($0.space) && left[$0.key]?.contains($0.space) != true }
  }

  private mutating func keep(
    _ kind: StagedItem.Kind, _ space: SpaceID, _ key: RowKey, row: RowState? = nil, receipt: Receipt? = nil
  ) throws {
    let generation = try generation(space)
    items.append(
      StagedItem(kind: kind, space: space, key: key, generation: generation, row: row, receipt: receipt))
  }

  private mutating func generation(_ space: SpaceID) throws -> Int64 {
    if let last, last.space == space { return last.generation }
    let generation: Int64
    if let known = generations[space] {
      generation = known
    } else {
      generation = space.holdsReceipts ? 0 : try spaces.generation(spaces.id(of: space))
      generations[space] = generation
    }
    last = (space, generation)
    return generation
  }
}
