// SPDX-License-Identifier: Apache-2.0

import SkerryAmbientKit
import SkerryModel
import SkerryWire
import Testing

@Suite("Messages that are not what they should be") struct HostileMessageTests {
  @Test func `every truncation of a message is refused`() throws {
    for (name, bytes) in try Examples.all() {
      for length in 0..<bytes.count where isAccepted(name, Array(bytes[..<length])) {
        Issue.record("\(name), cut after \(length) bytes")
      }
    }
  }

  @Test func `no changed byte brings the reader down`() throws {
    var generator = SeededGenerator(seed: 6)
    for (name, bytes) in try Examples.all() {
      for _ in 0..<200 {
        var changed = bytes
        let place = Int.random(in: 0..<bytes.count, using: &generator)
        switch Int.random(in: 0...2, using: &generator) {
        case 0: changed[place] = UInt8.random(in: 0...255, using: &generator)
        case 1: changed.insert(UInt8.random(in: 0...255, using: &generator), at: place)
        default: changed.remove(at: place)
        }
        _ = isAccepted(name, changed)
      }
    }
  }

  @Test func `a message without a member that it needs is refused`() throws {
    for (name, bytes) in try Examples.all() {
      let json = try JSON(parsing: bytes)
      var accepted: Set<String> = []
      for path in json.paths() {
        guard case .member = path.steps.last else { continue }
        if isAccepted(name, json.replacing(path, with: nil).encoded) { accepted.insert(path.shape) }
      }
      #expect(accepted == MessageShapes.optional[name], "\(name)")
    }
  }

  @Test func `a member of another kind is refused`() throws {
    let kinds: [(String, JSON)] = [
      ("null", .null), ("bool", .bool(true)), ("int", .integer(7)), ("real", .real(1.5)), ("text", .string("text")),
      ("array", .array([])), ("object", .object([])),
    ]
    for (name, bytes) in try Examples.all() {
      let json = try JSON(parsing: bytes)
      var accepted: [String: String] = [:]
      for path in json.paths() {
        var taken = Set(accepted[path.shape]?.split(separator: " ").map(String.init) ?? [])
        for (kind, value) in kinds where isAccepted(name, json.replacing(path, with: value).encoded) {
          taken.insert(kind)
        }
        if !taken.isEmpty { accepted[path.shape] = kinds.map(\.0).filter(taken.contains).joined(separator: " ") }
      }
      #expect(accepted == MessageShapes.kinds[name], "\(name)")
    }
  }

  /// Texts that are no ids.
  static let badIDs = [
    "", String(repeating: "x", count: Limits.idBytes + 1), String(repeating: "é", count: Limits.idBytes / 2) + "x",
    "a\\nb",
    "a\\u0001", "\\u007f", "a\\u0085", "a\\u009fb", "\\t",
  ]

