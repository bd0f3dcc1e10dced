// SPDX-License-Identifier: Apache-2.0

import SkerryMerge
import SkerryModel
import SkerryServerCore
import SkerryStorageSQLite
import SkerryWire
import Testing

/// What a mutation that comes again, late, under another number or another id is told.
@Suite struct ReceiptTests {
  private let world: ServerWorld

  init() throws {
    world = try ServerWorld()
    try world.foreign("INSERT INTO item(id, n, home) VALUES ('mine', 0, 'user:ana'), ('bobs', 0, 'user:bob')")
  }

  private func count() throws -> Value? { try world.row("item", "mine")?.values[2] }

  @Test func `a mutation that comes again gets the stored verdict and has no second effect`() throws {
    let counted = try world.mutation([.add("item", "mine", 1)], replica: "r")
    let refused = try world.mutation([.add("item", "bobs", 1)], replica: "r")
    let expected: [Verdict] = [.settled(counted.id, .confirmed), .settled(refused.id, .rejected)]
    for _ in 0..<3 { #expect(try world.push([counted, refused], as: "ana", replica: "r") == expected) }
    #expect(try world.push([refused, counted, counted], as: "ana", replica: "r").count == 3)
    #expect(try count() == 1)
    #expect(try world.row("item", "bobs")?.values[2] == 0)
  }

  @Test func `the first verdict stands, even if other operations come under the same id`() throws {
    let first = try world.mutation([.add("item", "mine", 1)], replica: "r")
    let second = Mutation(
      id: first.id, number: first.number, operations: try world.operations([.add("item", "mine", 100)], of: first.id))
    let void = Mutation(id: first.id, number: first.number, operations: first.operations, isVoid: true)
    for mutation in [first, second, void] {
      #expect(try world.push([mutation], as: "ana", replica: "r") == [.settled(first.id, .confirmed)])
    }
    #expect(try count() == 1)
  }

  @Test func `a verdict on the way stays the same when the world has changed`() throws {
    let refused = try world.mutation([.add("item", "bobs", 1)], replica: "r")
    #expect(try world.push([refused], as: "ana", replica: "r") == [.settled(refused.id, .rejected)])
    try world.foreign("UPDATE item SET home = 'user:ana' WHERE id = 'bobs'")
    #expect(try world.push([refused], as: "ana", replica: "r") == [.settled(refused.id, .rejected)])
    #expect(try world.row("item", "bobs")?.values[2] == 0)
  }

  @Test func `a void mutation settles without effect, and stays void when it comes alive again`() throws {
    let void = try world.mutation([.add("item", "mine", 1)], replica: "r", isVoid: true)
    let alive = Mutation(id: void.id, number: void.number, operations: void.operations)
    #expect(try world.push([void], as: "ana", replica: "r") == [.settled(void.id, .void)])
    #expect(try world.push([alive], as: "ana", replica: "r") == [.settled(void.id, .void)])
    #expect(try count() == 0)
  }

  @Test func `a known mutation that comes under another replica id has its receipt there too`() throws {
    let mutation = try world.mutation([.add("item", "mine", 1)], replica: "old")
    _ = try world.push([mutation], as: "ana", replica: "old")
    let again = Mutation(id: mutation.id, number: 7, operations: mutation.operations)
    #expect(try world.push([again], as: "ana", replica: "new") == [.settled(mutation.id, .confirmed)])
    #expect(try count() == 1)
    let key = ReceiptKey(user: "ana", mutation: mutation.id)
    #expect(try world.storage.read { try $0.homes(of: key) } == ["new", "old"])
    for replicas in [["old"], ["new"], ["old", "new"]] as [[ReplicaID]] {
      var cursor: Cursor?
      let items = try world.catchUp(&cursor, as: "ana", replicas: replicas)
      let receipts = items.filter { if case .receipt = $0 { true } else { false } }
      #expect(receipts.count == replicas.count)
    }
    #expect(try world.storage.read { try $0.mutation("new", number: 7) } == mutation.id)
  }

  @Test func `a number that comes with another id tells of a copy, and ends the list`() throws {
    let first = try world.mutation([.add("item", "mine", 1)], replica: "r")
    _ = try world.push([first], as: "ana", replica: "r")
    let id = world.sqlite.ambient.makeMutationID()
    let other = Mutation(
      id: id, number: first.number, operations: try world.operations([.add("item", "mine", 10)], of: id))
    let before = try world.mutation([.add("item", "mine", 2)], replica: "r")
    let after = try world.mutation([.add("item", "mine", 4)], replica: "r")
    let verdicts = try world.push([before, other, after], as: "ana", replica: "r")
    #expect(verdicts == [.settled(before.id, .confirmed), .identityReused("r")])
    #expect(try count() == 3)
    #expect(try world.receipt(id, of: "ana") == nil && world.receipt(after.id, of: "ana") == nil)
    // The copy mints a new replica id, and the same mutations are judged under it.
    let again = [Mutation(id: id, number: 1, operations: other.operations), after]
    #expect(
      try world.push(again, as: "ana", replica: "r2").allSatisfy { if case .settled = $0 { true } else { false } })
    #expect(try count() == 17)
  }

