// SPDX-License-Identifier: Apache-2.0
import SkerryModel
import SkerrySQLiteKit

/// Holds the server's file against what must be true of it at every moment, by code of its own over raw SQL.
struct ServerAudit {
  private let content: ServerContent
  private let catalog: Catalog
  private let faults = Faults()

  /// What is wrong with the file; empty if nothing is.
  static func faults(_ connection: SQLiteConnection, _ catalog: Catalog) throws -> [String] {
    let audit = ServerAudit(content: try ServerContent(connection, catalog), catalog: catalog)
    let integrity = try connection.query("PRAGMA integrity_check") { $0.text(0) }
    audit.faults.expect(integrity == ["ok"], "integrity: \(integrity)")
    let writers = try connection.query("SELECT 1 FROM skerry_writer") { _ in true }
    audit.faults.expect(writers.isEmpty, "a mutation is still named as the writer")
    audit.checkHeaders()
    audit.checkPositions()
    audit.checkMemory()
    audit.checkMembers()
    audit.checkReceipts()
    try audit.checkRuns(connection)
    try audit.checkNumbers(connection)
    return audit.faults.list
  }

  private init(content: ServerContent, catalog: Catalog) {
    self.content = content
    self.catalog = catalog
  }

  // MARK: Rows, headers and captures

  private func checkHeaders() {
    let alive = Set(content.headers.filter { !$0.value.isDead }.keys)
    faults.expect(
      alive == Set(content.rows.keys), "headers and rows differ: \(alive.symmetricDifference(content.rows.keys))")
    let newest = Dictionary(content.captures.map { ($0.name, $0) }) { $0.number > $1.number ? $0 : $1 }
    for (name, header) in content.headers {
      if let capture = newest[name] {
        faults.expect(
          capture.number == header.number && capture.tag == header.tag,
          "the header of \(name) is not its newest capture")
      } else {
        faults.expect(
          !header.isDead && header.spaces != nil, "\(name) was never sequenced, and no capture says that it must be")
        // A parent that is yet to be sequenced may have moved its children.
        let isKnown = !newest.isEmpty || header.spaces == content.spaces(of: name)
        faults.expect(isKnown, "\(name) is remembered in \(header.spaces ?? [])")
        faults.expect(header.hash == hash(name)?.bytes, "the remembered hash of \(name) is of another row")
      }
    }
  }

  private func hash(_ name: ServerContent.Name) -> RowHash? {
    guard let table = catalog.table(name.table) else { return nil }
    return content.content(name)?.hash(RowKey(name.table, .text(name.id)), table)
  }

  // MARK: Log, heads, digests

  private func checkPositions() {
    let history = content.history
    let positions =
      content.log.map(\.position) + content.members.map(\.position)
      + content.homes.map(\.position).filter { $0 > 0 }
    faults.expect(Set(positions).count == positions.count, "a position is given twice")
    faults.expect(positions.allSatisfy { $0 > 0 && $0 <= history.head }, "a position is above the head \(history.head)")
    faults.expect(history.floor <= history.head && history.safe <= history.head, "floor or safe mark is above the head")
    let late = content.log.filter { $0.kind != 0 && $0.position <= history.floor }
    faults.expect(late.isEmpty, "tombstones below the floor: \(late)")
    let lost = content.members.filter { !$0.isInside && $0.position <= history.floor }
    faults.expect(lost.isEmpty, "lost memberships below the floor: \(lost)")
    for (id, space) in content.spaces {
      let replica = space.name.hasPrefix("replica:") ? String(space.name.dropFirst(8)) : nil
      let newest =
        replica.map { id in content.homes.filter { $0.replica == id }.map(\.position).max() ?? 0 }
        ?? content.log.filter { $0.space == id }.map(\.position).max() ?? 0
      // What was newest may have been a tombstone that has expired.
      faults.expect(space.head == newest || newest < space.head && space.head <= history.floor, "head of \(space.name)")
    }
  }

