// SPDX-License-Identifier: Apache-2.0

import SkerryHTTPKit
import SkerrySockets
import Testing

@Suite struct RefusalTests {
  let fixture = try? ServerFixture()
  var server: ServerFixture { get throws { try #require(fixture) } }

  @Test func `an unknown path is a 404, and the connection goes on`() throws {
    let client = try server.client()
    try client.send("GET /nowhere HTTP/1.1\r\nHost: x\r\n\r\n")
    let response = try #require(try client.response())
    #expect(response.status == 404)
    #expect(response["Content-Type"] == "application/problem+json")
    try client.send("GET /hello HTTP/1.1\r\nHost: x\r\n\r\n")
    #expect(try client.response()?.status == 200)
  }

  @Test(arguments: [
    ("DELETE", "/echo", "POST, PUT"), ("POST", "/hello", "GET, HEAD"), ("get", "/hello", "GET, HEAD"),
    ("OPTIONS", "/echo", "POST, PUT"), ("TRACE", "/hello", "GET, HEAD, POST, PUT"),
    ("CONNECT", "x:80", "GET, HEAD, POST, PUT"),
  ])
  func `a wrong method is a 405 that names the right ones`(method: String, path: String, allowed: String) throws {
    let response = try #require(try server.ask("\(method) \(path) HTTP/1.1\r\nHost: x\r\n\r\n"))
    #expect(response.status == 405)
    #expect(response["Allow"] == allowed)
  }

  @Test func `a body for no route is refused unread`() throws {
    let client = try server.client()
    try client.send("POST /nowhere HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n")
    let response = try #require(try client.response())
    #expect(response.status == 404)
    #expect(response["Connection"] == "close")
    #expect(try client.isAtEnd())
  }

  @Test func `a length over the limit is a 413 at once`() throws {
    let client = try server.client()
    try client.send("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 1001\r\n\r\n")
    let response = try #require(try client.response())
    #expect(response.status == 413)
    #expect(response.body.contains("1000 bytes"))
    #expect(try client.isAtEnd())
    let most = try server.ask(
      "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n" + String(repeating: "a", count: 1_000))
    #expect(most?.body.utf8.count == 1_000)
  }

  @Test func `a body without a length is cut at the limit`() throws {
    let client = try server.client()
    try client.send("POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
    let chunk = "100\r\n" + String(repeating: "a", count: 256) + "\r\n"
    for _ in 0..<4 { try client.send(chunk) }  // 1,024 bytes, and no end
    let response = try #require(try client.response())
    #expect(response.status == 413)
    #expect(response["Connection"] == "close")
    #expect(response["Cache-Control"] == "no-store")
    #expect(response["Content-Type"] == "application/problem+json")
    #expect(try client.isAtEnd())
  }

  @Test(arguments: [
    "Content-Length: 5\r\nContent-Length: 5", "Content-Length: 5\r\nContent-Length: 6",
    "Content-Length: 5\r\nTransfer-Encoding: chunked", "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
    "Transfer-Encoding: gzip", "Transfer-Encoding: gzip, chunked", "Transfer-Encoding: identity",
    "Transfer-Encoding: chunked, chunked", "Content-Length: +5", "Content-Length: 5,5", "Content-Length: 0x5",
    "Content-Length: -1", "Content-Length: 5 5", "Content-Length:", "Host: y", "Bad Name: x", "Bad: \u{1}",
    "Content-Length : 5", "N\u{E9}: x",
  ])
  func `a head that two readers could read differently is a 400, and the end`(field: String) throws {
    let client = try server.client()
    try client.send("POST /echo HTTP/1.1\r\nHost: x\r\n\(field)\r\n\r\n0\r\n\r\nGET /fail HTTP/1.1\r\nHost: x\r\n\r\n")
    let answer = try client.readToEnd()
    #expect(answer.hasPrefix("HTTP/1.1 400 "))
    #expect(!answer.contains("HTTP/1.1 2") && !answer.contains("HTTP/1.1 5"))  // the second request was not read
    #expect(try server.events.all == [])
  }

  @Test func `a length beyond 64 bits is refused`() throws {
    let client = try server.client()
    try client.send("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 18446744073709551616\r\n\r\n")
    #expect(try client.readToEnd().hasPrefix("HTTP/1.1 413 "))
  }

  @Test func `a request names its host, unless it is of HTTP 1 point 0`() throws {
    #expect(try server.ask("GET /hello HTTP/1.1\r\n\r\n")?.status == 400)
    #expect(try server.ask("GET /hello HTTP/1.0\r\n\r\n")?.status == 200)
  }

  @Test(arguments: [
    ("/%00", 400), ("/hello%00", 400), ("//", 400), ("//hello", 400), ("/./hello", 400), ("/x/../hello", 400),
    ("/%2e%2e/hello", 400), ("/%2E/hello", 400), ("/hello%2F", 400), ("/hello%5C", 400), ("/hello/", 400),
    ("/%", 400), ("/%4", 400), ("/%zz", 400), ("/%FF", 400), ("/%C0%80", 400), ("http://x/hello", 400), ("*", 400),
    ("hello", 400), ("/hello#x", 400), ("/he llo", 400), ("/hel|lo", 400), ("/hello?x=1", 400), ("/hello?", 400),
    ("/%2568ello", 404), ("/Hello", 404), ("/%E2%84%AA", 404), ("/%68ello", 200), ("/K", 200), ("/a%20b/%C3%BC", 200),
    ("/query?a=%20&b", 200),
  ])
  func `a path is decoded once and strictly`(target: String, status: Int) throws {
    #expect(try server.get(target)?.status == status)
  }

  @Test func `a query is handed on as it came`() throws {
    #expect(try server.get("/query?a=%20&b=?")?.body == "a=%20&b=?")
    #expect(try server.get("/query")?.body == "none")
  }

  @Test func `long and many are refused`() throws {
    #expect(try server.get("/" + String(repeating: "a", count: 3_000))?.status == 414)
    let many = (0..<101).map { "X\($0): y\r\n" }.joined()
    #expect(try server.ask("GET /hello HTTP/1.1\r\nHost: x\r\n\(many)\r\n")?.status == 431)
    let long = "X: " + String(repeating: "y", count: 17_000) + "\r\n"
    #expect(try server.ask("GET /hello HTTP/1.1\r\nHost: x\r\n\(long)\r\n")?.status == 431)
    let huge = "X: " + String(repeating: "y", count: 100_000)
    #expect(try server.ask("GET /hello HTTP/1.1\r\nHost: x\r\n\(huge)")?.status == 431)
    #expect(try server.ask("GET /" + String(repeating: "y", count: 100_000))?.status == 414)
  }
}