  @Test func `a mutation waits for its predecessors, and is never refused for their sake`() throws {
    let first = try world.mutation([.insert("item", "new", ["home": "user:ana"])], replica: "r")
    let insert = Incarnation(tag: first.id.tag, index: 0)
    let operation = Operation(RowKey("item", "new"), insert, .increment("n", by: 1))
    let second = Mutation(
      id: world.sqlite.ambient.makeMutationID(), number: 2, after: [first.id], operations: [operation])
    #expect(try world.push([second], as: "ana", replica: "r") == [.notYet(second.id)])
    #expect(try world.receipt(second.id, of: "ana") == nil)
    let verdicts = try world.push([second, first, second], as: "ana", replica: "r")
    #expect(verdicts == [.notYet(second.id), .settled(first.id, .confirmed), .settled(second.id, .confirmed)])
  }

  @Test func `a predecessor counts for its own account only, and a refused or void one counts`() throws {
    let theirs = try world.mutation([.add("item", "bobs", 1)], replica: "b")
    _ = try world.push([theirs], as: "bob", replica: "b")
    let waits = try world.mutation([.add("item", "mine", 1)], replica: "r", after: [theirs.id])
    #expect(try world.push([waits], as: "ana", replica: "r") == [.notYet(waits.id)])
    let refused = try world.mutation([.add("item", "bobs", 1)], replica: "r")
    let void = try world.mutation([], replica: "r", isVoid: true)
    let last = try world.mutation([.add("item", "mine", 1)], replica: "r", after: [refused.id, void.id])
    #expect(try world.push([refused, void, last], as: "ana", replica: "r").last == .settled(last.id, .confirmed))
  }

  @Test func `an id under which another account has changed rows is refused, since versions are told apart by it`()
    throws
  {
    let mine = try world.mutation([.add("item", "mine", 1)], replica: "r")
    func theirs(_ replica: ReplicaID) throws -> Mutation {
      Mutation(
        id: mine.id, number: try world.mutation([], replica: replica).number,
        operations: try world.operations([.add("item", "bobs", 1)], of: mine.id))
    }
    #expect(try world.push([mine], as: "ana", replica: "r") == [.settled(mine.id, .confirmed)])
    #expect(try world.push([theirs("b")], as: "bob", replica: "b") == [.settled(mine.id, .rejected)])
    #expect(try world.receipt(mine.id, of: "bob")?.receipt.code == .taken)
    #expect(try world.row("item", "bobs")?.values[2] == 0)
    // The one who had it first is told the same as ever.
    #expect(try world.push([mine], as: "ana", replica: "r") == [.settled(mine.id, .confirmed)])
    #expect(try count() == 1)
  }

