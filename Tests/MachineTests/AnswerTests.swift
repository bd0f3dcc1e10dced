// SPDX-License-Identifier: Apache-2.0

import SkerryMachine
import SkerryModel
import SkerryWire
import Testing

@Suite struct AnswerTests {
  @Test(arguments: Portals.strangers)
  func `F-N10 a captive portal is never an answer, a refusal or a question for the password`(_ row: NamedResponse) {
    #expect(Answer(row.response) == .transient(status: row.response.status, retryAfter: nil))
  }

  @Test(arguments: Portals.look)
  func `F-N10 what only looks like an answer is none for the codec`(_ row: NamedResponse) throws {
    guard case .body(let bytes) = Answer(row.response) else { return #expect(Bool(false), "it is not looked at") }
    let codec = JSONCodec(catalog: try Catalog(AnswerTests.schema))
    #expect(throws: WireError.self) { try codec.decodePullAnswer(bytes) }
    #expect(throws: WireError.self) { try codec.decodePushAnswer(bytes) }
  }

  @Test func `an answer of ours is one, so that the tables above can fail`() throws {
    let codec = JSONCodec(catalog: try Catalog(AnswerTests.schema))
    let own = NamedResponse("ours", 200, "application/json", "{\"protocol\":3,\"verdicts\":[]}")
    guard case .body(let bytes) = Answer(own.response) else { return #expect(Bool(false)) }
    #expect(try codec.decodePushAnswer(bytes).verdicts.isEmpty)
  }

  static let statuses: [(Int, String?, Answer)] = [
    (200, "application/json", .body([])),
    (401, "application/problem+json", .needsAuthentication),
    (413, "application/problem+json", .tooLarge(isOurs: true)), (413, "text/html", .tooLarge(isOurs: false)),
    (413, nil, .tooLarge(isOurs: false)),
    (403, "application/problem+json", .refused(status: 403)),
    (403, "text/html", .transient(status: 403, retryAfter: nil)),
    (409, "application/problem+json", .refused(status: 409)),
    (426, "application/problem+json", .refused(status: 426)),
    (400, "application/problem+json", .transient(status: 400, retryAfter: nil)),
    (404, "application/problem+json", .transient(status: 404, retryAfter: nil)),
    (408, nil, .transient(status: 408, retryAfter: nil)), (425, nil, .transient(status: 425, retryAfter: nil)),
    (429, "application/problem+json", .transient(status: 429, retryAfter: nil)),
    (500, "application/problem+json", .transient(status: 500, retryAfter: nil)),
    (500, "application/json", .transient(status: 500, retryAfter: nil)),
    (502, "text/html", .transient(status: 502, retryAfter: nil)), (503, nil, .transient(status: 503, retryAfter: nil)),
    (504, nil, .transient(status: 504, retryAfter: nil)),
  ]

  @Test(arguments: statuses.indices)
  func `a response is judged by status and media type`(_ index: Int) {
    let (status, type, expected) = AnswerTests.statuses[index]
    #expect(Answer(TransportResponse(status: status, contentType: type, body: [])) == expected)
  }

  @Test func `Retry-After is handed on as it came`() {
    for wait: Int64? in [nil, 0, -1, 5_000, .max] {
      let response = TransportResponse(status: 503, contentType: nil, retryAfter: wait, body: [])
      #expect(Answer(response) == .transient(status: 503, retryAfter: wait))
    }
  }

  @Test func `what kept a response from coming is no judgement`() {
    let errors: [TransportError] = [
      .unreachable("no route"), .timedOut("connect"), .broken("reset"), .cancelled,
    ]
    for error in errors { #expect(Answer(error) == .unreachable) }
    #expect(Answer(TransportError.tooLarge(limit: 1)) == .transient(status: 0, retryAfter: nil))
  }

  static let schema = Schema(
    "tiny", version: 1,
    features: [
      FeatureDefinition(
        "all", .replica,
        tables: [
          TableDefinition(
            "thing", columns: [ColumnDefinition("id", .text), ColumnDefinition("owner", .text)],
            spaces: [.owner(column: "owner", kind: "user")])
        ])
    ])
}