  private func checkMemory() {
    var sums: [String: SpaceDigest] = [:]
    var remembered: Set<[String]> = []
    for (name, header) in content.headers {
      for space in header.spaces ?? [] {
        remembered.insert([space, name.table, name.key])
        if let hash = RowHash(bytes: header.hash) { sums[space, default: SpaceDigest()].add(hash) }
      }
    }
    let live = Set(
      content.log.filter { $0.kind == 0 }.map { [content.spaces[$0.space]?.name ?? "?", $0.name.table, $0.name.key] })
    faults.expect(live == remembered, "log and memory differ: \(live.symmetricDifference(remembered))")
    for space in content.spaces.values where !space.name.hasPrefix("replica:") {
      faults.expect(space.digest == sums[space.name] ?? SpaceDigest(), "digest of \(space.name)")
    }
    let unknown = Set(sums.keys).subtracting(content.spaces.values.map(\.name))
    faults.expect(unknown.isEmpty, "spaces with rows and without a head: \(unknown)")
  }

  private func checkMembers() {
    var remembered: Set<[String]> = []
    for header in content.headers.values {
      for index in stride(from: 0, to: header.members.count - 1, by: 2) {
        remembered.insert([header.members[index], header.members[index + 1]])
      }
    }
    let inside = Set(content.members.filter(\.isInside).map { [$0.user, $0.space] })
    faults.expect(inside == remembered, "memberships differ: \(inside.symmetricDifference(remembered))")
    guard content.captures.isEmpty else { return }
    let rows = content.rows.filter { $0.key.table == "member" }.values
    let granted = Set(rows.map { [$0["user"]?.text ?? "", "team:" + ($0["team"]?.text ?? "")] })
    faults.expect(inside == granted, "memberships by the rows: \(inside.symmetricDifference(granted))")
  }

  private func checkRuns(_ connection: SQLiteConnection) throws {
    let last = try connection.first("SELECT max(last) FROM skerry_runs") { $0.integer(0) }
    faults.expect(
      last ?? 0 == content.history.head, "the newest run ends at \(last ?? 0), the head is \(content.history.head)")
  }

  // MARK: Receipts

  private func checkReceipts() {
    let homes = Dictionary(grouping: content.homes) { "\($0.user) \(Hex.text($0.mutation))" }
    for (user, receipts) in content.receipts {
      for id in receipts.keys {
        faults.expect(homes["\(user) \(Hex.text(id.raw.bytes))"] != nil, "the receipt of \(id) is read by nobody")
      }
    }
    let captured = Set(content.captures.filter { $0.name.table == "$receipt" }.map(\.name.key))
    for home in content.homes {
      let id = MutationID(bytes: home.mutation)
      faults.expect(
        id.flatMap { content.receipts[home.user]?[$0] } != nil, "a replica reads a receipt that is not there")
      let key = "'\(home.user)',X'\(Hex.text(home.mutation).uppercased())'"
      faults.expect(
        home.position > 0 || captured.contains(key), "the receipt \(key) has neither a position nor a capture")
    }
  }

  private func checkNumbers(_ connection: SQLiteConnection) throws {
    let rows = try connection.query(
      """
      SELECT n.n, n.mid, n.shrunk, r.user, r.settled FROM skerry_numbers AS n
        LEFT JOIN skerry_replicas AS r ON r.replica = n.replica
      """
    ) { ($0.integer(0), MutationID(bytes: $0.blob(1)), $0.integer(2) != 0, $0.text(3), $0.integer(4)) }
    for (number, id, isShrunk, user, settled) in rows {
      let receipt = id.flatMap { content.receipts[user]?[$0] }
      faults.expect(receipt != nil, "number \(number) of \(user) has no receipt")
      if isShrunk {
        faults.expect(number <= settled && receipt?.hasReason == false, "number \(number) is shrunk by half")
      }
    }
    let numbered = Set(rows.compactMap(\.1))
    for id in content.receipts.values.flatMap(\.keys) { faults.expect(numbered.contains(id), "\(id) has no number") }
  }
}
