// SPDX-License-Identifier: Apache-2.0
import SkerryMachine
import SkerryModel
import SkerrySQLiteKit
import SkerryServerCore
import SkerryStore
import SkerryTesting
import Testing

/// FAULTS.md, section 2.1: what comes back in place of an answer.
@Suite struct AnswerStories {
  private static let html = "<html><body>Sign in</body></html>"

  private func response(
    _ status: Int, _ type: String?, _ body: String = "", retryAfter: Int64? = nil
  ) -> TransportResponse {
    TransportResponse(status: status, contentType: type, retryAfter: retryAfter, body: Array(body.utf8))
  }

  /// A device with work waiting, and rows of others to fetch.
  private func story() throws -> Story {
    let story = try Story()
    try story.insert("a", "i", ["n": 1])
    try story.insert("a", "j")
    try story.foreign("INSERT INTO item(id, home) VALUES ('k', 'user:ana')")
    return story
  }

  /// Nothing is lost, shown or settled by what answers; afterwards all converges.
  private func expectHarmless(
    _ story: Story, rounds: Int, at location: SourceLocation = #_sourceLocation, _ answer: () -> TransportResponse
  ) throws {
    let before = try (story.store("a").outbox().map(\.id), story.screen("a"), story.store("a").cursor)
    var asked = 0
    for _ in 0..<rounds {
      try story.round("a") { _ in
        asked += 1
        return answer()
      }
    }
    #expect(asked >= rounds, sourceLocation: location)
    let after = try (story.store("a").outbox().map(\.id), story.screen("a"), story.store("a").cursor)
    #expect(before == after, sourceLocation: location)
    #expect(try story.store("a").outbox().allSatisfy { $0.state != .failed }, sourceLocation: location)
    #expect(try story.refusals("a").isEmpty, sourceLocation: location)
    story.end(at: location)
    #expect(try story.server() == ["i - 1", "j - 0", "k - 0"], sourceLocation: location)
  }

  @Test func `F-N09 B39 no status of a failing server drops anything from the outbox`() throws {
    let answers = [500, 502, 503, 504, 408, 425, 429, 404].flatMap { status in
      [
        response(status, "application/problem+json", "{\"status\":\(status)}"),
        response(status, "text/html", AnswerStories.html), response(status, nil),
        response(status, "application/json", "{\"protocol\":3,\"verdicts\":[]}"),
      ]
    }
    var turn = 0
    try expectHarmless(try story(), rounds: answers.count) {
      turn += 1
      return answers[turn % answers.count]
    }
    #expect(turn >= answers.count)
  }

  @Test func `F-N10 B123 a captive portal is offline, whatever it answers`() throws {
    let pages = [
      response(200, "text/html", AnswerStories.html), response(200, nil, AnswerStories.html), response(200, nil),
      response(302, "text/html", AnswerStories.html), response(307, nil),
      response(511, "text/html", AnswerStories.html),
      response(204, nil), response(200, "text/plain", "OK"), response(401, "text/html", AnswerStories.html),
      response(200, "application/json", "{\"status\":\"login required\"}"), response(200, "application/json", "{}"),
      response(200, "application/json", AnswerStories.html), response(200, "application/json"),
      response(200, "application/json", "{\"protocol\":3}"), response(403, "text/html", "blocked"),
      response(200, "application/json", "[]"), response(407, "text/html"),
      response(200, "text/json", "{\"protocol\":3,\"verdicts\":[]}"),
      response(409, "text/html"), response(426, "text/html"),
    ]
    var turn = 0
    let story = try story()
    try expectHarmless(story, rounds: pages.count) {
      turn += 1
      return pages[turn % pages.count]
    }
    #expect(turn >= pages.count)
  }

  @Test func `F-N06 a request that is cut anywhere has no effect`() throws {
    let story = try story()
    let push = try #require(try story.ask("a"))
    let before = try story.server("SELECT * FROM skerry_receipts")
    for end in 0..<push.request.body.count {
      var cut = push.request
      cut.body = Array(cut.body[..<end])
      #expect((400...499).contains(story.world.serve(cut, as: "ana").status))
    }
    #expect(try story.server("SELECT * FROM skerry_receipts") == before)
    #expect(try story.server() == ["k - 0"])
    try story.fail("a", push)
    story.end()
  }

