// SPDX-License-Identifier: Apache-2.0

import SkerryMerge
package import SkerryModel
package import SkerrySQLiteKit

extension Store {
  /// Tells what a device's file says of one row, without opening a store on it. A caller that wants all of it as of one
  /// moment has a transaction open.
  ///
  /// - Throws: `StoreError` with code `otherSchema` if the file was made with another schema than the catalog's, `invalid` for a
  ///   table that the schema does not have, `damaged`.
  package static func explain(_ key: RowKey, catalog: Catalog, on connection: SQLiteConnection) throws -> RowStory {
    let header = try StoreReport(header: connection)
    let schema = catalog.schema
    if header.app != schema.name || header.version != Int64(schema.version) {
      throw StoreError(
        .otherSchema,
        "the file was made with \(header.app) \(header.version), the schema given is \(schema.name) \(schema.version)")
    }
    guard let table = catalog.table(key.table) else {
      throw StoreError(.invalid, "the schema has no table '\(key.table)'")
    }
    var reader = try RowStoryReader(RowStory(key, table), catalog, header, connection)
    return try reader.read()
  }
}

/// Collects a row's story.
private struct RowStoryReader {
  private var story: RowStory
  private let catalog: Catalog
  private let connection: SQLiteConnection
  private let spaces: SpaceTable
  private let states: [SpaceID: StoreReport.Space.State]

  init(_ story: RowStory, _ catalog: Catalog, _ header: StoreReport, _ connection: SQLiteConnection) throws {
    self.story = story
    self.catalog = catalog
    self.connection = connection
    spaces = SpaceTable(connection)
    let lost = try connection.query("SELECT space FROM skerry_lost ORDER BY space") { SpaceID($0.text(0)) }
    let met = try StoreReport.spaces(connection, header, lost: lost)
    states = Dictionary(uniqueKeysWithValues: met.map { ($0.name, $0.state) })
    self.story.lostSpaces = lost
    self.story.syncedAt = header.syncedAt
    self.story.position = header.cursor?.position
    self.story.filling = (header.cursor?.open.map(\.space) ?? []).filter { !$0.holdsReceipts }.sorted()
  }

  mutating func read() throws -> RowStory {
    let key = story.key
    story.visible = try VisibleRows.state(key, story.table, connection)
    let confirmed = try ConfirmedRows(connection, catalog, spaces).row(key)
    story.isGuess =
      try confirmed?.pairs.isEmpty == true && connection.hasTable("skerry_guesses")
      && Guesses.contains(key, connection)
    story.confirmed = story.isGuess ? nil : confirmed?.state
    story.folded = confirmed?.state
    story.holdings = try holdings(confirmed?.pairs ?? SpacePairs())
    story.places = try places()
    for entry in try entries() { story.changes.append(try change(entry)) }
    story.held = try Stage(connection).items(about: key).map { RowStory.Held(space: $0.space, row: $0.row) }
    story.refusals = try Rejection.all(on: connection).filter { $0.operations.contains { $0.key == key } }
    let mark = PastDecision.mark(of: key)
    story.decisions = try PastDecision.all(on: connection).filter { $0.concerns(mark) }
    return story
  }

  private func holdings(_ pairs: SpacePairs) throws -> [RowStory.Holding] {
    return try pairs.map { pair in
      let (id, generation) = (pair.space, pair.generation)
      let space = try spaces.name(of: id)
      return RowStory.Holding(
        space: space, isFirst: id == pairs.first?.space, isSeen: try spaces.generation(id) == generation,
        state: states[space] ?? .empty)
    }
  }

  /// By the rules the schema declares; what the server sees of the row's parents may differ from what is here.
  private func places() throws -> [RowStory.Place] {
    guard let visible = story.visible else { return [] }
    let rules = Spaces(catalog) { [catalog, connection] key in
      try catalog.table(key.table).flatMap { try VisibleRows.state(key, $0, connection)?.values }
    }
    return try rules.spaces(of: visible.values, in: story.table).sorted().map {
      RowStory.Place(space: $0, state: states[$0])
    }
  }

  private func entries() throws -> [OutboxEntry] {
    try connection.query(
      """
      SELECT \(OutboxEntry.columns) FROM skerry_outbox
      WHERE made IN (SELECT made FROM skerry_subjects WHERE tbl = ? AND key = ? AND role > 0) ORDER BY made
      """, .text(story.key.table), .blob(story.key.bytes), row: OutboxEntry.init(row:))
  }

  /// Applies what counts to the row so far, as the overlay does.
  private mutating func change(_ entry: OutboxEntry) throws -> RowStory.Change {
    let summary = try StoreReport.Entry(entry, connection)
    var steps: [RowStory.Step] = []
    for (index, operation) in entry.operations.placed where operation.key == story.key {
      var refusal: RefusalCode?
      if !entry.isVoid, !entry.isDormant {
        switch Merge.apply(operation, at: index, of: entry.id, to: story.folded, in: story.table) {
        case .becomes(let row): story.folded = row
        case .refused(let code): refusal = code
        }
      }
      steps.append(RowStory.Step(operation: operation, refusal: refusal))
    }
    return RowStory.Change(entry: summary, steps: steps)
  }
}

extension StoreReport.Entry {
  fileprivate init(_ entry: OutboxEntry, _ connection: SQLiteConnection) throws {
    let state = State(
      isVoid: entry.isVoid, isSent: entry.isSent, isDormant: entry.isDormant, isSetAside: entry.state == .failed)
    self.init(
      id: entry.id, made: entry.made, number: entry.number, label: entry.label, madeAt: entry.madeAt, state: state,
      isSent: entry.isSent, attempts: entry.attempts, lastError: entry.lastError,
      bytes: Operation.encode(entry.operations).count, after: try Predecessors(connection).of(entry.made),
      keys: try Subjects.of(entry.made, on: connection).touched)
  }
}
