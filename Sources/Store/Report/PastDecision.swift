// SPDX-License-Identifier: Apache-2.0

public import SkerryModel
public import SkerryRecords
import SkerrySQLiteKit
import SkerryTables

/// Something that was decided about this device's rows or mutations. The newest `PastDecision.limit` are kept, written with what
/// they decided; of a row they name nothing.
public struct PastDecision: Sendable, Equatable {
  /// How many are kept.
  public static let limit = 256

  /// What was decided. Open: later versions may add kinds.
  public struct Kind: Hashable, Sendable {
    /// The kind's word.
    public let name: String

    /// The server confirmed a mutation.
    public static let confirmed = Kind(name: "confirmed")
    /// The server refused a mutation.
    public static let rejected = Kind(name: "rejected")
    /// The server refused a mutation that met a newer version.
    public static let conflicted = Kind(name: "conflicted")
    /// A discarded mutation has settled without effect.
    public static let void = Kind(name: "void")
    /// A mutation failed alone while others passed, and waits for a person.
    public static let setAside = Kind(name: "setAside")
    /// A person discarded a mutation here.
    public static let discarded = Kind(name: "discarded")
    /// Everything is read anew; `rule` says why.
    public static let reset = Kind(name: "reset")
    /// The account lost a space.
    public static let accessLost = Kind(name: "accessLost")
    /// Checksums of spaces differed from the server's.
    public static let digestMismatch = Kind(name: "digestMismatch")
    /// Rows that the app brought along as already on the server were not there.
    public static let guessesEnded = Kind(name: "guessesEnded")
  }

  /// When, in milliseconds since 1970 by the device's clock.
  public let at: Int64
  /// What was decided.
  public let kind: Kind
  /// The mutation; nil if it was about something else.
  public let mutation: MutationID?
  /// The server's code; nil if there was nothing to say.
  public let code: RefusalCode?
  /// What it was decided by: for a mutation the rules of the columns that it writes, and what it does to whole rows.
  public let rule: String?
  /// How many operations, spaces or rows it was about.
  public let count: Int
  /// The position in the server's history; nil for what was decided here.
  public let position: Int64?
  /// The beginnings of hashes of the first rows' keys.
  var rows: [UInt8] = []

  init(
    _ kind: Kind, at time: Int64, mutation: MutationID? = nil, code: RefusalCode? = nil, rule: String? = nil,
    count: Int, position: Int64? = nil, rows: [UInt8] = []
  ) {
    (at, self.kind, self.mutation, self.code) = (time, kind, mutation, code)
    (self.rule, self.count, self.position, self.rows) = (rule, count, position, rows)
  }

  init(_ kind: Kind, _ entry: OutboxEntry, at time: Int64, _ catalog: Catalog) {
    self.init(
      kind, at: time, mutation: entry.id, rule: PastDecision.rule(of: entry.operations, catalog),
      count: entry.operations.count, rows: PastDecision.marks(of: entry.operations))
  }

  init(_ receipt: Receipt, _ entry: OutboxEntry, at time: Int64, position: Int64?, _ catalog: Catalog) {
    self.init(
      Kind(name: receipt.outcome.rawValue), at: time, mutation: entry.id, code: receipt.code,
      rule: PastDecision.rule(of: entry.operations, catalog), count: entry.operations.count, position: position,
      rows: PastDecision.marks(of: entry.operations))
  }

  private static func rule(of operations: [Operation], _ catalog: Catalog) -> String {
    var out: Set<String> = []
    for operation in operations {
      switch operation.action {
      case .insert: out.insert("insert")
      case .delete: out.insert("delete wins")
      case .increment: out.insert(ColumnRule.counter.rawValue)
      case .set(let fields, _):
        guard let table = catalog.table(operation.key.table) else { continue }
        if table.checksVersion { out.insert("version") }
        for field in fields {
          if let index = table.index(of: field.column) { out.insert(table.columns[index].rule.rawValue) }
        }
      }
    }
    return out.sorted().joined(separator: ", ")
  }

  /// A row that was lost must leave nothing behind, so its key is not kept.
  private static let marked = 32
  private static let markBytes = 8

