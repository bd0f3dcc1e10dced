// SPDX-License-Identifier: Apache-2.0
import SkerryMachine
import SkerryModel
import SkerryStore
import SkerryTesting
import SkerryWire

extension Story {
  /// A push of these mutations, as the device would send them.
  static func push(_ mutations: [Mutation], from store: Store) throws -> TransportRequest {
    let request = PushRequest(
      schema: SchemaStamp(store.catalog.schema), replica: store.replicaID, cursor: store.cursor,
      settled: try store.settledMark(), mutations: mutations)
    return TransportRequest(
      path: "/v1/push", contentType: "application/json", body: JSONCodec(catalog: store.catalog).encode(request))
  }

  /// The verdicts on a push, in words.
  func verdicts(_ request: TransportRequest, as user: AccountID = "ana") -> [String] {
    let response = world.serve(request, as: user)
    guard let answer = try? JSONCodec(catalog: world.catalog).decodePushAnswer(response.body) else {
      return ["status \(response.status)"]
    }
    return answer.verdicts.map { verdict in
      switch verdict {
      case .settled(_, let outcome): "settled \(outcome.rawValue)"
      case .notYet: "notYet"
      case .busy: "busy"
      case .identityReused: "identityReused"
      case .otherHistory: "otherHistory"
      case .forbidden: "forbidden"
      }
    }
  }

  /// The answer to a pull, decoded; nil if it is none.
  func page(_ response: TransportResponse) -> PullAnswer? {
    try? JSONCodec(catalog: world.catalog).decodePullAnswer(response.body)
  }
}
