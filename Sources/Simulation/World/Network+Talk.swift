// SPDX-License-Identifier: Apache-2.0

import SkerryMachine
import SkerryModel
import SkerryWire

/// What a device makes of its requests and their answers, for the oracle of its talk.
extension Network {
  func begins(_ device: DeviceNode, _ life: Int) {
    guard device.life == life, device.isUp else { return }
    world.check { try device.talk.sends(at: world.now) }
  }

  func ends(
    _ request: TransportRequest, _ result: Result<TransportResponse, any Error>, _ device: DeviceNode, _ life: Int
  ) {
    guard device.life == life, device.isUp else { return }
    let offered = request.path == "/v1/push" ? try? world.codec.decodePushRequest(request.body) : nil
    let outcome = outcome(request, offered, result, device)
    world.check {
      try device.talk.hears(outcome, offered: offered?.mutations.map(\.id) ?? [], at: world.now)
    }
  }

  private func outcome(
    _ request: TransportRequest, _ push: PushRequest?, _ result: Result<TransportResponse, any Error>,
    _ device: DeviceNode
  ) -> TalkOracle.Outcome {
    guard case .success(let response) = result else {
      if case .failure(let error as TransportError) = result, error != .cancelled { return .nobody }
      return .cancelled
    }
    let isProblem = response.contentType == "application/problem+json"
    if response.status == 413 { return .tooLarge }
    if response.status == 401, isProblem { return .unauthorized }
    if [403, 409, 426].contains(response.status), isProblem { return .refused(status: response.status) }
    if response.status == 200, response.contentType == "application/json",
      let answer = answer(response.body, request, push, device)
    {
      return answer
    }
    return .transient(status: response.status, retryAfter: response.status == 200 ? nil : response.retryAfter)
  }

  /// Nil if it answers something else.
  private func answer(
    _ body: [UInt8], _ request: TransportRequest, _ push: PushRequest?, _ device: DeviceNode
  ) -> TalkOracle.Outcome? {
    if let push {
      guard let answer = try? world.codec.decodePushAnswer(body), answer.request == push.request else { return nil }
      let settled = answer.verdicts.compactMap { verdict in
        if case .settled(let id, _) = verdict { id } else { nil }
      }
      return .answered(settled: settled, isQuiet: false)
    }
    guard let pull = try? world.codec.decodePullRequest(request.body),
      let answer = try? world.codec.readPullAnswer(body), answer.request == pull.request
    else { return nil }
    guard case .page(let page) = answer.answer else { return .answered(settled: [], isQuiet: false) }
    let isQuiet = page.closes && page.items.isEmpty && page.cursor.open.isEmpty
    let isIdle = device.oracle.last?.outbox.isEmpty ?? false
    return .answered(settled: [], isQuiet: isQuiet && isIdle)
  }
}