  @Test(arguments: badIDs)
  func `an id that is empty, too long or holds a control character is refused`(id: String) {
    #expect(!isAccepted("push request", push(replica: id)))
    #expect(!isAccepted("reset", reset(space: "team:" + id)))
    #expect(
      !isAccepted(
        "push answer", Array(#"{"protocol":3,"verdicts":[{"kind":"identityReused","replica":"\#(id)"}]}"#.utf8)))
  }

  @Test func `an id at the limit is taken, and so is the space of an account at the limit`() {
    let longest = String(repeating: "x", count: Limits.idBytes)
    #expect(isAccepted("push request", push(replica: longest)))
    #expect(isAccepted("push request", push(replica: "é\u{A0}😀")))
    #expect(isAccepted("reset", reset(space: "user:" + longest)))
    #expect(isAccepted("reset", reset(space: "team:a:b")))
  }

  @Test(arguments: ["", "team", ":", "team:", ":a", String(repeating: "k", count: 49) + ":a", "te\\u0001am:a"])
  func `a space without kind or id is refused`(space: String) {
    #expect(!isAccepted("reset", reset(space: space)))
    let digest = #"{"sum":"\#(String(repeating: "0", count: 64))","rows":0}"#
    let page =
      #"{"protocol":3,"kind":"page","items":[],"closes":true,"safe":0,"cursor":"\#(Examples.cursorToken)","#
      + #""digests":{"\#(space)":\#(digest)}}"#
    #expect(!isAccepted("page", Array(page.utf8)))
  }

  @Test func `each id has one text`() throws {
    let json = try JSON(parsing: Examples.all()[0].bytes)
    let id = JSONPath(steps: [.member("mutations"), .element(0), .member("id")])
    let life = JSONPath(
      steps: [.member("mutations"), .element(1), .member("ops"), .element(0), .member("incarnation")])
    let uuid = Examples.first.description
    for text in [
      uuid.uppercased(), uuid + " ", "{\(uuid)}", uuid.replacing("-", with: ""), String(uuid.dropLast()), "",
    ] {
      #expect(!isAccepted("push request", json.replacing(id, with: .string(text)).encoded), "\(text)")
    }
    for ending in ["", ":", ":00", ":01", ":+1", ":-1", ":65536", ":100000", ":1 ", ":1:1", ":x", "-0"] {
      #expect(!isAccepted("push request", json.replacing(life, with: .string(uuid + ending)).encoded), "\(ending)")
    }
    #expect(isAccepted("push request", json.replacing(life, with: .string(uuid + ":65535")).encoded))
  }

  @Test func `numbers outside their range are refused`() throws {
    let wrong: [(message: Int, member: String, number: Int64)] = [
      (0, "settled", -1), (0, "settled", .min), (2, "settled", -1), (2, "limit", 0), (2, "limit", -1), (3, "safe", -1),
    ]
    for (index, member, number) in wrong {
      let (name, bytes) = try Examples.all()[index]
      let path = JSONPath(steps: [.member(member)])
      #expect(!isAccepted(name, try JSON(parsing: bytes).replacing(path, with: .integer(number)).encoded), "\(member)")
    }
    let push = try JSON(parsing: Examples.all()[0].bytes)
    let number = JSONPath(steps: [.member("mutations"), .element(0), .member("n")])
    #expect(!isAccepted("push request", push.replacing(number, with: .integer(0)).encoded))
  }

  @Test func `a cursor has one text, and what is in it is checked`() throws {
    let token = Examples.cursorToken
    for text in [
      token + "=", token + "A", String(token.dropLast()), " " + token, token.replacing("h", with: "+"), "", "AA",
    ] {
      #expect(!isAccepted("reset", reset(cursor: text)), "\(text)")
    }
    var long = Examples.cursor
    long.owner = (0...Limits.replicaIDs).map { ReplicaID("r\($0)") }
    var spaceless = Examples.cursor
    spaceless.open = [OpenSpace(space: "team", target: 0)]
    var nameless = Examples.cursor
    nameless.owner = [""]
    for cursor in [long, spaceless, nameless] {
      let bytes = try Examples.codec().encode(.reset(Reset(reason: .first, spaces: [], cursor: cursor)))
      #expect(!isAccepted("reset", bytes))
    }
  }

  @Test func `lists are bounded`() throws {
    let codec = try Examples.codec()
    var push = Examples.pushRequest
    push.mutations = Array(repeating: push.mutations[2], count: Limits.batchMutations)
    #expect(isAccepted("push request", codec.encode(push)))
    push.mutations.append(push.mutations[0])
    let error = #expect(throws: WireError.self) { try codec.decodePushRequest(codec.encode(push)) }
    #expect(error?.code == .tooLarge)
    var pull = Examples.pullRequest
    pull.replicas = (0..<Limits.replicaIDs).map { ReplicaID("r\($0)") }
    #expect(isAccepted("pull request", codec.encode(pull)))
    for replicas in [pull.replicas + ["one more"], []] {
      pull.replicas = replicas
      #expect(!isAccepted("pull request", codec.encode(pull)))
    }
    let huge = [UInt8](repeating: UInt8(ascii: " "), count: Limits.messageBytes + 1)
    let tooLarge = #expect(throws: WireError.self) { try codec.decodePullAnswer(huge) }
    #expect(tooLarge?.code == .tooLarge)
  }

  @Test(arguments: [
    "00", "zz", String(repeating: "A", count: 64), String(repeating: "0", count: 63), String(repeating: "0", count: 66),
  ])
  func `a digest is 64 digits in lower case`(sum: String) throws {
    let json = try JSON(parsing: Examples.all()[3].bytes)
    let path = JSONPath(steps: [.member("digests"), .member("team:north"), .member("sum")])
    #expect(!isAccepted("page", json.replacing(path, with: .string(sum)).encoded))
  }

  private func push(replica: String) -> [UInt8] {
    let text = #"{"protocol":3,"schema":{"name":"crm","version":3},"replica":"\#(replica)","settled":0,"mutations":[]}"#
    return Array(text.utf8)
  }

  private func reset(space: String = "team:a", cursor: String = Examples.cursorToken) -> [UInt8] {
    Array(#"{"protocol":3,"kind":"reset","reason":"first","spaces":["\#(space)"],"cursor":"\#(cursor)"}"#.utf8)
  }

  private func isAccepted(_ name: String, _ bytes: [UInt8]) -> Bool {
    do {
      try Examples.decode(name, bytes)
      return true
    } catch {
      #expect(error is WireError)
      return false
    }
  }
}
