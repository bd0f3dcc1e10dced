// SPDX-License-Identifier: Apache-2.0

import SkerryMachine
import SkerryModel
import SkerryWire

/// What a device makes of its requests and their answers, for the oracle of its talk.
extension Network {
  /// - Returns: what is offered, if anything is.
  func begins(_ request: TransportRequest, _ device: DeviceNode, _ life: Int) -> PushRequest? {
    guard device.life == life, device.isUp else { return nil }
    var offered: PushRequest?
    world.check {
      try device.talk.sends(at: world.now)
      guard request.path == "/v1/push" else { return }
      let push = try world.codec.decodePushRequest(request.body)
      offered = push
      if world.plan.looksAtPointsOnly { return }
      world.look(device)
      try OfferOracle(device, world.model.rules, at: world.now)?.check(push)
    }
    return offered
  }

  func ends(
    _ request: TransportRequest, _ offered: PushRequest?, _ result: Result<TransportResponse, any Error>,
    _ device: DeviceNode, _ life: Int
  ) {
    guard device.life == life, device.isUp else { return }
    let outcome = outcome(request, offered, result, device)
    // Whatever a reset to another request says, the device passes over it.
    if case .answered(_, _, let reset?) = outcome { device.oracle.awaitedReset = reset }
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
      return .answered(settled: settled)
    }
    guard let pull = try? world.codec.decodePullRequest(request.body),
      let answer = try? world.codec.readPullAnswer(body), answer.request == pull.request
    else { return nil }
    switch answer.answer {
    case .reset(let reset): return .answered(reset: reset.cursor)
    case .page(let page):
      let isQuiet = page.closes && page.items.isEmpty && page.cursor.isWhole
      return .answered(isQuiet: isQuiet && device.oracle.last?.outbox.isEmpty == true)
    }
  }
}
