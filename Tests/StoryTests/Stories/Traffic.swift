// SPDX-License-Identifier: Apache-2.0
import SkerryMachine
import SkerryModel
import SkerryStore
import SkerryTestSupport
import SkerryTesting
import SkerryWire

/// What went over the wire, counted.
struct Traffic {
  private(set) var pushes = 0
  private(set) var pulls = 0
  /// Answers that began a refill.
  private(set) var resets = 0
  /// The bytes of all messages, those of the longest request, and those of the longest answer.
  private(set) var bytes = 0
  private(set) var longestRequest = 0
  private(set) var longestAnswer = 0
  /// Mutations in order, as often as they were offered.
  private(set) var offered: [MutationID] = []
  /// Rows in order, as often as they came.
  private(set) var rows: [RowKey] = []

  /// How often each mutation was offered at most.
  var mostOffers: Int { Dictionary(grouping: offered, by: \.self).values.map(\.count).max() ?? 0 }
  /// How often each row came at most.
  var mostPuts: Int { Dictionary(grouping: rows, by: \.self).values.map(\.count).max() ?? 0 }

  mutating func note(_ exchange: SyncSession.Exchange, _ answer: TransportResponse, _ codec: JSONCodec) {
    let request = exchange.request.body
    bytes += request.count + answer.body.count
    longestRequest = max(longestRequest, request.count)
    longestAnswer = max(longestAnswer, answer.body.count)
    if exchange.isPush {
      pushes += 1
      if let push = try? codec.decodePushRequest(request) { offered += push.mutations.map(\.id) }
      return
    }
    pulls += 1
    switch try? codec.decodePullAnswer(answer.body) {
    case .page(let page): for case .put(_, let row) in page.items { rows.append(row.key) }
    case .reset: resets += 1
    case nil: break
    }
  }
}

extension Story {
  /// A round that is counted. What `instead` gives comes back in place of the server's answer, which is not asked then.
  func round(
    _ name: String, counting traffic: inout Traffic, limit: Int = 500,
    instead: (SyncSession.Exchange) throws -> TransportResponse? = { _ in nil }
  ) throws {
    let codec = JSONCodec(catalog: world.catalog)
    try round(name, limit: limit) { exchange in
      let answer = try instead(exchange) ?? serve(exchange, name)
      traffic.note(exchange, answer, codec)
      return answer
    }
  }

  /// An answer that is none of the server's.
  static func answer(
    _ status: Int, _ type: String? = nil, _ body: String = "", retryAfter: Int64? = nil
  )
    -> TransportResponse
  {
    TransportResponse(status: status, contentType: type, retryAfter: retryAfter, body: Array(body.utf8))
  }
}
