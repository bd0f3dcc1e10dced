// SPDX-License-Identifier: Apache-2.0

import SkerryTransport
import Testing

@testable import SkerryCurlKit

@Suite struct ReadingTests {
  /// Sun, 06 Nov 1994 08:49:37 GMT.
  static let now: Int64 = 784_111_777_000

  @Test(
    arguments: [
      ("0", 0), ("7", 7_000), ("3600", 3_600_000), ("0120", 120_000), ("99999999999", 1_000_000_000_000),
      ("99999999999999999999999999", 1_000_000_000_000), ("Sun, 06 Nov 1994 08:49:38 GMT", 1_000),
      ("Mon, 07 Nov 1994 08:49:37 GMT", 86_400_000), ("Thu, 29 Feb 1996 08:49:37 GMT", 41_472_000_000),
      ("Fri, 31 Dec 9999 23:59:60 GMT", 1_000_000_000_000),
    ] as [(String, Int64)])
  func `advice to wait is seconds or a date`(text: String, milliseconds: Int64) {
    #expect(RetryAfter.milliseconds(text, now: Self.now) == milliseconds)
  }

  @Test(arguments: [
    "", " ", "-1", "+1", "1.5", "1e3", "0x10", "1 2", "soon", "\u{664}", "Sun, 06 Nov 1994 08:49:37 GMT",
    "Sat, 05 Nov 1994 08:49:37 GMT", "Thu, 01 Jan 1970 00:00:00 GMT", "Wed, 29 Feb 1995 00:00:00 GMT",
    "Sun, 06 Nov 2094 08:49:37", "Sun, 06 Nov 2094 08:49:37 EST", "Sun, 6 Nov 2094 08:49:37 GMT",
    "Sun, 00 Nov 2094 08:49:37 GMT", "Sun, 31 Nov 2094 08:49:37 GMT", "Sun, 06 Foo 2094 08:49:37 GMT",
    "Sun, 06 Nov 2094 24:00:00 GMT", "Sun, 06 Nov 2094 08:60:00 GMT", "Foo, 06 Nov 2094 08:49:37 GMT",
    "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994", "Sun, 06 Nov 99999 08:49:37 GMT",
  ])
  func `advice that is malformed or over is none`(text: String) {
    #expect(RetryAfter.milliseconds(text, now: Self.now) == nil)
  }

  @Test func `a date is the day that the calendar says`() {
    #expect(HTTPDate.milliseconds("Thu, 01 Jan 1970 00:00:00 GMT") == 0)
    #expect(HTTPDate.milliseconds("Sun, 06 Nov 1994 08:49:37 GMT") == Self.now)
    #expect(HTTPDate.milliseconds("Tue, 29 Feb 2000 00:00:00 GMT") == 951_782_400_000)
    #expect(HTTPDate.milliseconds("Mon, 01 Mar 2100 00:00:00 GMT") == 4_107_542_400_000)
    #expect(HTTPDate.milliseconds("Wed, 31 Dec 1969 23:59:59 GMT") == -1_000)
  }

  @Test(
    arguments: [
      ("application/json", "application/json"), ("Application/Problem+JSON; charset=utf-8", "application/problem+json"),
      (" text/html ;x=\"a;b\"", "text/html"), ("text/html;", "text/html"), ("", nil), ("text", nil), ("/", nil),
      ("text/", nil), ("/html", nil), ("a/b/c", nil), ("text /html", nil), (";a/b", nil),
    ] as [(String, String?)])
  func `a media type is read without its parameters`(text: String, essence: String?) {
    #expect(MediaType.essence(text) == essence)
  }

  @Test func `a transfer is late by its phase`() {
    let limits = CurlLimits(connect: 10, firstByte: 20, idle: 30, total: 100, responseBytes: 1)
    var watch = TransferWatch(limits)
    func progress(
      _ elapsed: Int, connected: Bool = true, sent: Int = 0, received: Int = 0, begun: Bool = false
    )
      -> TransferProgress
    {
      TransferProgress(
        elapsed: elapsed, isConnected: connected, sent: sent, toSend: 5, received: received, hasBegun: begun)
    }
    #expect(watch.look(at: progress(3, connected: false)) == .early(milliseconds: 7))
    #expect(watch.look(at: progress(10, connected: false)) == .late(.connect))
    #expect(watch.look(at: progress(11)) == .early(milliseconds: 30))
    #expect(watch.look(at: progress(40, sent: 2)) == .early(milliseconds: 30))
    #expect(watch.look(at: progress(50, sent: 5)) == .early(milliseconds: 20))
    #expect(watch.look(at: progress(65, sent: 5, received: 9)) == .early(milliseconds: 5))
    #expect(watch.look(at: progress(70, sent: 5, received: 9)) == .late(.firstByte))
    #expect(watch.look(at: progress(70, sent: 5, received: 10, begun: true)) == .early(milliseconds: 30))
    #expect(watch.look(at: progress(80, sent: 5, received: 11, begun: true)) == .early(milliseconds: 20))
    #expect(watch.look(at: progress(100, sent: 5, received: 12, begun: true)) == .late(.total))
    var standing = TransferWatch(limits)
    #expect(standing.look(at: progress(0, sent: 1)) == .early(milliseconds: 30))
    #expect(standing.look(at: progress(30, sent: 1)) == .late(.idle))
  }
}
