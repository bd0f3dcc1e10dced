// SPDX-License-Identifier: Apache-2.0

import SkerryMachine
import Testing

/// What somebody's doing ends, and time only rarely tries: a token that is not accepted, a schema or protocol that does not fit.
@Suite struct StandstillTests {
  @Test func `F-N13 a 401 is tried once more with what the token source gives then, and rests after that`() {
    let talk = Conversation(ready: [one])
    talk.expect(.push([one]))
    talk.hear(.failed(.needsAuthentication, offered: [one]))
    #expect(talk.consequence == .none)
    #expect(talk.condition == .needsAuthentication)
    talk.pass(1_000)
    talk.expect(.push([one]))
    talk.hear(.failed(.needsAuthentication, offered: [one]))
    #expect(talk.condition == .needsAuthentication)
    talk.expect(wait: 900_000)
    talk.hear(.syncWanted)
    talk.expect(wait: 900_000)
    #expect(talk.ready == [one])
    talk.hear(.syncRequested)
    talk.expect(.push([one]))
  }

  @Test func `F-N13 a new token goes on at once, with what waited`() {
    let talk = Conversation(ready: [one])
    talk.expect(.push([one]))
    talk.hear(.failed(.needsAuthentication, offered: [one]))
    talk.ready = [one, two]
    talk.hear(.authenticated)
    talk.expect(.push([one, two]))
    talk.judge(one, two)
    talk.expect(.pull(limit: 2_000))
    talk.hear(.pageTaken(isLast: true))
    talk.expect(wait: 30_000)
  }

  @Test func `B87 a 401 in the middle of a pull goes on where it was`() {
    let talk = Conversation()
    talk.expect(.pull(limit: 2_000))
    talk.hear(.pageTaken(isLast: false))
    talk.expect(.pull(limit: 2_000))
    talk.hear(.failed(.needsAuthentication, offered: []))
    talk.hear(.authenticated)
    talk.expect(.pull(limit: 2_000))
  }

  @Test func `a second 401 rests again, however often the token is renewed`() {
    let talk = Conversation()
    for _ in 0..<5 {
      talk.expect(.pull(limit: 2_000))
      talk.hear(.failed(.needsAuthentication, offered: []))
      talk.pass(1_000)
      talk.expect(.pull(limit: 2_000))
      talk.hear(.failed(.needsAuthentication, offered: []))
      talk.expect(wait: 900_000)
      talk.hear(.authenticated)
    }
  }

  @Test(arguments: [409, 426])
  func `a server that wants another schema or protocol is left alone for a quarter of an hour`(_ status: Int) {
    let talk = Conversation(ready: [one])
    talk.expect(.push([one]))
    talk.hear(.failed(.refused(status: status), offered: [one]))
    #expect(talk.consequence == .none)
    #expect(talk.condition == .refused(status: status))
    talk.hear(.syncWanted)
    talk.expect(wait: 900_000)
    talk.pass(900_000)
    talk.expect(.push([one]))
  }
}
