// SPDX-License-Identifier: Apache-2.0

import SkerryMachine
import Testing

@Suite struct BackOffTests {
  @Test func `the waits after failures lie between nothing and a bound that doubles up to a minute`() {
    for isLongest in [false, true] {
      let talk = Conversation()
      for bound: Int64 in [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000] {
        talk.random = isLongest ? UInt64(bound) : 0
        talk.expect(.pull(limit: 2_000))
        talk.fail()
        if isLongest { talk.expect(wait: bound) }
        talk.pass(isLongest ? bound : 0)
      }
    }
  }

  @Test func `a page that was taken ends the growth of the waits`() {
    let talk = Conversation()
    for _ in 0..<5 {
      talk.expect(.pull(limit: 2_000))
      talk.fail()
    }
    talk.expect(.pull(limit: 2_000))
    talk.hear(.pageTaken(isLast: false))
    talk.random = 1_000
    talk.fail()
    talk.expect(wait: 1_000)
  }

  @Test func `no number of writes shortens the wait of a failing server`() {
    let talk = Conversation(ready: [one])
    talk.random = 1_000
    talk.expect(.push([one]))
    talk.fail(503, one)
    talk.ready = [one, two]
    for _ in 0..<10 { talk.hear(.syncWanted) }
    talk.expect(wait: 1_000)
  }

  @Test func `F-L27 a person who asks ends a wait that the server did not ask for`() {
    let talk = Conversation()
    for _ in 0..<10 {
      talk.expect(.pull(limit: 2_000))
      talk.random = 60_000
      talk.hear(.failed(.unreachable, offered: []))
      talk.hear(.syncRequested)
    }
    talk.finishRound()
    #expect(talk.condition == .idle)
  }

  @Test func `F-N11 Retry-After is kept, with jitter on top, even when a person asks`() {
    let talk = Conversation(ready: [one])
    talk.random = 250
    talk.expect(.push([one]))
    talk.fail(429, retryAfter: 300_000, one)
    talk.hear(.syncRequested)
    talk.expect(wait: 300_250)
    #expect(talk.condition == .failing(status: 429))
    talk.pass(300_249)
    talk.hear(.syncRequested)
    talk.expect(wait: 1)
    talk.pass(1)
    talk.expect(.pull(limit: 2_000))
  }

  @Test func `F-N11 a renewed token does not end a wait that the server asked for`() {
    let talk = Conversation()
    talk.expect(.pull(limit: 2_000))
    talk.fail(429, retryAfter: 300_000)
    talk.hear(.authenticated)
    talk.hear(.syncWanted)
    talk.hear(.syncRequested)
    talk.expect(wait: 300_000)
  }

  @Test(
    arguments: [
      (nil, 0), (0, 0), (-5, 0), (1_000, 1_000), (3_600_000, 3_600_000), (3_600_001, 3_600_000),
      (1_000_000_000_000, 3_600_000), (.max, 3_600_000), (.min, 0),
    ] as [(Int64?, Int64)])
  func `F-N11 Retry-After is capped at an hour, and nonsense is none`(_ wanted: Int64?, _ least: Int64) {
    let talk = Conversation()
    talk.expect(.pull(limit: 2_000))
    talk.fail(503, retryAfter: wanted)
    if least == 0 { talk.expect(.pull(limit: 2_000)) } else { talk.expect(wait: least) }
  }

  @Test func `a clock that is set back holds nothing up for longer than the longest wait`() {
    let talk = Conversation()
    talk.finishRound()
    talk.pass(-86_400_000)
    talk.expect(.pull(limit: 2_000))
    talk.hear(.pageTaken(isLast: true))
    talk.expect(wait: 30_000)
  }

  @Test func `a clock that is set back a little does not make a failing server's wait vanish`() {
    let talk = Conversation()
    talk.expect(.pull(limit: 2_000))
    talk.fail(503, retryAfter: 60_000)
    talk.pass(-1_000)
    talk.expect(wait: 61_000)
  }

  @Test func `a clock that jumps ahead ends the rest and nothing else`() {
    let talk = Conversation(ready: [one])
    talk.finishRound()
    talk.ready = [two]
    talk.pass(366 * 86_400_000)
    talk.expect(.push([two]))
  }

  @Test func `F-N08 a request that nobody answered is neither lost nor failed`() {
    let talk = Conversation(ready: [one, two])
    for _ in 0..<20 {
      if talk.offered() != [one, two] {
        talk.hear(.failed(.unreachable, offered: []))
        continue
      }
      talk.hear(.failed(.unreachable, offered: [one, two]))
      #expect(talk.consequence == .none)
      #expect(talk.condition == .unreachable)
    }
    #expect(talk.ready == [one, two])
  }

  @Test func `F-N22 a line that flaps for an hour is asked a bounded number of times`() {
    let talk = Conversation(ready: [one])
    var generator = Xorshift(state: 7)
    var requests = 0
    for _ in 0..<18_000 {
      talk.random = generator.next()
      switch talk.command() {
      case .push(let ids): talk.hear(.failed(.unreachable, offered: ids))
      case .pull: talk.hear(.failed(.unreachable, offered: []))
      case .wait: requests -= 1
      }
      requests += 1
      talk.hear(.syncWanted)
      talk.pass(200)
    }
    #expect(requests > 30)
    #expect(requests < 250)
  }
}

/// A small generator (Marsaglia's xorshift): the same numbers in each run.
struct Xorshift {
  var state: UInt64
  mutating func next() -> UInt64 {
    state ^= state << 13
    state ^= state >> 7
    state ^= state << 17
    return state
  }
}