  @Test func `an id that another account used in vain is free, so that nobody can spoil it by a refusal`() throws {
    let mine = try world.mutation([.add("item", "mine", 1)], replica: "r")
    let theirs = Mutation(
      id: mine.id, number: 1, operations: try world.operations([.add("item", "mine", 1)], of: mine.id))
    let void = Mutation(id: mine.id, number: 1, operations: [], isVoid: true)
    #expect(try world.push([theirs], as: "bob", replica: "b") == [.settled(mine.id, .rejected)])
    #expect(try world.push([void], as: "cat", replica: "c") == [.settled(mine.id, .void)])
    #expect(try world.push([mine], as: "ana", replica: "r") == [.settled(mine.id, .confirmed)])
    #expect(try count() == 1)
  }

  @Test func `a foreign write's version is no mutation's id, and a mutation under it is refused`() throws {
    try world.foreign("UPDATE item SET title = 'theirs' WHERE id = 'mine'")
    let version = try #require(try world.row("item", "mine")?.version)
    #expect(version.isForeign)
    let id = MutationID(raw: version.raw)
    let mutation = Mutation(id: id, number: 1, operations: try world.operations([.add("item", "mine", 1)], of: id))
    #expect(try world.push([mutation], as: "ana", replica: "r") == [.settled(id, .rejected)])
    #expect(try world.receipt(id, of: "ana")?.receipt.code == .invalid)
    for _ in 0..<200 { #expect(!world.sqlite.ambient.makeMutationID().tag.isForeign) }
  }

  @Test func `a replica id of another account is forbidden, by push and by pull`() throws {
    let mutation = try world.mutation([.add("item", "mine", 1)], replica: "r")
    _ = try world.push([mutation], as: "ana", replica: "r")
    #expect(
      try world.push([try world.mutation([], replica: "r", isVoid: true)], as: "bob", replica: "r") == [.forbidden])
    #expect(throws: RequestError.foreignReplica) { try world.pull(nil, as: "bob", replicas: ["r"]) }
    #expect(throws: RequestError.foreignReplica) { try world.pull(nil, as: "bob", replicas: ["r", "b"]) }
    #expect(throws: RequestError.foreignReplica) { try world.pull(nil, as: "bob", replicas: ["b", "r"]) }
    #expect(try world.storage.read { try $0.owner(of: "b") } == nil)
  }

  @Test func `a replica id of another account is forbidden while the database is busy too`() throws {
    _ = try world.push([try world.mutation([.add("item", "bobs", 1)], replica: "r")], as: "ana", replica: "r")
    try world.server.sequence()
    var cursor: Cursor?
    _ = try world.catchUp(&cursor, as: "bob", replicas: ["b"])
    try world.foreign("BEGIN IMMEDIATE")
    for replicas in [["r"], ["new", "r"], ["r", "new"], ["b", "new", "r"]] as [[ReplicaID]] {
      for asked in [cursor, nil] {
        #expect(throws: RequestError.foreignReplica) { try world.pull(asked, as: "bob", replicas: replicas) }
      }
    }
    try world.foreign("ROLLBACK")
  }

  @Test func `below the settled mark a receipt has no reason left, and its verdict stands`() throws {
    let refused = try world.mutation([.add("item", "bobs", 1)], replica: "r")
    _ = try world.push([refused], as: "ana", replica: "r")
    #expect(try world.receipt(refused.id, of: "ana")?.receipt.code == .forbidden)
    _ = try world.push([], as: "ana", replica: "r", settled: 1)
    let stored = try world.receipt(refused.id, of: "ana")
    #expect(stored?.receipt == Receipt(id: refused.id, outcome: .rejected))
    #expect(stored?.hash == refused.contentHash)
    #expect(try world.push([refused], as: "ana", replica: "r", settled: 1) == [.settled(refused.id, .rejected)])
  }

  @Test func `a pull moves the settled mark as a push does`() throws {
    let refused = try world.mutation([.add("item", "bobs", 1)], replica: "r")
    _ = try world.push([refused], as: "ana", replica: "r")
    _ = try world.pull(nil, as: "ana", replicas: ["old", "r"], settled: 1)
    #expect(try world.receipt(refused.id, of: "ana")?.receipt.reason == nil)
    #expect(try world.storage.read { try ($0.settled("r"), $0.settled("old")) } == (1, 0))
  }

