// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A process of this same program, spoken to by lines.
final class ChildProcess {
  private let process = Process()
  private let input = Pipe()
  private let output = Pipe()
  private var buffer = Data()

  init(_ arguments: [String]) throws {
    process.executableURL = URL(fileURLWithPath: ChildProcess.program)
    process.arguments = arguments
    process.standardInput = input
    process.standardOutput = output
    try process.run()
  }

  /// The program that runs, by the system's own account: the name it was called by may be found elsewhere.
  private static var program: String {
    (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? CommandLine.arguments[0]
  }

  /// The next line that it prints.
  ///
  /// - Throws: when it ends before.
  func line() throws -> String {
    while true {
      if let end = buffer.firstIndex(of: UInt8(ascii: "\n")) {
        let line = String(decoding: buffer[buffer.startIndex..<end], as: UTF8.self)
        buffer = Data(buffer[buffer.index(after: end)...])
        return line
      }
      let more = output.fileHandleForReading.availableData
      if more.isEmpty { throw DemoError(description: "process \(process.processIdentifier) ended before it answered") }
      buffer.append(more)
    }
  }

  func send(_ order: String) throws { try input.fileHandleForWriting.write(contentsOf: Data((order + "\n").utf8)) }

  /// Gives an order and waits for what comes of it.
  ///
  /// - Returns: what follows `ok`.
  func order(_ order: String) throws -> String {
    try send(order)
    while true {
      let answer = try line()
      if answer.hasPrefix("progress ") { continue }
      guard answer.hasPrefix("ok") else { throw DemoError(description: "\(order): \(answer)") }
      return String(answer.dropFirst(3))
    }
  }

  /// `kill -9`: no code of the process runs any more.
  func kill() {
    Foundation.kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }

  /// Lets it end by itself.
  func quit() {
    try? input.fileHandleForWriting.close()
    if process.isRunning { process.terminate() }
    process.waitUntilExit()
  }
}

/// Why the demonstration could not go on.
struct DemoError: Error, CustomStringConvertible {
  let description: String
}
