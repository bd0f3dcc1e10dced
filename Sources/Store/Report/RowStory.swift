// SPDX-License-Identifier: Apache-2.0

package import SkerryMerge
package import SkerryModel

/// All that a device's file says of one row.
///
/// It holds values, for whoever asks for them; a face that shows it decides whether to show those.
package struct RowStory: Sendable {
  /// A space that holds the row here, by the server's account.
  package struct Holding: Sendable, Equatable {
    package let space: SpaceID
    /// Whether it is the one that is kept with the row itself; further ones are in a table of their own.
    package let isFirst: Bool
    /// False while a refill of the space has not brought the row again.
    package let isSeen: Bool
    package let state: StoreReport.Space.State
  }

  /// A space in which the row is by the schema's rules and its visible values.
  package struct Place: Sendable, Equatable {
    package let space: SpaceID
    /// Nil if no page has ever named the space here.
    package let state: StoreReport.Space.State?
  }

  /// A mutation in the outbox that touches the row.
  package struct Change: Sendable {
    package let entry: StoreReport.Entry
    package let steps: [Step]
    /// Whether it is part of what the user sees.
    package var counts: Bool { entry.state != .void && entry.state != .dormant }
  }

  /// An operation on the row.
  package struct Step: Sendable {
    package let operation: Operation
    /// Why it has no effect here; nil if it has one, or if its mutation is no part of what the user sees.
    package let refusal: RefusalCode?
  }

  /// Something about the row that has arrived and is kept aside.
  package struct Held: Sendable {
    package let space: SpaceID
    /// The row as it will be; nil for its end.
    package let row: RowState?
  }

  package let key: RowKey
  package let table: TableInfo
  /// As the user sees it; nil if it is not there.
  package internal(set) var visible: RowState?
  /// As the server last confirmed it; nil if it is not there.
  package internal(set) var confirmed: RowState?
  /// What the confirmed row and the pending operations add up to; it is what is visible, unless the file is damaged.
  package internal(set) var folded: RowState?
  package internal(set) var holdings: [Holding] = []
  package internal(set) var places: [Place] = []
  package internal(set) var changes: [Change] = []
  package internal(set) var held: [Held] = []
  package internal(set) var refusals: [Rejection] = []
  /// What was decided about it last, oldest first.
  package internal(set) var decisions: [PastDecision] = []
  /// Whether the app brought it along as already on the server, and no page has confirmed it: then nothing is confirmed, and
  /// `folded` begins with what the app brought.
  package internal(set) var isGuess = false
  /// When the device was last as the server was; nil if it never was.
  package internal(set) var syncedAt: Int64?
  package internal(set) var position: Int64?
  package internal(set) var filling: [SpaceID] = []
  package internal(set) var lostSpaces: [SpaceID] = []

  init(_ key: RowKey, _ table: TableInfo) {
    self.key = key
    self.table = table
  }

  /// The columns in which the visible row differs from the confirmed one; empty unless both are there.
  package var differingColumns: [String] {
    guard let visible, let confirmed else { return [] }
    return table.columns.indices.filter { visible.values[$0] != confirmed.values[$0] }.map { table.columns[$0].name }
  }
}