  @Test func `a pull with a mark to move does not wait for this process's own writer`() throws {
    var cursor: Cursor?
    _ = try world.catchUp(&cursor, as: "ana", replicas: ["r"])
    // The writer is held by whoever calls; a pull that wanted it for as long as it takes would never return.
    let answer = try world.sqlite.storage.withWriter { _ in
      try world.pull(cursor, as: "ana", replicas: ["r", "new"], settled: 3)
    }
    guard case .page(let page) = answer else { return #expect(Bool(false), "a page was expected") }
    #expect(page.closes)
    #expect(try world.storage.read { try ($0.settled("r"), $0.owner(of: "new")) } == (0, nil))
    _ = try world.pull(cursor, as: "ana", replicas: ["new", "r"], settled: 3)
    #expect(try world.storage.read { try ($0.settled("r"), $0.owner(of: "new")) } == (3, "ana"))
  }

  @Test func `a push with a cursor of another history is not judged`() throws {
    var cursor: Cursor?
    _ = try world.catchUp(&cursor, as: "ana", replicas: ["r"])
    let mutation = try world.mutation([.add("item", "mine", 1)], replica: "r")
    var foreign = try #require(cursor)
    foreign.nonce = "another"
    #expect(try world.push([mutation], as: "ana", replica: "r", cursor: foreign) == [.otherHistory])
    foreign = try #require(cursor)
    foreign.epoch = "another"
    #expect(try world.push([mutation], as: "ana", replica: "r", cursor: foreign) == [.otherHistory])
    foreign = try #require(cursor)
    foreign.head += 1
    #expect(try world.push([mutation], as: "ana", replica: "r", cursor: foreign) == [.otherHistory])
    #expect(try count() == 0)
    #expect(try world.push([mutation], as: "ana", replica: "r", cursor: cursor) == [.settled(mutation.id, .confirmed)])
  }

  @Test func `while another program holds the lock every mutation is busy, and nothing has happened`() throws {
    let mutations = try (0..<3).map { _ in try world.mutation([.add("item", "mine", 1)], replica: "r") }
    try world.foreign("BEGIN IMMEDIATE")
    try world.foreign("UPDATE item SET title = 'theirs'")
    #expect(try world.push(mutations, as: "ana", replica: "r") == mutations.map { .busy($0.id) })
    try world.foreign("COMMIT")
    #expect(try world.storage.read { try $0.owner(of: "r") } == nil)
    #expect(try world.push(mutations, as: "ana", replica: "r") == mutations.map { .settled($0.id, .confirmed) })
    #expect(try count() == 3)
  }

  @Test func `a request of another schema, or with too much in it, is refused as a whole`() throws {
    let other = SchemaStamp(name: "contract", version: 2)
    let error = RequestError.otherSchema(
      found: "contract 2", expected: "contract 1", remedy: "the server is to be updated; work is kept until then")
    #expect(throws: error) {
      try world.server.push(PushRequest(schema: other, replica: "r", cursor: nil, settled: 0, mutations: []), as: "ana")
    }
    #expect(throws: error) {
      try world.server.pull(PullRequest(schema: other, replicas: ["r"], cursor: nil, settled: 0, limit: 1), as: "ana")
    }
    #expect(throws: RequestError.self) { try world.pull(nil, as: "ana", replicas: []) }
    #expect(throws: RequestError.self) {
      try world.pull(nil, as: "ana", replicas: (0...Limits.replicaIDs).map { ReplicaID("r\($0)") })
    }
    let void = Mutation(id: MutationID(raw: Bytes16(high: 0, low: 1)), number: 1, operations: [], isVoid: true)
    #expect(throws: RequestError.self) {
      try world.push(Array(repeating: void, count: Limits.batchMutations + 1), as: "ana", replica: "r")
    }
    #expect(try world.storage.read { try $0.owner(of: "r") } == nil)
  }
}
