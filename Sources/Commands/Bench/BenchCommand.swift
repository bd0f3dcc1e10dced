// SPDX-License-Identifier: Apache-2.0

import Foundation
import SkerryAmbientKit
import SkerryWire

/// `skerry bench`: what Skerry costs beside the bare thing, as ratios measured in one run.
struct BenchCommand {
  private let names: [String]
  private let scale: BenchScale

  static let all: [String: @Sendable (BenchScale) async throws -> Void] = [
    "write": WriteBench.run, "batch": BatchBench.run, "open": OpenBench.run, "observers": ObserversBench.run,
    "push": PushBench.run, "firstSync": FirstSyncBench.run, "emptyPull": EmptyPullBench.run,
  ]

  init(_ words: [String]) throws {
    let isNamed = words.first.map { !$0.hasPrefix("--") } ?? false
    let arguments = try Arguments(Array(words.dropFirst(isNamed ? 1 : 0)), options: ["runs", "percent", "folder"])
    names = isNamed ? [words[0]] : BenchCommand.all.keys.sorted()
    if let unknown = names.first(where: { BenchCommand.all[$0] == nil }) {
      let list = BenchCommand.all.keys.sorted().joined(separator: ", ")
      throw UsageError(description: "there is no benchmark '\(unknown)'; there are \(list)")
    }
    let (runs, percent) = (try arguments.number("runs", or: 5), try arguments.number("percent", or: 100))
    guard 1...100 ~= runs, 1...1_000 ~= percent else {
      throw UsageError(description: "--runs is 1 to 100, --percent 1 to 1000")
    }
    let folder = arguments["folder"] ?? FileManager.default.temporaryDirectory.path
    scale = BenchScale(runs: runs, percent: percent, folder: folder)
  }

  func run() async throws -> Int32 {
    #if DEBUG
      Output.error("skerry: this is a debug build; figures say something of a release build only")
    #endif
    for name in names { try await BenchCommand.all[name]?(scale) }
    return 0
  }
}

/// How much is measured, and where the files go.
struct BenchScale: Sendable {
  var runs: Int
  var percent: Int
  var folder: String

  /// A number of things to do, at this scale.
  func count(_ full: Int) -> Int { max(10, full * percent / 100) }

  /// Makes a new folder, hands it on, and removes it.
  func withFolder<T>(_ body: (String) async throws -> T) async throws -> T {
    let ambient = SystemAmbient()
    let path = folder + "/skerry-bench-" + String(ambient.random(), radix: 16)
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: path) }
    return try await body(path)
  }
}

/// One line of the result.
struct BenchResult {
  enum Better: String { case lower, higher }

  var bench: String
  var name: String
  /// One figure a run, in `unit`.
  var ours: [Double]
  var bare: [Double]
  var better: Better
  /// What the ratio is to be at most (`lower`) or at least (`higher`).
  var aim: Double
  var unit: String

  func print() {
    let (ours, bare) = (BenchResult.median(ours), BenchResult.median(bare))
    let line: JSON = [
      "bench": .string(bench), "case": .string(name), "ours": .real(BenchResult.short(ours)),
      "bare": .real(BenchResult.short(bare)), "ratio": .real(BenchResult.short(ours / bare)),
      "better": .string(better.rawValue), "aim": .real(aim), "unit": .string(unit), "runs": .init(self.ours.count),
    ]
    Output.line(String(decoding: line.encoded, as: UTF8.self))
  }

  static func median(_ values: [Double]) -> Double {
    let sorted = values.sorted()
    let middle = sorted.count / 2
    return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
  }

  private static func short(_ value: Double) -> Double { (value * 1_000).rounded() / 1_000 }
}

/// Seconds that a closure takes.
func seconds<T>(_ body: () async throws -> T) async rethrows -> Double {
  let start = SystemAmbient.monotonicNanoseconds()
  _ = try await body()
  return Double(SystemAmbient.monotonicNanoseconds() - start) / 1e9
}