  @Test func `F-N07 an answer that is cut anywhere is dropped as a whole`() throws {
    let story = try story()
    for kind in ["push", "pull"] {
      let exchange = try #require(try story.ask("a"))
      let whole = try story.serve(exchange, "a")
      let before = try (story.screen("a"), story.store("a").cursor, story.store("a").outboxCount())
      for end in stride(from: 0, to: whole.body.count, by: kind == "push" ? 1 : 11) {
        var cut = whole
        cut.body = Array(cut.body[..<end])
        try story.hear("a", cut, exchange)
      }
      let after = try (story.screen("a"), story.store("a").cursor, story.store("a").outboxCount())
      #expect(before == after)
      try story.hear("a", whole, exchange)
    }
    story.end()
  }

  @Test func `F-N11 B40 no request before the time that the server named`() throws {
    let story = try story()
    try story.round("a") { _ in response(429, nil, retryAfter: 300_000) }
    let session = try story.device("a").session
    for _ in 0..<10 {
      story.world.ambient.advance(by: 29_000)
      session.note(.syncWanted)
      session.note(.syncRequested)
      guard case .wait = try session.next() else { return #expect(Bool(false), "a request too early") }
    }
    story.end()
  }

  @Test
  func `F-N12 B30 a proxy that takes short requests only gets short ones, and what is too long alone is set aside`()
    throws
  {
    let story = try Story([:])
    try story.world.open("a", user: "ana", policy: TimingPolicy(batch: 16, page: 50))
    for number in 0..<20 { try story.insert("a", "i\(number)", ["n": 1]) }
    let long = try story.insert("a", "long", ["a": .text(String(repeating: "x", count: 3_000))])
    var requests = 0
    try story.round("a", limit: 200) { exchange in
      requests += 1
      let isLong = exchange.request.body.count > 2_000
      return isLong ? response(413, "application/problem+json") : try story.serve(exchange, "a")
    }
    #expect(try story.server("SELECT count(*), sum(n) FROM item") == ["20 20"])
    let entry = try #require(try story.store("a").outbox().first)
    #expect(entry.id == long)
    #expect(entry.state == .failed)
    #expect(entry.lastError?.isEmpty == false)
    #expect(requests < 40)
    try story.store("a").retry(long)
    story.end()
  }

  @Test
  func `F-N13 B29 a session that ends in the middle pauses the device, keeps everything, and goes on with a new token`()
    throws
  {
    let story = try story()
    let push = try #require(try story.ask("a"))
    try story.hear("a", try story.serve(push, "a"), push)
    let problem = response(401, "application/problem+json", "{\"status\":401}")
    // Once more with what the token source gives then; after that it is left alone until somebody signs in.
    for _ in 0..<2 { try story.round("a") { _ in problem } }
    #expect(try story.condition("a") == .needsAuthentication)
    try story.set("a", "i", ["a": "meanwhile"])
    for _ in 0..<5 { #expect(try story.ask("a") == nil) }
    #expect(try story.store("a").outboxCount() == 3)
    #expect(try story.screen("a") == ["i meanwhile 1", "j - 0"])
    try story.device("a").session.note(.authenticated)
    story.end()
    #expect(try story.server() == ["i meanwhile 1", "j - 0", "k - 0"])
  }

  @Test func `F-N18 B46 an old page that a cache repeats is not taken for the new one`() throws {
    let story = try Story()
    var cache: [TransportResponse] = []
    for number in 0..<6 {
      try story.foreign(
        number == 0 ? "INSERT INTO item(id, home, a) VALUES ('i', 'user:ana', '0')" : "UPDATE item SET a = '\(number)'")
      try story.round("a") { exchange in
        cache.append(try story.serve(exchange, "a"))
        return cache[cache.count - 1]
      }
      for old in cache {
        var asked = 0
        try story.round("a") { _ in
          asked += 1
          return old
        }
        #expect(try story.screen("a", "SELECT a FROM item") == ["\(number)"], "the screen went back")
        #expect(asked < 8, "asked \(asked) times in a row")
      }
    }
    story.end()
  }

  @Test func `B46 a reset that a cache repeats is not followed for ever`() throws {
    let story = try Story(["a": "ana"])
    try story.world.open("c", user: "ana")
    let first = try #require(try story.ask("c"))
    let reset = try story.serve(first, "c")
    try story.hear("c", reset, first)
    try story.insert("c", "i")
    var asked = 0
    try story.round("c") { exchange in
      asked += 1
      return exchange.isPush ? try story.serve(exchange, "c") : reset
    }
    #expect(asked < 8)
    #expect(try story.screen("c") == ["i - 0"])
    story.end()
  }
}
