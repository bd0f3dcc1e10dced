// SPDX-License-Identifier: Apache-2.0

import SkerryAmbientKit
import SkerryMachine
import SkerryModel
import Synchronization

/// What lies between the devices of a world and its server, and what goes wrong there.
///
/// Each fault has a name and is counted. Those that befall one message wait for it in the order in which they were asked for,
/// each device's apart. One that has befallen nothing by the end of the test is an error of `TestWorld.finish()`.
public final class TestNetwork: Sendable {
  /// Which of a device's messages a fault waits for.
  public enum Message: Sendable {
    /// The next one, whichever it is.
    case any
    /// The next that offers the server what was written.
    case push
    /// The next that asks the server for what is new.
    case pull
  }

  /// How long a device waits for an answer before it gives up.
  public static let patience = Duration.seconds(120)

  private struct State {
    var plans: [Int: FaultPlan] = [:]
  }

  private let state = Mutex(State())

  init() {}

  /// The next request never arrives; the device waits in vain.
  public func loseNextRequest(of device: TestDevice, _ message: Message = .any) {
    add("loseNextRequest", device, message, .loseRequest)
  }

  /// The server carries out the next request, and its answer never arrives; the device waits in vain.
  public func loseNextAnswer(of device: TestDevice, _ message: Message = .any) {
    add("loseNextAnswer", device, message, .loseAnswer)
  }

  /// The next request arrives twice; the device hears the second answer.
  public func doubleNextRequest(of device: TestDevice, _ message: Message = .any) {
    add("doubleNextRequest", device, message, .doubleRequest)
  }

  /// The next request arrives late; after the device has given up, if it is later than `patience`.
  public func delayNextRequest(of device: TestDevice, by delay: Duration, _ message: Message = .any) {
    add("delayNextRequest", device, message, .delayRequest(delay.milliseconds))
  }

  /// The server carries out the next request at once, and its answer comes late; never, if it is later than `patience`.
  public func delayNextAnswer(of device: TestDevice, by delay: Duration, _ message: Message = .any) {
    add("delayNextAnswer", device, message, .delayAnswer(delay.milliseconds))
  }

  /// The server carries out the next request, and half of its answer arrives.
  public func cutNextAnswer(of device: TestDevice, _ message: Message = .any) {
    add("cutNextAnswer", device, message, .cutAnswer)
  }

  /// Something on the way answers the next request with a status of HTTP, and the server never hears of it.
  ///
  /// - Parameters:
  ///   - device: whose request it is.
  ///   - status: the status.
  ///   - retryAfter: for how long the device is asked to stay away; nil: it is not.
  ///   - message: which of its requests.
  public func answerNext(
    of device: TestDevice, withStatus status: Int, retryAfter: Duration? = nil, _ message: Message = .any
  ) {
    add("answerNext(withStatus: \(status))", device, message, .answer(status, retryAfter.map(\.milliseconds)))
  }

  /// From now on a hotel's page comes in place of every answer, until `leaveCaptivePortal`.
  public func captivePortal(for device: TestDevice) { begin("captivePortal", device, .portal) }

  /// The server is in reach again.
  public func leaveCaptivePortal(for device: TestDevice) { end(device, .portal) }

  /// From now on the server takes the device's token for expired, until `renewToken`.
  public func expireToken(of device: TestDevice) { begin("expireToken", device, .expiredToken) }

  /// The device has a token again, and its engine is told.
  public func renewToken(of device: TestDevice) async {
    end(device, .expiredToken)
    await device.engine.authenticated()
  }

  // MARK: For the world

  private func add(_ name: String, _ device: TestDevice, _ message: Message, _ kind: FaultPlan.Kind) {
    state.withLock { $0.plans[device.number, default: FaultPlan(device.name)].add(name, message, kind) }
  }

  private func begin(_ name: String, _ device: TestDevice, _ state: FaultPlan.Standing) {
    self.state.withLock { $0.plans[device.number, default: FaultPlan(device.name)].begin(name, state) }
  }

  private func end(_ device: TestDevice, _ state: FaultPlan.Standing) {
    self.state.withLock { $0.plans[device.number, default: FaultPlan(device.name)].end(state) }
  }

  /// What befalls a request; nil: nothing.
  func fault(for request: TransportRequest, of number: Int) -> FaultPlan.Kind? {
    state.withLock { $0.plans[number]?.take(isPush: request.path == "/v1/push") }
  }

  /// The faults that have befallen nothing yet, each in one line.
  var unused: [String] {
    state.withLock { state in state.plans.keys.sorted().flatMap { state.plans[$0]?.unused ?? [] } }
  }

  /// What has happened and what is still to come, one a line.
  var text: String {
    state.withLock { state in state.plans.keys.sorted().map { state.plans[$0]?.text ?? "" }.joined() }
  }
}
