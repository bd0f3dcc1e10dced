// SPDX-License-Identifier: Apache-2.0

import Foundation
import SkerryAmbientKit

/// A process of the program `skerry`, which ends with whoever started it.
package final class ChildProcess {
  private let process = Process()
  private let input = Pipe()
  private let output = Pipe()
  private var buffer = Data()

  /// Starts the program.
  ///
  /// - Parameter program: its path; nil for the program that runs now.
  package init(_ arguments: [String], program: String? = nil) throws {
    process.executableURL = URL(fileURLWithPath: program ?? ChildProcess.ownProgram)
    process.arguments = arguments
    process.standardInput = input
    process.standardOutput = output
    try process.run()
  }

  /// The program that runs, by the system's own account: the name it was called by may be found elsewhere.
  static var ownProgram: String {
    (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? CommandLine.arguments[0]
  }

  package var id: Int32 { process.processIdentifier }

  package var isRunning: Bool { process.isRunning }

  /// The next line that it prints; blocks until there is one.
  ///
  /// - Throws: when it ends before.
  package func line() throws -> String {
    while true {
      if let end = buffer.firstIndex(of: UInt8(ascii: "\n")) {
        let line = String(decoding: buffer[buffer.startIndex..<end], as: UTF8.self)
        buffer = Data(buffer[buffer.index(after: end)...])
        return line
      }
      let more = output.fileHandleForReading.availableData
      if more.isEmpty { throw ProcessError("process \(id) ended before it answered") }
      buffer.append(more)
    }
  }

  /// Whether it has been stopped by a signal and waits; by the kernel's own account, where there is one.
  package var isStopped: Bool {
    guard let status = try? String(contentsOfFile: "/proc/\(id)/stat", encoding: .utf8),
      let end = status.lastIndex(of: ")")
    else { return false }
    return status[end...].dropFirst(2).first == "T"
  }

  /// Waits until it has been stopped by a signal.
  ///
  /// - Throws: when it ends instead, or does not stop within a minute.
  package func waitUntilStopped() async throws {
    let end = SystemAmbient.monotonicNanoseconds() + 60_000_000_000
    while !isStopped {
      if SystemAmbient.monotonicNanoseconds() > end { throw ProcessError("process \(id) did not come to its point") }
      if !isRunning { throw ProcessError("process \(id) ended before it was stopped") }
      try await SystemAmbient.clock.sleep(for: .milliseconds(2))
    }
  }

  /// `kill -9`: no code of the process runs any more.
  package func kill() {
    Foundation.kill(id, SIGKILL)
    process.waitUntilExit()
  }

  /// Asks it to end, and waits until it has.
  ///
  /// - Returns: its exit code.
  @discardableResult
  package func end() -> Int32 {
    if process.isRunning { process.terminate() }
    process.waitUntilExit()
    return process.terminationStatus
  }

  deinit { if process.isRunning { kill() } }
}

/// Why a process could not be used.
package struct ProcessError: Error, CustomStringConvertible {
  /// What happened.
  package let description: String
  /// The HTTP status with which it refused an order; nil for anything else.
  package let status: Int?

  package init(_ description: String, status: Int? = nil) {
    self.description = description
    self.status = status
  }
}
