// SPDX-License-Identifier: Apache-2.0

import SkerryMachine
import Synchronization
import Testing

@testable import SkerryCommands

@Suite struct FaultyNetworkTests {
  /// Answers each request, and counts them.
  private final class Echo: Transport {
    let count = Mutex(0)

    func exchange(_ request: TransportRequest) async throws -> TransportResponse {
      count.withLock { $0 += 1 }
      return TransportResponse(status: 200, contentType: "application/json", body: request.body)
    }
  }

  private let echo = Echo()
  private let request = TransportRequest(path: "/v1/pull", contentType: "application/json", body: Array(0..<200))

  private func network(_ fault: FaultyNetwork.Fault, seed: UInt64 = 1) -> FaultyNetwork {
    let network = FaultyNetwork(echo, seed: seed)
    network.settings.next = [fault]
    network.settings.delayMilliseconds = 1
    return network
  }

  private func arrived() -> Int { echo.count.withLock { $0 } }

  @Test func `a dropped request never arrives, and a dropped answer was carried out`() async throws {
    await #expect(throws: TransportError.timedOut("the request was dropped on purpose")) {
      try await network(.dropRequest).exchange(request)
    }
    #expect(arrived() == 0)
    await #expect(throws: TransportError.broken("the answer was dropped on purpose")) {
      try await network(.dropAnswer).exchange(request)
    }
    #expect(arrived() == 1)
  }

  @Test func `a doubled request arrives twice, a late answer is the same, a garbled one is not`() async throws {
    #expect(try await network(.duplicate).exchange(request).body == request.body)
    #expect(arrived() == 2)
    #expect(try await network(.delay).exchange(request).body == request.body)
    let garbled = try await network(.garble).exchange(request).body
    #expect(garbled != request.body)
    #expect(garbled.count == request.body.count)
  }

  @Test func `in airplane mode nothing goes out, and what was to come is kept`() async throws {
    let network = network(.duplicate)
    network.settings.isOffline = true
    await #expect(throws: TransportError.unreachable("airplane mode")) { try await network.exchange(request) }
    #expect(arrived() == 0)
    #expect(network.counts.exchanges == 0)
    network.settings.isOffline = false
    _ = try await network.exchange(request)
    #expect(network.counts.faults == [.duplicate: 1])
    #expect(arrived() == 2)
  }

  @Test func `the same seed meets the same faults, and about as many as the chance says`() async throws {
    func faults(_ seed: UInt64) async -> [Bool] {
      let network = FaultyNetwork(echo, seed: seed)
      network.settings.chances = [.dropRequest: 0.2, .dropAnswer: 0.2]
      var lost: [Bool] = []
      for _ in 0..<400 {
        do {
          _ = try await network.exchange(request)
          lost.append(false)
        } catch { lost.append(true) }
      }
      return lost
    }
    let first = await faults(7)
    #expect(await faults(7) == first)
    #expect(await faults(8) != first)
    // Of 400, 0.36 are lost: 144, give or take five standard deviations.
    #expect(96...192 ~= first.filter { $0 }.count)
  }

  @Test(arguments: ["", "nowhere", "push:0", "push:x", "push:-1", "write"]) func `a point that is none is refused`(
    _ text: String
  ) {
    #expect(throws: UsageError.self) { try StopPoint(text, of: StopPoint.Name.server) }
  }
}
