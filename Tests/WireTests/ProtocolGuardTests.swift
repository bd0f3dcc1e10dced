// SPDX-License-Identifier: Apache-2.0

import SkerryModel
import SkerryWire
import Testing

@Suite("The protocol's version") struct ProtocolGuardTests {
  /// What each version of the protocol looks like: a hash over an example of each message and over all words.
  private static let known = [
    1: "55cc7ea846224ad22dc8fbe7d7db77a2c8121fdb933ec14fdefd0bc3426af3e5",
    2: "147006a1fde368df93c3b837b23492bfd3da3dcc1205c4828565d4bb363666fe",
    3: "8a4eaa02ba6f9c3e87fbd0156272503c67f495e891394d8458b0cdfca39b079f",
  ]

  @Test func `a change of the messages needs a new protocol version`() throws {
    var text = ""
    for (name, bytes) in try Examples.all() { text += name + "\n" + String(decoding: bytes, as: UTF8.self) + "\n" }
    let words: [[String]] = [
      OperationKind.allCases.map(\.rawValue), VerdictKind.allCases.map(\.rawValue), AnswerKind.allCases.map(\.rawValue),
      ItemKind.allCases.map(\.rawValue), [Outcome.confirmed, .rejected, .conflicted, .void].map(\.rawValue),
      [ResetReason.first, .expired, .history].map(\.rawValue),
    ]
    text += words.map { $0.joined(separator: " ") }.joined(separator: "\n")
    let hash = Hex.text(SHA256.hash(Array(text.utf8)))
    #expect(
      ProtocolGuardTests.known[ProtocolVersion.current] == hash,
      """
      The messages are not those of protocol \(ProtocolVersion.current): their hash is \(hash). Devices with the older \
      ones are out there. Raise ProtocolVersion.current, add its line of history, change docs/protocol.md, and add the \
      hash under the new number; leave the old lines as they are.
      """)
  }

  @Test func `the versions make a range`() {
    #expect(ProtocolVersion.minimum <= ProtocolVersion.current)
    #expect(ProtocolVersion.minimum >= 1)
  }

  @Test func `a message of another version is refused with a code of its own`() throws {
    for (name, bytes) in try Examples.all() {
      for number in [Int64(ProtocolVersion.minimum) - 1, Int64(ProtocolVersion.current) + 1, .max, .min] {
        let json = try JSON(parsing: bytes).replacing(JSONPath(steps: [.member("protocol")]), with: .integer(number))
        let error = #expect(throws: WireError.self) { try Examples.decode(name, json.encoded) }
        #expect(error?.code == .protocolVersion)
        #expect(error?.offset == 12)
      }
    }
  }

  @Test func `the version is judged before anything else in the message`() throws {
    let text = #"{"what":"a later protocol looks quite different","protocol":99}"#
    for (name, _) in try Examples.all() {
      let error = #expect(throws: WireError.self) { try Examples.decode(name, Array(text.utf8)) }
      #expect(error?.code == .protocolVersion)
      #expect(error?.found == "a newer one")
    }
  }
}
