// SPDX-License-Identifier: Apache-2.0

import SkerryAmbientKit
package import SkerryMachine
public import SkerryModel
public import SkerryRecords
package import SkerrySQLiteKit
public import SkerryStore

/// One account's copy of an app's data on this device: read and write it as a local database, with or without a network.
///
/// All writes and all syncing go through one connection on a queue of their own; reads go through other connections beside
/// it, so neither waits for the network and neither blocks a thread of the cooperative pool.
public actor Replica {
  /// The schema that the replica was opened with.
  public nonisolated let catalog: Catalog
  /// The account whose data it holds.
  public nonisolated let account: AccountID
  private nonisolated let executor: any SerialExecutor
  nonisolated let readers: ReaderPool
  nonisolated let ambient: any Ambient
  let store: Store
  let drops: DropFolder?
  /// The database's own name of the file: the same for every path that leads to it.
  nonisolated let filePath: String
  private(set) var session: SyncSession?
  private var isDriven = false
  private var onChange: (@Sendable () -> Void)?
  nonisolated let listeners = Listeners()
  /// Nil where nobody wants to read it.
  nonisolated let log: EventLog?
  /// How the last conversation is timed.
  private(set) var policy: TimingPolicy?
  private var loggedCondition: SyncMachine.Condition?
  /// Where observers wait.
  nonisolated let board = ChangeBoard()

  /// The queue on which the store's work is done.
  public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  /// Opens a store on the caller's thread, for worlds whose threads, disks and clocks are their own. It is not held against
  /// the other replicas of the process: nobody else may have the file open.
  ///
  /// - Throws: as `open(in:account:schema:files:key:drops:log:)`.
  package init(
    path: String, account: AccountID, catalog: Catalog, ambient: any Ambient, host: ReplicaHost
  ) throws {
    try self.init(
      at: StorePlace(path, vfs: host.vfs), account: account, catalog: catalog, ambient: ambient, host: host, drops: nil)
  }

  init(
    at place: StorePlace, account: AccountID, catalog: Catalog, ambient: any Ambient, host: ReplicaHost,
    drops: DropFolder?
  ) throws {
    self.catalog = catalog
    self.account = account
    self.ambient = ambient
    self.drops = drops
    executor = host.executor
    readers = ReaderPool(path: place.path, lanes: host.lanes, vfs: place.vfs, key: place.cipherKey) { connection in
      connection.watchReads()
      try QueryViews.create(catalog, on: connection)
    }
    let log = host.log.map { EventLog($0, ambient) }
    self.log = log
    let opening = log?.begin(.open)
    do { store = try Store(at: place, account: account, catalog: catalog, ambient: ambient) } catch {
      log?.end(opening, level: .error, words: ["error": EventLog.word(error)])
      throw error
    }
    if let log {
      log.noteOpening(opening, from: store.migratedFrom, to: catalog.schema.version, try? store.outboxCount())
    }
    filePath = store.filePath
    store.onCommit = { [board] in board.publish($0) }
    store.onOthersCommit = { [board] in board.publishAll() }
  }

  // MARK: Reading and writing

  /// Runs a closure as one transaction: the changed rows and the outbox entry that carries them, durable against power loss
  /// when this returns.
  ///
  /// - Parameters:
  ///   - label: what the app calls the change, for the outbox and for refusals.
  ///   - name: for what an update of the app has to do once for each device, such as filling a column that was added: a
  ///     write that has returned under this name is never carried out again on this file. It is noted with the rows.
  ///   - body: makes the changes, on the store's queue.
  /// - Returns: the mutation's id; nil if the closure changed nothing, and then nothing was written.
  /// - Throws: `StoreError`, or what the closure throws; nothing has happened then.
  @discardableResult
  public func write(
    _ label: String? = nil, once name: String? = nil, _ body: @Sendable (inout WriteTransaction) throws -> Void
  ) throws -> MutationID? {
    let id = try store.write(label, once: name, body)
    if id != nil { changed() }
    return id
  }

  /// Reads what a query asks for, in a snapshot of its own, beside whatever is being written.
  ///
  /// Rows hold all of the user's own changes, confirmed or not. A row that cannot be made into an element (a text that is no
  /// case of an enumeration, say) is left out, and told of by the event `unreadable`.
  ///
  /// - Throws: `StoreError` with code `notReadOnly` for a statement that could change the file, `invalid` for a value that no
  ///   column holds; an error of the database.
  public nonisolated func read<Element>(_ query: Query<Element>) async throws -> [Element] {
    try await answer(query, isObserved: false).elements
  }

  /// The first of what a query asks for; nil if there is none. A `LIMIT 1` in the query spares reading the others.
  ///
  /// - Throws: as `read(_:)`.
  public nonisolated func first<Element>(_ query: Query<Element>) async throws -> Element? {
    try await read(query).first
  }

  /// What a query reads, now and after each change.
  public nonisolated func observe<Element>(_ query: Query<Element>) -> ObservedQuery<Element> {
    ObservedQuery(self, query)
  }

  /// What a query has read, with what it depends on.
  struct ObservedAnswer<Element: Sendable>: Sendable {
    let elements: [Element]
    let tables: Set<String>
    let fingerprint: AnswerFingerprint
  }

  /// - Parameter isObserved: whether the fingerprint is wanted, which costs a look at each value.
  nonisolated func answer<Element>(
    _ query: Query<Element>, isObserved: Bool
  ) async throws -> ObservedAnswer<Element> {
    let (answer, faults) = try await reading { [catalog] connection in
      let source = ConnectionSource(connection, catalog, isObserved: isObserved)
      let answer = try query.read(source)
      return (
        ObservedAnswer(elements: answer.elements, tables: source.tables, fingerprint: source.fingerprint),
        answer.faults
      )
    }
    if !faults.isEmpty {
      listeners.send(.unreadable(faults))
      log?.note(.unreadable, level: .error, numbers: ["rows": Int64(faults.count)])
    }
    return answer
  }

  /// Reads on the writer's own connection, at once: for a world that has only one thread.
  package func readHere<Element>(_ query: Query<Element>) throws -> [Element] { try store.read(query) }

  /// Runs one SELECT whose text is put together by the program: for commands and tests.
  package nonisolated func read(_ sql: String, _ values: [Value] = []) async throws -> [Row] {
    try await read(Query(rows: SQL(trusted: sql, values)))
  }

  /// What happens from now on, newest last. A listener that does not keep up misses the oldest events, so each event only
  /// says where to look.
  public nonisolated func events() -> AsyncStream<ReplicaEvent> { listeners.add() }

  /// Begins a round now, if an engine is at work.
  func wake() {
    session?.note(.syncRequested)
    onChange?()
  }

  func changed() {
    session?.note(.syncWanted)
    onChange?()
  }

  private func publish(_ effect: PageEffect) {
    if !effect.tables.isEmpty { listeners.send(.changed(tables: effect.tables)) }
    if !effect.settled.isEmpty { listeners.send(.settled(effect.settled)) }
    for space in effect.lost { listeners.send(.accessLost(space)) }
    if !effect.mismatches.isEmpty { listeners.send(.digestMismatch(effect.mismatches)) }
    if effect.isConsistent {
      board.publish([ConnectionSource.consistentPoints])
      listeners.send(.consistent)
    }
  }

  // MARK: Syncing, for the engine

  /// Takes the replica's one conversation.
  ///
  /// - Parameter isNew: begins it anew; otherwise what is known of the server (a wait that it asked for) is kept.
  /// - Returns: false if somebody has it.
  package func beginDriving(
    isNew: Bool, _ policy: TimingPolicy, onChange: @escaping @Sendable () -> Void
  ) -> Bool {
    if isDriven { return false }
    isDriven = true
    if isNew || session == nil { session = SyncSession(store, policy: policy) }
    self.onChange = onChange
    self.policy = policy
    return true
  }

  package func endDriving() { isDriven = false }

  package func note(_ fact: SyncMachine.Fact) { session?.note(fact) }

  package func nextStep() throws -> SyncSession.Step {
    let step = try session?.next() ?? .wait(until: nil)
    if log != nil { logCondition() }
    // Before it rests, it takes what others have left.
    guard case .wait = step, collectQuietly() else { return step }
    return try session?.next() ?? step
  }

  /// Reads what came back for an exchange, and gives the pull that comes after it, if it is known already.
  package func open(
    _ result: Result<TransportResponse, TransportError>, for exchange: SyncSession.Exchange
  ) throws -> (incoming: SyncSession.Incoming, next: SyncSession.Exchange?)? {
    guard let session else { return nil }
    let incoming = session.open(result, for: exchange)
    return (incoming, try session.following(incoming))
  }

  package func take(_ incoming: SyncSession.Incoming) throws {
    let before = session?.totals.pulled ?? 0
    if let effect = try session?.take(incoming) {
      publish(effect)
      log?.note(effect, items: (session?.totals.pulled ?? 0) - before)
    }
    if log != nil { logCondition() }
  }

  private func logCondition() {
    let condition = condition()
    if condition == loggedCondition { return }
    loggedCondition = condition
    log?.note(condition)
  }

  package func report() -> SyncReport { session?.totals ?? SyncReport() }

  package func condition() -> SyncMachine.Condition { session?.condition ?? .idle }

  package nonisolated func now() -> Int64 { ambient.now() }

  /// Sets the number of items above which a catch-up is published page by page, for worlds with few rows.
  package func setLongCatchUp(_ items: Int64) { store.longCatchUp = items }

  /// Gives a closure the writing connection, for tests and benchmarks that watch or tune it.
  package func withConnection<T: Sendable>(_ body: @Sendable (SQLiteConnection) throws -> T) throws -> T {
    try store.withConnection(body)
  }
}
