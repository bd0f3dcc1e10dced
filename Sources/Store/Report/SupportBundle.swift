// SPDX-License-Identifier: Apache-2.0

package import SkerryMachine
package import SkerryModel
package import SkerrySQLiteKit
import SkerryWire

/// What a user may send to whoever supports the app: names of the schema, counts, states, versions, times, decisions.
///
/// No value of a row is in it, and no text of a server's or of a network's. Keys are left out; the account, labels and names of
/// spaces, which hold ids, are hashes under a salt that is in no bundle: the same within one, and worth nothing elsewhere.
package struct SupportBundle {
  /// What only a running app knows.
  package struct Live: Sendable {
    package var condition: SyncMachine.Condition?
    package var report: SyncReport?
    package var policy: TimingPolicy?
    /// The newest entries of the log, oldest first; nil if nobody listens.
    package var log: [LogEntry]?

    package init() {}
  }

  private let report: StoreReport
  private let live: Live
  private let salt: [UInt8]
  private let madeAt: Int64
  private let pages: (count: Int64, size: Int64, free: Int64)

  /// - Parameter connection: on a device's file, with a transaction open if all is to be of one moment.
  /// - Throws: as `Store.inspect`.
  package init(of connection: SQLiteConnection, _ ambient: any Ambient, _ live: Live = Live()) throws {
    func pragma(_ name: String) throws -> Int64 { try connection.first("PRAGMA \(name)") { $0.integer(0) } ?? 0 }
    report = try Store.inspect(connection)
    pages = (try pragma("page_count"), try pragma("page_size"), try pragma("freelist_count"))
    salt = Bytes16(high: ambient.random(), low: ambient.random()).bytes
    madeAt = ambient.now()
    self.live = live
  }

  /// One JSON object.
  package var text: String { String(decoding: json.encoded, as: UTF8.self) }

  private func hash(_ text: String) -> JSON {
    .string("#" + Hex.text(SHA256.hash(salt + Array(text.utf8)).prefix(6)))
  }

  private func hash(_ text: String?) -> JSON { text.map { hash($0) } ?? .null }

  /// A word that a server chose: it is shown if it looks like one.
  private func word(_ code: RefusalCode?) -> JSON {
    guard let code else { return .null }
    let isWord =
      code.text.utf8.count <= 24
      && code.text.utf8.allSatisfy { UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0 || $0 == UInt8(ascii: "_") }
    return isWord ? .string(code.text) : hash(code.text)
  }

  private var json: JSON {
    Self.object([
      "bundle": .integer(1), "madeAt": .integer(madeAt), "format": .integer(report.format),
      "schema": Self.object(["name": .string(report.app), "version": .integer(report.version)]),
      "account": hash(report.account.text), "replicas": .array(report.replicas.map { .string($0.text) }),
      "cursor": report.cursor.map(json) ?? .null, "phase": .string(report.phase.rawValue),
      "syncedAt": Self.number(report.syncedAt), "items": .integer(report.items),
      "mismatches": .integer(report.mismatches), "archived": .integer(report.archived),
      "tables": .array(report.tables.map(json)), "spaces": .array(report.spaces.map(json)),
      "lostSpaces": .array(report.lostSpaces.map { hash($0.text) }), "outbox": .array(report.outbox.map(json)),
      "rejections": .array(report.refusals.map(json)), "decisions": .array(report.decisions.map(json)),
      "file": Self.object([
        "pages": .integer(pages.count), "pageSize": .integer(pages.size), "freePages": .integer(pages.free),
      ]), "engine": engine, "log": live.log.map { .array($0.map(json)) } ?? .null,
    ])
  }

  private func json(_ cursor: Cursor) -> JSON {
    Self.object([
      "epoch": .string(cursor.epoch), "nonce": .string(cursor.nonce), "position": .integer(cursor.position),
      "head": .integer(cursor.head), "open": .array(cursor.open.map { hash($0.space.text) }),
    ])
  }

  private func json(_ table: StoreReport.Table) -> JSON {
    Self.object([
      "name": .string(table.name), "rows": .integer(table.rows), "confirmed": .integer(table.confirmed),
      "unconfirmed": .integer(table.unconfirmed), "pending": .integer(table.pending), "staged": .integer(table.staged),
    ])
  }

  private func json(_ space: StoreReport.Space) -> JSON {
    Self.object([
      "name": hash(space.name.text), "rows": .integer(space.rows), "state": .string(space.state.rawValue),
    ])
  }

  private func json(_ entry: StoreReport.Entry) -> JSON {
    Self.object([
      "id": .string(entry.id.description), "number": .integer(entry.number), "label": hash(entry.label),
      "madeAt": .integer(entry.madeAt), "state": .string(entry.state.rawValue), "sent": .bool(entry.isSent),
      "attempts": .integer(Int64(entry.attempts)), "hasError": .bool(entry.lastError != nil),
      "bytes": .integer(Int64(entry.bytes)), "after": .array(entry.after.map { .string($0.description) }),
      "rows": rows(entry.keys),
    ])
  }

  private func json(_ refusal: StoreReport.Refusal) -> JSON {
    Self.object([
      "id": .string(refusal.id.description), "outcome": .string(refusal.outcome.rawValue), "code": word(refusal.code),
      "label": hash(refusal.label), "at": .integer(refusal.at), "rows": rows(refusal.keys),
    ])
  }

  /// How many rows of each table.
  private func rows(_ keys: [RowKey]) -> JSON {
    let counts = Dictionary(grouping: keys, by: \.table).mapValues(\.count)
    return Self.object(counts.map { ($0.key, .integer(Int64($0.value))) })
  }

  private func json(_ decision: PastDecision) -> JSON {
    Self.object([
      "at": .integer(decision.at), "kind": .string(decision.kind.name),
      "mutation": decision.mutation.map { .string($0.description) } ?? .null, "code": word(decision.code),
      "rule": decision.rule.map { .string($0) } ?? .null, "count": .integer(Int64(decision.count)),
      "position": Self.number(decision.position),
    ])
  }

  private func json(_ entry: LogEntry) -> JSON {
    Self.object([
      "at": .integer(entry.at), "level": .string("\(entry.level)"), "event": .string(entry.event.name),
      "phase": .string(entry.phase.rawValue), "interval": Self.number(entry.interval.map { Int64(clamping: $0) }),
      "milliseconds": Self.number(entry.milliseconds),
      "numbers": Self.object(entry.numbers.map { ($0.key, .integer($0.value)) }),
      "words": Self.object(
        entry.words.map { ($0.key, $0.key == "code" ? word(RefusalCode($0.value)) : .string($0.value)) }),
    ])
  }

  private var engine: JSON {
    Self.object([
      "condition": live.condition.map { .string("\($0)") } ?? .null,
      "pushed": Self.number(live.report.map { Int64($0.pushed) }),
      "pulled": Self.number(live.report.map { Int64($0.pulled) }),
      "failures": Self.number(live.report.map { Int64($0.failures) }),
      "undecodable": Self.number(live.report.map { Int64($0.undecodable) }),
      "rounds": Self.number(live.report.map { Int64($0.rounds) }),
      "policy": live.policy.map { policy in
        Self.object([
          "interval": .integer(policy.interval), "refusal": .integer(policy.refusal),
          "batch": .integer(Int64(policy.batch)), "page": .integer(Int64(policy.page)),
          "retryBase": .integer(policy.retry.base), "retryCap": .integer(policy.retry.cap),
        ])
      } ?? .null,
    ])
  }

  private static func number(_ value: Int64?) -> JSON { value.map { .integer($0) } ?? .null }

  private static func object(_ members: KeyValuePairs<String, JSON>) -> JSON { object(members.map { ($0, $1) }) }

  private static func object(_ members: [(String, JSON)]) -> JSON {
    .object(
      members.map { JSON.Member($0.0, $0.1) }.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) })
  }
}
