// SPDX-License-Identifier: Apache-2.0

import SkerryAmbientKit
import SkerryModel
import SkerryWire
import Testing

@Suite("Messages as JSON") struct JSONCodecTests {
  private let codec: JSONCodec

  init() throws { codec = try Examples.codec() }

  @Test func `each message reads back as it was written`() throws {
    #expect(try codec.decodePushRequest(codec.encode(Examples.pushRequest)) == Examples.pushRequest)
    #expect(try codec.decodePushAnswer(codec.encode(Examples.pushAnswer)) == Examples.pushAnswer)
    #expect(try codec.decodePullRequest(codec.encode(Examples.pullRequest)) == Examples.pullRequest)
    #expect(try codec.decodePullAnswer(codec.encode(Examples.page)) == Examples.page)
    #expect(try codec.decodePullAnswer(codec.encode(Examples.reset)) == Examples.reset)
  }

  @Test func `the smallest messages read back too`() throws {
    let push = PushRequest(schema: Examples.stamp, replica: "r", cursor: nil, settled: 0, mutations: [])
    #expect(try codec.decodePushRequest(codec.encode(push)) == push)
    let pull = PullRequest(schema: Examples.stamp, replicas: ["r"], cursor: nil, settled: 0, limit: 1)
    #expect(try codec.decodePullRequest(codec.encode(pull)) == pull)
    #expect(try codec.decodePushAnswer(codec.encode(PushAnswer(verdicts: []))) == PushAnswer(verdicts: []))
    let cursor = Cursor(epoch: "", position: 0, head: 0, nonce: "", owner: [])
    let page = PullAnswer.page(Page(items: [], cursor: cursor, closes: false, safe: 0))
    #expect(try codec.decodePullAnswer(codec.encode(page)) == page)
    for reason in [ResetReason.first, .expired, .history] {
      let reset = PullAnswer.reset(Reset(reason: reason, spaces: [], cursor: cursor))
      #expect(try codec.decodePullAnswer(codec.encode(reset)) == reset)
    }
  }

  @Test func `every outcome reads back, in verdicts and in receipts`() throws {
    for outcome in [Outcome.confirmed, .rejected, .conflicted, .void] {
      let answer = PushAnswer(verdicts: [.settled(Examples.first, outcome)])
      #expect(try codec.decodePushAnswer(codec.encode(answer)) == answer)
      let receipt = PageItem.receipt(
        .replica(Examples.ana), Receipt(id: Examples.first, outcome: outcome, code: "sold_out", reason: ""))
      #expect(try items([receipt]) == [receipt])
    }
  }

  @Test func `members that nobody knows are ignored, at every level`() throws {
    for (name, bytes) in try Examples.all() {
      let json = try JSON(parsing: bytes)
      let more = json.eachObject(except: ["fields", "digests"]) { members in
        [.init("zz", .object([.init("deep", .array([.null]))]))] + members + [.init("zy", .string("later"))]
      }
      #expect(more != json)
      #expect(try reencoded(name, more.encoded) == bytes)
    }
  }

