// SPDX-License-Identifier: Apache-2.0

import SkerryHTTPKit
import SkerrySockets
import Testing

@Suite struct AnswerTests {
  let fixture = try? ServerFixture()
  var server: ServerFixture { get throws { try #require(fixture) } }

  @Test func `a connection serves one request after another`() throws {
    let client = try server.client()
    for text in ["one", "", "three"] {
      try client.send("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: \(text.utf8.count)\r\n\r\n\(text)")
      let response = try #require(try client.response())
      #expect(response.status == 200)
      #expect(response.body == text)
      #expect(response["Cache-Control"] == "no-store")
      #expect(response["Connection"] == nil)
    }
  }

  @Test func `pipelined requests are answered in order, and no body is taken for a request`() throws {
    let client = try server.client()
    let hidden = "GET /fail HTTP/1.1\r\nHost: x\r\n\r\n"
    try client.send(
      "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: \(hidden.utf8.count)\r\n\r\n\(hidden)"
        + "GET /hello HTTP/1.1\r\nHost: x\r\n\r\n" + "GET /nowhere HTTP/1.1\r\nHost: x\r\n\r\n")
    #expect(try client.response()?.body == hidden)
    #expect(try client.response()?.body == "hello")
    #expect(try client.response()?.status == 404)
    #expect(try server.events.all == [])
  }

  @Test func `a chunked body arrives whole`() throws {
    let response = try server.ask(
      "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: Chunked\r\n\r\n3\r\nabc\r\n4;x=y\r\ndefg\r\n0\r\nX: t\r\n\r\n"
    )
    #expect(response?.body == "abcdefg")
  }

  @Test func `an expected continue is given before the body`() throws {
    let client = try server.client()
    try client.send("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n")
    #expect(try client.response()?.status == 100)
    try client.send("abc")
    #expect(try client.response()?.body == "abc")
  }

  @Test func `a continue is refused for a body that would be too long`() throws {
    let client = try server.client()
    try client.send("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 1001\r\nExpect: 100-continue\r\n\r\n")
    #expect(try client.response()?.status == 413)
    #expect(try client.isAtEnd())
  }

  @Test func `HEAD is served by GET, without the body`() throws {
    let client = try server.client()
    try client.send("HEAD /hello HTTP/1.1\r\nHost: x\r\n\r\nGET /hello HTTP/1.1\r\nHost: x\r\n\r\n")
    let head = try #require(try client.response(toHead: true))
    #expect(head.status == 200)
    #expect(head["Content-Length"] == "5")
    #expect(try client.response()?.body == "hello")
  }

  @Test func `header fields are found in either case, and duplicates stay visible`() throws {
    let headers = HTTPHeaders([.init("X-One", "1"), .init("x-one", "2"), .init("\u{212A}", "3")])
    #expect(headers["X-ONE"] == "1")
    #expect(headers.values("x-One") == ["1", "2"])
    #expect(headers["k"] == nil)
    let response = try server.ask("GET /head HTTP/1.1\r\nHost: x\r\nA:  b \t\r\na: c\r\nE:\r\n\r\n")
    #expect(response?.body == "Host=x\nA=b\na=c\nE=")
  }

  @Test func `a thrown problem is the answer, with its advice`() throws {
    let response = try #require(try server.get("/busy"))
    #expect(response.status == 429)
    #expect(response["Retry-After"] == "7")
    #expect(response["Content-Type"] == "application/problem+json")
    #expect(response["Cache-Control"] == "no-store")
    #expect(
      response.body
        == #"{"type":"about:blank","title":"Too Many Requests","status":429,"detail":"Too \"many\"."}"# + "\n")
  }

  @Test func `a failing handler gives a 500 that says nothing of it, and the owner hears`() throws {
    let response = try #require(try server.get("/fail"))
    #expect(response.status == 500)
    #expect(!response.body.contains("hunter2"))
    #expect(try server.events.all == ["GET /fail failed: password=hunter2"])
  }

  @Test func `an answer cannot be split by a line break in a field`() throws {
    let response = try #require(try server.get("/split"))
    #expect(response.status == 500)
    #expect(response["Set-Cookie"] == nil)
    #expect(try server.events.all.count == 1)
  }

  @Test func `admission is judged before the body, and once more let in`() throws {
    let client = try server.client()
    try client.send("POST /guarded HTTP/1.1\r\nHost: x\r\nContent-Length: 900\r\n\r\n")
    let refused = try #require(try client.response())
    #expect(refused.status == 401)
    #expect(refused["WWW-Authenticate"] == "Bearer")
    #expect(try client.isAtEnd())
    let admitted = try server.ask(
      "POST /guarded HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer good\r\nContent-Length: 2\r\n\r\nab")
    #expect(admitted?.body == "2")
  }

  @Test func `a problem's text is escaped as JSON`() {
    let problem = HTTPProblem(400, "a\"b\\c\u{1}\n", type: "urn:x", title: "T", retryAfter: nil)
    let json = #"{"type":"urn:x","title":"T","status":400,"detail":"a\"b\\c\u0001\u000a"}"# + "\n"
    #expect(problem.response.body == Array(json.utf8))
  }
}