  static func mark(of key: RowKey) -> [UInt8] {
    Array(SHA256.hash(Array(key.table.utf8) + [0] + key.bytes).prefix(markBytes))
  }

  private static func marks(of operations: [Operation]) -> [UInt8] {
    var seen: Set<RowKey> = []
    var out: [UInt8] = []
    for operation in operations where seen.count < marked && seen.insert(operation.key).inserted {
      out += mark(of: operation.key)
    }
    return out
  }

  /// Whether it was about a row, among the first of its mutation.
  func concerns(_ mark: [UInt8]) -> Bool {
    stride(from: 0, to: rows.count, by: PastDecision.markBytes).contains { rows[$0...].starts(with: mark) }
  }
}

extension PastDecision: CustomStringConvertible {
  /// Time, what was decided and why, in one line.
  public var description: String {
    var parts = [ReportText.time(at), kind.name]
    if let code { parts.append("(\(code))") }
    if let mutation { parts.append("\(mutation)") }
    parts.append("of \(count)")
    if let rule, !rule.isEmpty { parts.append("by \(rule)") }
    if let position { parts.append("at position \(position)") }
    return parts.joined(separator: " ")
  }
}

extension PastDecision {
  fileprivate static let columns = "at, kind, mid, code, rule, count, pos, rows"

  fileprivate init(_ values: [Value]) throws {
    var mutation: MutationID?
    if case .blob(let bytes) = values[2] { mutation = MutationID(bytes: bytes) }
    var rows: [UInt8] = []
    if case .blob(let bytes) = values[7] { rows = bytes }
    self.init(
      Kind(name: values[1].text ?? ""), at: values[0].integer ?? 0, mutation: mutation,
      code: values[3].text.map { RefusalCode($0) }, rule: values[4].text, count: Int(values[5].integer ?? 0),
      position: values[6].integer, rows: rows)
  }

  /// All that a file holds, oldest first; none in a file that is older than they are.
  static func all(on connection: SQLiteConnection) throws -> [PastDecision] {
    guard try connection.hasTable("skerry_decisions") else { return [] }
    return try connection.query("SELECT \(columns) FROM main.skerry_decisions ORDER BY seq") {
      try PastDecision($0.modelValues(0..<8))
    }
  }

  fileprivate var values: [SQLiteValue] {
    [
      .integer(at), .text(kind.name), mutation.map { .blob($0.raw.bytes) } ?? .null,
      code.map { .text($0.text) } ?? .null,
      rule.map { .text($0) } ?? .null, .integer(Int64(count)), position.map { .integer($0) } ?? .null,
      rows.isEmpty ? .null : .blob(rows),
    ]
  }
}

extension Query where Element == PastDecision {
  /// What was decided last on this device, oldest first: at most `PastDecision.limit`.
  public static var decisions: Query {
    Query(SQL(trusted: "SELECT \(PastDecision.columns) FROM skerry_decisions ORDER BY seq")) {
      try PastDecision($0.values)
    }
  }
}

/// Collects the decisions of one transaction, and writes the newest of them with it.
struct DecisionLog {
  private let connection: SQLiteConnection
  private var new: [PastDecision] = []

  init(_ connection: SQLiteConnection) { self.connection = connection }

  mutating func add(_ decision: PastDecision) {
    new.append(decision)
    if new.count >= 2 * PastDecision.limit { new.removeFirst(PastDecision.limit) }
  }

  mutating func write() throws {
    try DecisionLog.write(new.suffix(PastDecision.limit), connection)
    new.removeAll()
  }

  /// Adds some in the open transaction, and removes what is too old.
  static func write(_ decisions: some Collection<PastDecision>, _ connection: SQLiteConnection) throws {
    if decisions.isEmpty { return }
    let insert = try connection.statement(
      "INSERT INTO skerry_decisions(\(PastDecision.columns)) VALUES (?, ?, ?, ?, ?, ?, ?, ?)")
    for decision in decisions { try insert.run(decision.values) }
    try connection.run(
      "DELETE FROM skerry_decisions WHERE seq <= ?", .integer(connection.lastInsertedRow - Int64(PastDecision.limit)))
  }
}
