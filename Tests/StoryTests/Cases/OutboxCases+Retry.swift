// SPDX-License-Identifier: Apache-2.0
import SkerryMachine
import SkerryModel
import SkerrySQLiteKit
import SkerryServerCore
import SkerryStore
import SkerryTestSupport
import SkerryTesting
import SkerryWire
import Testing

/// Batches, and what is tried again.
extension OutboxCases {
  /// What a proxy in front of the server does to requests that are too much for it.
  enum Proxy: String, CaseIterable {
    case says413, says503, closesTheSocket

    /// Nil for a request that it lets pass.
    func refusal(of rows: Int, _ bytes: Int) -> Result<TransportResponse, TransportError>? {
      switch self {
      case .says413: bytes > 8_000 ? .success(Story.answer(413, "text/html")) : nil
      case .says503: rows > 20 ? .success(Story.answer(503)) : nil
      case .closesTheSocket: rows > 30 ? .failure(.broken("reset by peer")) : nil
      }
    }
  }

  @Test(arguments: Proxy.allCases)
  func `B30 a batch that is too heavy for something on the way is cut until it passes, and the size is remembered`(
    _ proxy: Proxy
  ) throws {
    let story = try Story([:])
    try story.world.open("a", user: "ana", policy: TimingPolicy(batch: 100, page: 2_000))
    for number in 0..<400 { try story.insert("a", "i\(number)") }
    let codec = JSONCodec(catalog: story.world.catalog)
    let session = try story.device("a").session
    var (pushes, rounds) = (0, 0)
    while try story.store("a").outboxCount() > 0, rounds < 600 {
      rounds += 1
      story.world.ambient.advance(by: 120_000)
      session.note(.syncWanted)
      while case .exchange(let exchange) = try session.next(), pushes < 600 {
        let bytes = exchange.request.body.count
        let rows = exchange.isPush ? try codec.decodePushRequest(exchange.request.body).mutations.count : 0
        pushes += exchange.isPush ? 1 : 0
        let answer = try proxy.refusal(of: rows, bytes) ?? .success(story.serve(exchange, "a"))
        try session.take(answer, for: exchange)
      }
    }
    #expect(pushes < 4 * 20, "\(pushes) pushes")
    story.end()
    #expect(try story.server("SELECT count(*) FROM item") == ["400"])
    #expect(try story.refusals("a").isEmpty)
  }

  @Test func `B29 more bad entries than a batch holds do not hide the good ones behind them`() throws {
    let story = try Story(["a": "ana"])
    let bad = try (0..<5).map { try story.insert("a", "bad\($0)") }
    for number in 0..<6 { try story.insert("a", "good\(number)") }
    for _ in 0..<40 {
      try story.round("a") { exchange in
        let isBad = String(decoding: exchange.request.body, as: UTF8.self).contains("[\"bad")
        return exchange.isPush && isBad ? Story.answer(500) : try story.serve(exchange, "a")
      }
    }
    #expect(try story.server("SELECT count(*) FROM item") == ["6"])
    #expect(try story.store("a").outbox().map(\.id) == bad)
    // The cause is found, and somebody takes up again what was set aside.
    for entry in try story.store("a").outbox() where entry.state == .failed { try story.store("a").retry(entry.id) }
    story.end()
    #expect(try story.server("SELECT count(*) FROM item") == ["11"])
  }

  @Test func `B116 a backlog that met an outage goes in batches again, and not one by one`() throws {
    let story = try Story([:])
    try story.world.open("a", user: "ana", policy: TimingPolicy(batch: 100, page: 2_000))
    for number in 0..<200 { try story.insert("a", "i\(number)") }
    for _ in 0..<10 { try story.round("a") { _ in Story.answer(503) } }
    var traffic = Traffic()
    for _ in 0..<3 { try story.round("a", counting: &traffic) }
    #expect(traffic.pushes < 25, "\(traffic.pushes) pushes")
    #expect(traffic.mostOffers == 1)
    story.end()
  }

