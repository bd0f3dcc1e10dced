// SPDX-License-Identifier: Apache-2.0

import Foundation
import SkerryAmbientKit
import SkerryCommands
import SkerryMachine
import SkerryWire
import Testing

/// What the kill tests lean on: processes that do as they are told, and stop where they are told.
@Suite(.serialized) struct ProcessTests {
  /// Gives a closure a server and, at its place in `Stage.devices`, nobody yet.
  private func withStage(_ body: (Stage) async throws -> Void) async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
      "skerry-processes-" + ProcessInfo.processInfo.globallyUniqueString
    ).path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let stage = try Stage(folder: folder, seed: 3)
    do {
      try await stage.start(.server)
      try await body(stage)
    } catch {
      await stage.killAll()
      throw error
    }
    await stage.killAll()
  }

  @Test func `orders to run that come at once leave one loop, which can be ended`() async throws {
    try await withStage { stage in
      try await stage.start(.device(0))
      let device = try await stage.device(0)
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<12 { group.addTask { try await device.order("/run", ["on": true]) } }
        try await group.waitForAll()
      }
      let state = try await device.order("/state")
      #expect(state["runError"] == .null)
      try await device.order("/run", ["on": false])
      #expect(try await device.order("/sync")["report"]?["consistent"] == true)
    }
  }

  @Test func `looking at a device is not taking a page in`() async throws {
    try await withStage { stage in
      try await stage.start(.device(0), stopAt: "page:150")
      let device = try await stage.device(0)
      for _ in 0..<100 { try await device.order("/state") }
      #expect(try await !stage.waitUntilStopped(.device(0), while: { false }))
    }
  }

  @Test func `a device that stops in a local write has its file locked, and the write is not there after its death`()
    async throws
  {
    try await withStage { stage in
      try await stage.start(.device(0), stopAt: "write:6", runs: false)
      let device = try await stage.device(0)
      let write = Task {
        let steps = Writer.insert(1, by: "phone.0").map(\.json)
        return try await device.order("/write", ["operations": .array(steps)])
      }
      #expect(try await stage.waitUntilStopped(.device(0), while: { true }))
      #expect(try Autopsy.isLocked(stage.file(of: .device(0))))
      try await stage.kill(.device(0))
      await #expect(throws: TransportError.self) { try await write.value }
      #expect(try DeviceContent(stage.file(of: .device(0))).mutations.isEmpty)
      #expect(try await stage.start(.device(0), runs: false) == 0)
    }
  }

  @Test func `a process that ended by itself was not killed`() async throws {
    try await withStage { stage in
      try await stage.start(.device(0))
      try await stage.device(0).order("/quit")
      await #expect(throws: ProcessError.self) {
        // The order is answered before the process ends.
        _ = try await stage.waitUntilStopped(.device(0), while: { true })
      }
      await #expect(throws: ProcessError.self) { try await stage.kill(.device(0)) }
    }
  }

  @Test func `a server that was killed is followed by one at the same port`() async throws {
    try await withStage { stage in
      try await stage.start(.device(0))
      let device = try await stage.device(0)
      for _ in 0..<3 {
        try await stage.kill(.server)
        try await stage.start(.server)
        try await device.order("/run", ["on": false])
        #expect(try await device.order("/sync")["report"]?["consistent"] == true)
      }
    }
  }
}
