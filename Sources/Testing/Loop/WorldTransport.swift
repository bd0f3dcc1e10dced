// SPDX-License-Identifier: Apache-2.0

import SkerryAmbientKit
import SkerryMachine
import SkerryModel

/// One process's way to the world's server, with what the network does to its messages.
struct WorldTransport: Transport {
  let device: DeviceLink
  /// The process that it belongs to. What an earlier one would send goes nowhere.
  let life: Int
  let loop: WorldLoop
  let network: TestNetwork
  let server: TestServer

  func exchange(_ request: TransportRequest) async throws -> TransportResponse {
    if Task.isCancelled || device.life != life { throw TransportError.cancelled }
    if device.isOffline { throw TransportError.unreachable("no network") }
    let (server, account) = (server, device.account)
    switch network.fault(for: request, of: device.number) {
    case nil: return server.serve(request, as: account)
    case .loseRequest: throw try await giveUp()
    case .loseAnswer:
      _ = server.serve(request, as: account)
      throw try await giveUp()
    case .doubleRequest:
      _ = server.serve(request, as: account)
      return server.serve(request, as: account)
    case .cutAnswer:
      var response = server.serve(request, as: account)
      response.body = Array(response.body.prefix(response.body.count / 2))
      return response
    case .delayRequest(let delay):
      if delay >= WorldTransport.patience {
        let what = "a request of \(device.name) is still on its way; let more time pass"
        loop.at(loop.time.now + delay, what: what) { _ = server.serve(request, as: account) }
        throw try await giveUp()
      }
      try await wait(delay)
      return server.serve(request, as: account)
    case .delayAnswer(let delay):
      let response = server.serve(request, as: account)
      if delay >= WorldTransport.patience { throw try await giveUp() }
      try await wait(delay)
      return response
    case .answer(let status, let retryAfter):
      return TransportResponse(status: status, contentType: "text/plain", retryAfter: retryAfter, body: [])
    case .portal:
      return TransportResponse(status: 200, contentType: "text/html", body: Array("<html>Welcome</html>".utf8))
    case .expiredToken: return TransportResponse(status: 401, contentType: "application/problem+json", body: [])
    }
  }

  private static let patience = TestNetwork.patience.milliseconds

  private func giveUp() async throws -> TransportError {
    try await wait(WorldTransport.patience)
    return .timedOut("total")
  }

  /// Time passes for a call of the test's own; an engine in the background waits until the test lets it pass.
  private func wait(_ milliseconds: Int64) async throws {
    do {
      try await loop.sleep(until: loop.time.now + milliseconds, drives: !device.isStarted)
    } catch { throw TransportError.cancelled }
  }
}
