// SPDX-License-Identifier: Apache-2.0

import SkerryMerge
public import SkerryModel
public import SkerryRecords

/// Why a row shows what it shows on this device: what the server confirmed, what waits, what was decided, and how fresh it is.
public struct RowExplanation: Sendable, CustomStringConvertible {
  package let story: RowStory

  package init(_ story: RowStory) { self.story = story }

  /// The row.
  public var key: RowKey { story.key }
  /// The row as it is shown, with all pending changes; nil if it is not here.
  public var visible: Row? { row(story.visible?.values) }
  /// The row as the server last confirmed it; nil if it has not.
  public var confirmed: Row? { row(story.confirmed?.values) }
  /// The columns in which the two differ; none unless both are there.
  public var differingColumns: [String] { story.differingColumns }
  /// Whether the app brought it along as already on the server, and no sync has confirmed it.
  public var isUnconfirmed: Bool { story.isGuess }
  /// The mutations in the outbox that touch it, in the order in which they were made.
  public var pending: [MutationID] { story.changes.map(\.entry.id) }
  /// Refusals that touch it and that nobody has acknowledged.
  public var refusals: [Rejection] { story.refusals }
  /// What was decided about it last, oldest first.
  public var decisions: [PastDecision] { story.decisions }
  /// The spaces in which the server has it, as far as they have come here.
  public var spaces: [SpaceID] { story.holdings.map(\.space) }
  /// When the device was last as the server was, in milliseconds since 1970 by the device's clock; nil if it never was.
  public var syncedAt: Int64? { story.syncedAt }
  /// Why it looks as it does, in one sentence without values.
  public var conclusion: String { story.conclusion }

  /// Everything for a person, in lines, the conclusion last. Keys and names of spaces are in it, but no values.
  public var description: String { text(showingValues: false) }

  /// The same, with values if they are wanted.
  public func text(showingValues: Bool) -> String { RowStoryView(story, showsValues: showingValues).text }

  private func row(_ values: [Value]?) -> Row? {
    values.map { Row(ColumnNames(story.table.columns.map(\.name)), $0) }
  }
}