  @Test func `the order of members means nothing`() throws {
    for (name, bytes) in try Examples.all() {
      let turned = try JSON(parsing: bytes).eachObject(except: ["ops"]) { $0.reversed() }
      if name == "push request" {
        // An operation's fields keep the order in which they came, which the schema's check makes one order later.
        #expect(
          try codec.decodePushRequest(turned.encoded).mutations.map(\.id) == Examples.pushRequest.mutations.map(\.id))
      } else {
        #expect(try reencoded(name, turned.encoded) == bytes)
      }
    }
  }

  @Test func `names of members may be escaped`() throws {
    let bytes = Array(#"{"\u0070rotocol":3,"verdicts":[{"k\u0069nd":"other\u0048istory"}]}"#.utf8)
    #expect(try codec.decodePushAnswer(bytes) == PushAnswer(verdicts: [.otherHistory]))
  }

  @Test func `a verdict in unknown words is skipped and the others count`() throws {
    let text = """
      {"protocol":3,"verdicts":[{"kind":"later","id":"x"},{"kind":"settled","id":"\(Examples.first)","outcome":"merged"},\
      {"kind":"busy","id":"\(Examples.second)"},{"kind":"","why":{}}]}
      """
    #expect(try codec.decodePushAnswer(Array(text.utf8)) == PushAnswer(verdicts: [.busy(Examples.second)]))
  }

  @Test(arguments: [
    #"{"kind":"moved","space":"team:a"}"#, #"{"kind":"Put","space":"team:a"}"#, #"{"space":"team:a"}"#, "null",
  ])
  func `a page with an unknown item is refused as a whole`(item: String) {
    #expect(throws: WireError.self) { try codec.decodePullAnswer(page(item)) }
  }

  @Test func `a table that the schema lacks spoils a page but only its own mutation in a push`() throws {
    let item = #"{"kind":"deleted","space":"team:a","table":"plants","key":[1]}"#
    #expect(throws: WireError.self) { try codec.decodePullAnswer(page(item)) }
    let operation = Operation(RowKey("plants", 1), nil, .insert([Field("leaf", 1)]))
    var request = Examples.pushRequest
    request.mutations = [Mutation(id: Examples.first, number: 1, operations: [operation])]
    #expect(try codec.decodePushRequest(codec.encode(request)) == request)
  }

  @Test func `tables are told apart by bytes`() {
    let item = #"{"kind":"deleted","space":"team:a","table":"people\u0301","key":["x"]}"#
    #expect(throws: WireError.self) { try codec.decodePullAnswer(page(item)) }
  }

  @Test func `an operation without incarnation or with an unknown column is left to the schema's check`() throws {
    let operations = [
      Operation(Examples.person, nil, .delete), Operation(Examples.person, nil, .set([Field("leaf", 1)], base: nil)),
      Operation(Examples.person, Examples.life, .insert([])),
      Operation(RowKey("people"), nil, .increment("", by: .min)),
    ]
    var request = Examples.pushRequest
    request.mutations = [Mutation(id: Examples.first, number: 1, operations: operations)]
    #expect(try codec.decodePushRequest(codec.encode(request)) == request)
  }

  @Test func `a row takes absent columns as null, counters as 0, and ignores what it does not know`() throws {
    let item = """
      {"kind":"put","space":"team:a","table":"people","key":["0197a0de-0000-7000-8000-00000000000a"],\
      "version":"\(Examples.first)","incarnation":"\(Examples.life)",\
      "fields":{"leaf":[],"score":4,"id":"ignored","active":true,"name":"Zoë","team":"a"}}
      """
    guard case .page(let page) = try codec.decodePullAnswer(page(item)), case .put(_, let row) = page.items.first else {
      Issue.record("no row")
      return
    }
    #expect(row.values == [Examples.person.values[0], "a", "Zoë", nil, 1, 4.0, nil, 0])
    #expect(row.key == Examples.person)
  }

  static let unfit: [(fields: String, key: String)] = [
    (#""name":1"#, #""0197a0de-0000-7000-8000-00000000000a""#),
    (#""visits":"2""#, #""0197a0de-0000-7000-8000-00000000000a""#),
    (#""photo":"/9g=""#, #""0197a0de-0000-7000-8000-00000000000a""#),
    (#""name":"Zoë""#, "1"), (#""name":"Zoë""#, "null"), (#""name":"Zoë""#, ""),
    (#""name":"Zoë""#, #""0197a0de-0000-7000-8000-00000000000a",1"#),
  ]

  @Test(arguments: unfit)
  func `a row with a value of another class than its column is refused, and its values are not repeated`(
    fields: String, key: String
  ) {
    let item = """
      {"kind":"put","space":"team:a","table":"people","key":[\(key)],"version":"\(Examples.first)",\
      "incarnation":"\(Examples.life)","fields":{\(fields)}}
      """
    let error = #expect(throws: WireError.self) { try codec.decodePullAnswer(page(item)) }
    #expect(error?.code == .invalid)
    #expect(error.map { !$0.description.contains("Zoë") && !$0.description.contains("someone") } == true)
  }

  @Test func `a composite key and a table with nothing but its key go there and back`() throws {
    let row = RowImage(
      key: Examples.membership, version: Examples.first.tag, incarnation: Examples.life,
      values: ["ana", "lead", "north"])
    #expect(try items([.put(Examples.team, row)]) == [.put(Examples.team, row)])
    let table = TableDefinition("marks", columns: [ColumnDefinition("id", .integer)], spaces: [.constant("all:x")])
    let catalog = try Catalog(
      Schema(
        "marks", version: 1, spaces: [SpaceDefinition("all", members: .everyone)],
        features: [FeatureDefinition("marks", .replica, tables: [table])]))
    let mark = RowImage(key: RowKey("marks", 7), version: Examples.first.tag, incarnation: Examples.life, values: [7])
    let page = PullAnswer.page(Page(items: [.put("all:x", mark)], cursor: Examples.cursor, closes: true, safe: 0))
    let small = JSONCodec(catalog: catalog)
    #expect(try small.decodePullAnswer(small.encode(page)) == page)
  }

  @Test func `random pages read back`() throws {
    var generator = SeededGenerator(seed: 5)
    for _ in 0..<40 {
      let items = (0..<10).map { _ in generator.item() }
      #expect(try self.items(items) == items)
    }
  }

  private func items(_ items: [PageItem]) throws -> [PageItem] {
    let page = Page(items: items, cursor: Examples.cursor, closes: true, safe: 0)
    guard case .page(let read) = try codec.decodePullAnswer(codec.encode(.page(page))) else { return [] }
    return read.items
  }

  private func page(_ item: String) -> [UInt8] {
    let cursor = JSON.string(Examples.cursorToken).encoded
    return Array(#"{"protocol":3,"kind":"page","items":[\#(item)],"closes":true,"safe":0,"cursor":"#.utf8) + cursor
      + Array("}".utf8)
  }

  private func reencoded(_ name: String, _ bytes: [UInt8]) throws -> [UInt8] {
    switch name {
    case "push request": codec.encode(try codec.decodePushRequest(bytes))
    case "push answer": codec.encode(try codec.decodePushAnswer(bytes))
    case "pull request": codec.encode(try codec.decodePullRequest(bytes))
    default: codec.encode(try codec.decodePullAnswer(bytes))
    }
  }
}

extension SeededGenerator {
  fileprivate mutating func item() -> PageItem {
    let space = SpaceID(kind: "team", id: "\(Int.random(in: 0...9, using: &self))é")
    let key = RowKey("people", .text(Bytes16(high: next(), low: next()).uuidText))
    let tag = MutationID(raw: Bytes16(high: next(), low: next()))
    switch Int.random(in: 0...6, using: &self) {
    case 0: return .gain(space)
    case 1: return .lose(space)
    case 2: return .filled(space)
    case 3: return .left(space, key, still: [space, "user:ana"])
    case 4: return .deleted(space, key)
    case 5: return .receipt(space, Receipt(id: tag, outcome: .rejected, code: RefusalCode(text()), reason: text()))
    default:
      let life = Incarnation(tag: tag.tag, index: UInt16.random(in: 0...UInt16.max, using: &self))
      let values: [Value] = [
        key.values[0], .text(text()), .text(text()), Bool.random(using: &self) ? nil : .text(text()), 1, .real(real()),
        .blob(blob()), .integer(integer()),
      ]
      return .put(space, RowImage(key: key, version: tag.tag, incarnation: life, values: values))
    }
  }
}
