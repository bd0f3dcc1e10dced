// SPDX-License-Identifier: Apache-2.0

import SkerryModel

extension JSONCodec {
  // MARK: request

  package func encode(_ request: PushRequest) -> [UInt8] {
    message { writer in
      write(request.schema, to: &writer)
      write(requestName: request.request, to: &writer)
      writer.member("replica", request.replica)
      writer.member("cursor", request.cursor)
      writer.member("settled", request.settled)
      writer.name("mutations")
      writer.array(request.mutations) { write($1, to: &$0) }
    }
  }

  private func write(_ mutation: Mutation, to writer: inout JSONWriter) {
    writer.object { writer in
      writer.member("id", mutation.id)
      writer.member("n", mutation.number)
      writer.name("after")
      writer.array(mutation.after) { $0.uuid($1.raw) }
      writer.name("ops")
      writer.array(mutation.operations) { write($1, to: &$0) }
      if mutation.isVoid {
        writer.name("void")
        writer.bool(true)
      }
    }
  }

  private func write(_ operation: Operation, to writer: inout JSONWriter) {
    writer.object { writer in
      writer.member("op", OperationKind(operation).rawValue)
      writer.member("table", operation.key.table)
      writer.member("key", values: operation.key.values)
      if let incarnation = operation.incarnation { writer.member("incarnation", incarnation) }
      if let place = operation.place { writer.member("place", Int64(place)) }
      switch operation.action {
      case .insert(let fields): write(fields, to: &writer)
      case .set(let fields, let base):
        write(fields, to: &writer)
        if let base { writer.member("base", base) }
      case .increment(let column, let amount):
        writer.member("column", column)
        writer.member("by", amount)
      case .delete: break
      }
    }
  }

  private func write(_ fields: [Field], to writer: inout JSONWriter) {
    writer.name("fields")
    writer.object { writer in
      for field in fields {
        writer.name(field.column)
        writer.value(field.value)
      }
    }
  }

  package func decodePushRequest(_ bytes: [UInt8]) throws(WireError) -> PushRequest {
    let root = try open(bytes)
    let mutations = try root.required("mutations")
    if mutations.kind == .array, mutations.count > Limits.batchMutations {
      throw WireError(
        .tooLarge, at: mutations.offset, expected: "at most \(Limits.batchMutations) mutations",
        found: "\(mutations.count)")
    }
    var request = PushRequest(
      schema: try stamp(root), replica: try root.required("replica").replicaID(), cursor: try cursor(root),
      settled: try root.integer("settled", atLeast: 0), mutations: [])
    request.request = try requestName(root)
    for node in try root.elements("mutations") { request.mutations.append(try mutation(node)) }
    return request
  }

  private func mutation(_ node: JSONNode) throws(WireError) -> Mutation {
    var after: [MutationID] = []
    if try node.optional("after") != nil {
      for id in try node.elements("after") { after.append(try id.mutationID()) }
    }
    var operations: [Operation] = []
    for item in try node.elements("ops") { operations.append(try operation(item)) }
    return Mutation(
      id: try node.required("id").mutationID(), number: try node.integer("n", atLeast: 1), after: after,
      operations: operations, isVoid: try node.flag("void"))
  }

  /// Reads the shape only. That a table exists, or that the incarnation is given, is checked with the schema, where a
  /// breach rejects this mutation and not the whole push.
  private func operation(_ node: JSONNode) throws(WireError) -> Operation {
    let kind = try node.word("op", OperationKind.self)
    let key = RowKey(try node.text("table"), values: try node.required("key").keyValues())
    let incarnation = try node.optional("incarnation")?.incarnation()
    let action: Operation.Action =
      switch kind {
      case .insert: .insert(try fields(node))
      case .set: .set(try fields(node), base: try node.optional("base")?.version())
      case .increment: .increment(try node.text("column"), by: try node.integer("by"))
      case .delete: .delete
      }
    return Operation(key, incarnation, action, place: try place(node))
  }

  private func place(_ operation: JSONNode) throws(WireError) -> UInt16? {
    guard let node = try operation.optional("place") else { return nil }
    guard let place = UInt16(exactly: try operation.integer("place", atLeast: 0)) else {
      throw node.refused("a place of 16 bits")
    }
    return place
  }

  private func fields(_ operation: JSONNode) throws(WireError) -> [Field] {
    let node = try operation.required("fields")
    guard node.kind == .object else { throw node.wrong("an object as 'fields'") }
    var fields: [Field] = []
    fields.reserveCapacity(node.count)
    for name in node.children { fields.append(Field(name.rawString, try name.following.value())) }
    return fields
  }

  // MARK: answer

  package func encode(_ answer: PushAnswer) -> [UInt8] {
    message { writer in
      write(requestName: answer.request, to: &writer)
      writer.name("verdicts")
      writer.array(answer.verdicts) { write($1, to: &$0) }
    }
  }

  private func write(_ verdict: Verdict, to writer: inout JSONWriter) {
    writer.object { writer in
      writer.member("kind", VerdictKind(verdict).rawValue)
      switch verdict {
      case .settled(let id, let outcome):
        writer.member("id", id)
        writer.member("outcome", outcome.rawValue)
      case .notYet(let id), .busy(let id): writer.member("id", id)
      case .identityReused(let replica): writer.member("replica", replica)
      case .otherHistory, .forbidden: break
      }
    }
  }

  package func decodePushAnswer(_ bytes: [UInt8]) throws(WireError) -> PushAnswer {
    var answer = PushAnswer(verdicts: [])
    let root = try open(bytes)
    answer.request = try requestName(root)
    for node in try root.elements("verdicts") {
      if let verdict = try verdict(node) { answer.verdicts.append(verdict) }
    }
    return answer
  }

  /// Nil for what a newer server says in words unknown here: not judged, as far as this reader can tell.
  private func verdict(_ node: JSONNode) throws(WireError) -> Verdict? {
    guard let kind = VerdictKind(rawValue: try node.text("kind")) else { return nil }
    switch kind {
    case .settled:
      let id = try node.required("id").mutationID()
      return Outcome(rawValue: try node.text("outcome")).map { .settled(id, $0) }
    case .notYet: return .notYet(try node.required("id").mutationID())
    case .busy: return .busy(try node.required("id").mutationID())
    case .identityReused: return .identityReused(try node.required("replica").replicaID())
    case .otherHistory: return .otherHistory
    case .forbidden: return .forbidden
    }
  }
}

/// The words for operations on the wire. A new one needs a new `ProtocolVersion`.
package enum OperationKind: String, CaseIterable, Sendable {
  case insert
  case set
  case increment
  case delete

  init(_ operation: Operation) {
    self =
      switch operation.action {
      case .insert: .insert
      case .set: .set
      case .increment: .increment
      case .delete: .delete
      }
  }
}

/// The words for verdicts on the wire. Older readers skip a new one.
package enum VerdictKind: String, CaseIterable, Sendable {
  case settled
  case notYet
  case busy
  case identityReused
  case otherHistory
  case forbidden

  init(_ verdict: Verdict) {
    self =
      switch verdict {
      case .settled: .settled
      case .notYet: .notYet
      case .busy: .busy
      case .identityReused: .identityReused
      case .otherHistory: .otherHistory
      case .forbidden: .forbidden
      }
  }
}