  @Test(arguments: [0, 1, 9, 10, 11, 20, 21])
  func `B38 a number of rows that just fills its pages takes as many pulls as pages, and one more at most`(
    _ count: Int
  ) throws {
    let story = try Story([:])
    try story.world.open("a", user: "ana", policy: TimingPolicy(batch: 10, page: 10))
    try story.sync("a")
    for number in 0..<count { try story.foreign("INSERT INTO item(id, home) VALUES ('i\(number)', 'user:ana')") }
    var traffic = Traffic()
    try story.round("a", counting: &traffic)
    #expect((max(1, (count + 9) / 10)...(count + 9) / 10 + 1).contains(traffic.pulls), "\(traffic.pulls) pulls")
    #expect(traffic.rows.count == count)
    #expect(try story.store("a").cursor?.position == story.world.server.history().head)
    // And the same number the other way.
    for number in 0..<count { try story.set("a", "i\(number)", ["a": "x"]) }
    var back = Traffic()
    try story.round("a", counting: &back)
    #expect(back.pushes == (count + 9) / 10)
    #expect(back.mostOffers <= 1)
    story.end()
  }

  @Test func `B39 only what an answer judges leaves, whatever it says of the others`() throws {
    let story = try Story([:])
    try story.world.open("a", user: "ana", policy: TimingPolicy(batch: 10, page: 50))
    let ids = try (0..<10).map { try story.insert("a", "i\($0)") }
    let store = try story.store("a")
    let push = try #require(try story.ask("a"))
    _ = story.verdicts(try Story.push(Array(store.offer(ids).prefix(6)), from: store))
    let words =
      ids.prefix(6).map { "{\"kind\":\"settled\",\"id\":\"\($0)\",\"outcome\":\"confirmed\"}" } + [
        "{\"kind\":\"busy\",\"id\":\"\(ids[6])\"}", "{\"kind\":\"notYet\",\"id\":\"\(ids[7])\"}",
        "{\"kind\":\"E_FUTURE_42\",\"id\":\"\(ids[8])\"}",
      ]
    let text = "{\"protocol\":3,\"request\":\"\(push.name)\",\"verdicts\":[\(words.joined(separator: ","))]}"
    try story.hear("a", Story.answer(200, "application/json", text), push)
    #expect(try store.ready(limit: 99) == Array(ids.suffix(4)))
    story.end()
    #expect(try story.server("SELECT count(*) FROM item") == ["10"])
    #expect(try story.refusals("a").isEmpty)
  }

  @Test func `B40 the wait that the server names is kept, and without one the waits grow as they are documented`()
    throws
  {
    let story = try Story()
    try story.insert("a", "i")
    let ambient = story.world.ambient
    let session = try story.device("a").session
    /// Lets the time pass until the next request, a second at a time, and tells how long that took.
    func untilAsked() throws -> (SyncSession.Exchange, Int64) {
      let start = ambient.now()
      while ambient.now() < start + 4_000_000 {
        session.note(.syncWanted)
        if case .exchange(let exchange) = try session.next() { return (exchange, ambient.now() - start) }
        ambient.advance(by: 1_000)
      }
      throw WorldError("it never asks again")
    }
    for seconds: Int64 in [300, 1, 3_000] {
      let (exchange, _) = try untilAsked()
      try story.hear("a", Story.answer(429, retryAfter: seconds * 1_000), exchange)
      session.note(.syncRequested)
      let (next, wait) = try untilAsked()
      #expect(wait >= seconds * 1_000)
      try story.hear("a", try story.serve(next, "a"), next)
    }
    try story.sync("a")
    var bound: Int64 = 1_000
    for _ in 0..<12 {
      let (exchange, wait) = try untilAsked()
      #expect(wait <= max(bound, 30_000) + 1_000)
      try story.hear("a", Story.answer(503), exchange)
      bound = min(60_000, bound * 2)
    }
    story.end()
    #expect(try story.server() == ["i - 0"])
  }
}
