// SPDX-License-Identifier: Apache-2.0

import SkerryModel
import SkerryWire

/// One message of each kind with every member that the protocol has. `docs/protocol.md` shows these very messages, the
/// guard hashes them, and most tests begin with them.
enum Examples {
  static let schema = Schema(
    "crm", version: 3,
    spaces: [SpaceDefinition("team", members: .table("memberships", space: "team", user: "account"))],
    features: [
      FeatureDefinition(
        "contacts", .replica,
        tables: [
          TableDefinition(
            "people",
            columns: [
              ColumnDefinition("id", .uuid), ColumnDefinition("team", .text), ColumnDefinition("name", .text),
              ColumnDefinition("email", .text, optional: true), ColumnDefinition("active", .boolean),
              ColumnDefinition("score", .real), ColumnDefinition("photo", .blob, optional: true),
              ColumnDefinition("visits", .integer, rule: .counter),
            ],
            spaces: [.owner(column: "team", kind: "team")], detection: .version),
          TableDefinition(
            "memberships",
            columns: [
              ColumnDefinition("account", .text), ColumnDefinition("role", .text), ColumnDefinition("team", .text),
            ],
            key: ["team", "account"], spaces: [.owner(column: "team", kind: "team")]),
        ])
    ])

  static func codec() throws -> JSONCodec { JSONCodec(catalog: try Catalog(schema)) }

  static let stamp = SchemaStamp(schema)
  static let ana: ReplicaID = "b1f0a7c2d9e84e55"
  static let team: SpaceID = "team:north"
  static let person = RowKey("people", "0197a0de-0000-7000-8000-00000000000a")
  static let other = RowKey("people", "0197a0de-0000-7000-8000-00000000000b")
  static let membership = RowKey("memberships", "north", "ana")
  static let first = id(1)
  static let second = id(2)
  static let third = id(3)

  static func id(_ number: UInt64) -> MutationID {
    MutationID(raw: Bytes16(high: 0x0197_A0DE_0000_7000, low: 0x8000_0000_0000_0000 | number))
  }

  static let life = Incarnation(tag: first.tag, index: 0)

  static let cursor = Cursor(
    epoch: "e1", position: 40, head: 42, nonce: "n7", owner: [ana],
    open: [OpenSpace(space: team, after: person, target: 41)], schema: 3, again: PositionRange(after: 20, upTo: 30))

  /// The cursor as it stands in the messages.
  static let cursorToken =
    "iQJiZTEYKBgqYm43gXBiMWYwYTdjMmQ5ZTg0ZTU1gYRqdGVhbTpub3J0aGZwZW9wbGWBeCQwMTk3YTBkZS0wMDAwLTcwMDAtODAwMC0wMD"
    + "AwMDAwMDAwMGEYKQOCFBge"

  static let pushRequest = PushRequest(
    schema: stamp, replica: ana, cursor: cursor, settled: 5,
    mutations: [
      Mutation(
        id: first, number: 6,
        operations: [
          Operation(
            person, nil,
            .insert([
              Field("active", 1), Field("name", "Zoë"), Field("photo", .blob([0xFF, 0xD8])), Field("score", 4.5),
              Field("team", "north"),
            ]))
        ]),
      Mutation(
        id: second, number: 7, after: [first],
        operations: [
          Operation(person, life, .set([Field("email", nil)], base: first.tag)),
          Operation(person, life, .increment("visits", by: 2)), Operation(other, life, .delete, place: 4),
        ]),
      Mutation(id: third, number: 8, after: [], operations: [], isVoid: true),
    ])

  static let pushAnswer = PushAnswer(verdicts: [
    .settled(first, .confirmed), .settled(second, .conflicted), .notYet(third), .busy(id(4)), .identityReused(ana),
    .otherHistory, .forbidden,
  ])

  static let pullRequest = PullRequest(
    schema: stamp, replicas: ["77aa", ana], cursor: cursor, settled: 6, limit: 500)

  static let row = RowImage(
    key: person, version: first.tag, incarnation: life,
    values: [person.values[0], "north", "Zoë", nil, 1, 4.5, .blob([0xFF, 0xD8]), 2])

  static let page = PullAnswer.page(
    Page(
      items: [
        .gain(team), .put(team, row), .filled(team), .left(team, other, still: ["user:ana"]),
        .deleted(team, membership), .receipt(.replica(ana), Receipt(id: first, outcome: .confirmed)),
        .receipt(
          .replica(ana),
          Receipt(id: second, outcome: .rejected, code: .gone, reason: "the row was deleted")),
        .lose("team:south"),
      ],
      cursor: cursor, closes: true, safe: 40, digests: [team: digest]))

  static let reset = PullAnswer.reset(Reset(reason: .expired, spaces: ["user:ana", team], cursor: cursor))

  static var digest: SpaceDigest {
    SpaceDigest(bytes: Array(0..<32), rows: 1) ?? SpaceDigest()
  }

  /// All messages in their canonical bytes, with the name of the kind.
  static func all() throws -> [(name: String, bytes: [UInt8])] {
    let codec = try codec()
    return [
      ("push request", codec.encode(pushRequest)), ("push answer", codec.encode(pushAnswer)),
      ("pull request", codec.encode(pullRequest)), ("page", codec.encode(page)), ("reset", codec.encode(reset)),
    ]
  }

  /// Decodes with the decoder for messages of that name.
  static func decode(_ name: String, _ bytes: [UInt8]) throws {
    let codec = try codec()
    switch name {
    case "push request": _ = try codec.decodePushRequest(bytes)
    case "push answer": _ = try codec.decodePushAnswer(bytes)
    case "pull request": _ = try codec.decodePullRequest(bytes)
    default: _ = try codec.decodePullAnswer(bytes)
    }
  }
}
