// SPDX-License-Identifier: Apache-2.0

/// One request, from its first line to the last byte of its answer.
///
/// The library calls `advance` when the head is there, for each part of the body, and when all is there. It is confined
/// to the thread of its connection. While the head is judged the library also takes an answer, but then it closes the
/// connection; so a request without a body is refused at the end, and only one with a body at once, unread.
final class Exchange {
  private enum Stage {
    case opened
    case receiving(HTTPHead, HTTPRoute, limit: Int)
    case aside(AsideAnswer)
    case refused(HTTPProblem)
    case answered
  }

  private let context: ServerContext
  private let record: ConnectionRecord
  private let target: [UInt8]
  private var stage = Stage.opened
  private var body: [UInt8] = []
  private var start = 0
  private var isCounted = false
  /// The bytes of the body that are counted with the server's.
  private var held = 0

  /// The first line came.
  init(target: [UInt8], context: ServerContext, record: ConnectionRecord) {
    self.target = target
    self.context = context
    self.record = record
    context.watch.headExpected(on: record)
  }

  /// Returns false if the connection is to be given up.
  func advance(_ connection: Connection, method: String, version: String, part: UnsafeRawBufferPointer?) -> Bool {
    switch (stage, part) {
    case (.opened, _): open(connection, method: method, version: version)
    case (.receiving(_, _, let limit), let part?): receive(part, limit: limit, connection)
    case (.receiving(let head, let route, _), nil): begin(route, head, connection)
    case (.aside(let answer), _): self.answer(answer.take() ?? HTTPProblem.failure.response, connection)
    case (.refused(let problem), nil): answer(problem.response, connection)
    case (.refused, _?), (.answered, _): true
    }
  }

  /// The answer was sent, or the connection was lost.
  func close() {
    if isCounted { context.leave() }
    isCounted = false
    context.release(held)
    held = 0
    context.watch.rested(record)
  }

  private func open(_ connection: Connection, method: String, version: String) -> Bool {
    let headers = connection.headers
    let framing: RequestFraming
    do throws(HTTPProblem) {
      framing = try RequestFraming(headers, method: method, version: version, limits: context.limits)
    } catch { return refuse(error, connection) }
    do throws(HTTPProblem) {
      try judge(method: method, headers: headers, framing: framing)
    } catch {
      if framing != .none { return refuse(error, connection) }
      stage = .refused(error)
    }
    start = context.watch.now
    context.watch.bodyExpected(on: record, since: start, bytes: 0)
    return true
  }

  private func judge(method: String, headers: HTTPHeaders, framing: RequestFraming) throws(HTTPProblem) {
    try context.routes.refuse(method)
    let target = try RequestTarget(target, limit: context.limits.targetBytes)
    let head = HTTPHead(method: method, path: target.path, query: target.query, headers: headers)
    let route = try context.routes.match(head)
    let limit = route.bodyBytes ?? context.limits.bodyBytes
    if case .length(let length) = framing, length > UInt64(limit) { throw .tooLarge(limit) }
    try context.guarding(head) { try route.admit?(head) }
    if context.isStopping { throw .stopping }
    stage = .receiving(head, route, limit: limit)
  }

  private func receive(_ part: UnsafeRawBufferPointer, limit: Int, _ connection: Connection) -> Bool {
    guard part.count <= limit - body.count else {
      connection.cut(HTTPProblem.tooLarge(limit).response)
      return false
    }
    body.append(contentsOf: part)
    if body.count > context.limits.shortBodyBytes {
      guard context.hold(body.count - held) else {
        connection.cut(HTTPProblem.crowded.response)
        return false
      }
      held = body.count
    }
    context.watch.bodyExpected(on: record, since: start, bytes: body.count)
    return true
  }

  private func begin(_ route: HTTPRoute, _ head: HTTPHead, _ connection: Connection) -> Bool {
    guard context.enter() else { return answer(HTTPProblem.stopping.response, connection) }
    isCounted = true
    let request = HTTPRequest(head: head, body: body)
    body = []
    context.watch.released(record)
    guard route.runsAside else {
      let response = context.carryOut(route, request)
      context.handled()
      return answer(response, connection)
    }
    let aside = AsideAnswer()
    stage = .aside(aside)
    context.carryOutAside(route, request, connection.suspend(), into: aside)
    return true
  }

  private func refuse(_ problem: HTTPProblem, _ connection: Connection) -> Bool {
    answer(problem.response, connection, closing: true)
  }

  private func answer(_ response: HTTPResponse, _ connection: Connection, closing: Bool = false) -> Bool {
    stage = .answered
    context.watch.bodyExpected(on: record, since: context.watch.now, bytes: response.body.count)
    let closing = closing || context.isStopping
    if connection.queue(response, closing: closing) { return true }
    context.report(.fieldRefused(name: response.headers.fields.map(\.name).joined(separator: ", ")))
    return connection.queue(HTTPProblem.failure.response, closing: closing)
  }
}
