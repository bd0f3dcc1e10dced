// SPDX-License-Identifier: Apache-2.0

import Skerry
import SkerryModel
import SkerryWire

/// What a device says of itself, in the shapes that `docs/device.md` describes.
enum DeviceJSON {
  static func report(_ report: SyncReport) -> JSON {
    [
      "pushed": .init(report.pushed), "pulled": .init(report.pulled), "settled": .init(report.settled),
      "rounds": .init(report.rounds), "failures": .init(report.failures), "undecodable": .init(report.undecodable),
      "consistent": .bool(report.isConsistent),
    ]
  }

  static func network(_ network: FaultyNetwork) -> JSON {
    let (settings, counts) = (network.settings, network.counts)
    let chances = FaultyNetwork.Fault.allCases.map { JSON.Member($0.rawValue, .real(settings.chances[$0] ?? 0)) }
    let met = FaultyNetwork.Fault.allCases.map { JSON.Member($0.rawValue, .init(counts.faults[$0] ?? 0)) }
    return [
      "offline": .bool(settings.isOffline), "chances": .object(chances),
      "next": .array(settings.next.map { .string($0.rawValue) }),
      "delayMilliseconds": .integer(settings.delayMilliseconds),
      "exchanges": .init(counts.exchanges), "met": .object(met),
    ]
  }

  /// Changes what an order names; what it does not name stays.
  static func change(_ settings: inout FaultyNetwork.Settings, by order: JSON) throws {
    if order["offline"] != nil { settings.isOffline = try order.flag("offline") }
    if let delay = try order.optionalInteger("delayMilliseconds") {
      guard 0...600_000 ~= delay else { throw UsageError(description: "delayMilliseconds is 0 to 600000") }
      settings.delayMilliseconds = delay
    }
    settings.next += try order.list("next", or: []).map { try fault($0) }
    for member in try order.members("chances") {
      guard let chance = member.value.number, 0...1 ~= chance else {
        throw UsageError(description: "the chance of \(member.name) is a number from 0 to 1")
      }
      settings.chances[try fault(.string(member.name))] = chance
    }
  }

  private static func fault(_ json: JSON) throws -> FaultyNetwork.Fault {
    if case .string(let name) = json, let fault = FaultyNetwork.Fault(rawValue: name) { return fault }
    let names = FaultyNetwork.Fault.allCases.map(\.rawValue).joined(separator: ", ")
    throw UsageError(description: "a fault is one of \(names)")
  }

  static func entry(_ entry: OutboxEntry) -> JSON {
    [
      "id": .string(entry.id.description), "label": entry.label.map { .string($0) } ?? .null,
      "madeAt": .integer(entry.madeAt),
      "state": .string(entry.state.rawValue), "attempts": .init(entry.attempts), "discarded": .bool(entry.isVoid),
      "lastError": entry.lastError.map { .string($0) } ?? .null, "operations": .array(entry.operations.map(operation)),
    ]
  }

  static func rejection(_ rejection: Rejection) -> JSON {
    [
      "id": .string(rejection.id.description), "label": rejection.label.map { .string($0) } ?? .null,
      "outcome": .string(rejection.outcome.rawValue), "code": rejection.code.map { .string($0.text) } ?? .null,
      "reason": rejection.reason.map { .string($0) } ?? .null, "at": .integer(rejection.at),
      "operations": .array(rejection.operations.map(operation)),
    ]
  }

  private static func operation(_ operation: Operation) -> JSON {
    let key = JSON.array(operation.key.values.map(\.json))
    func named(_ op: String, _ rest: [JSON.Member]) -> JSON {
      .object([.init("op", .string(op)), .init("table", .string(operation.key.table)), .init("key", key)] + rest)
    }
    func values(_ fields: [Field]) -> JSON.Member {
      .init("values", .object(fields.map { .init($0.column, $0.value.json) }))
    }
    switch operation.action {
    case .insert(let fields): return named("insert", [values(fields)])
    case .set(let fields, _): return named("update", [values(fields)])
    case .increment(let column, let amount):
      return named("increment", [.init("column", .string(column)), .init("by", .integer(amount))])
    case .delete: return named("delete", [])
    }
  }
}
