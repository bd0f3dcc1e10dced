// SPDX-License-Identifier: Apache-2.0

import Foundation
import SkerryModel
import SkerrySimulation

/// `skerry simulate`: runs seeds through the simulator, and shows the smallest failing run of the first that breaks a check.
struct SimulateCommand {
  private let options: SimulateOptions

  init(_ words: [String]) throws { options = try SimulateOptions(words) }

  func run() throws -> Int32 {
    if options.listsFaults {
      for kind in FaultKind.allCases { Output.line(kind.rawValue) }
      return 0
    }
    if options.showsEffects { return try FaultEffects(options).run() }
    if options.isWorker { return try work() }
    let started = SimulateClock()
    var total = SeedTotals()
    let report: (SeedReport) -> Void = { seed in
      total.add(seed)
      if seed.check != nil {
        Output.line(seed.line)
      } else if total.seeds % 100 == 0 {
        Output.error("… \(total.seeds) seeds")
      }
    }
    if options.jobs > 1, options.seeds > 1 {
      try SeedWorkers(options).run(report)
    } else {
      for seed in options.range {
        report(SeedReport(try options.simulation.run(options.plan(seed)), options))
        if total.broken != nil, !options.keepsGoing { break }
      }
    }
    Output.line(total.text(seconds: started.seconds))
    if let broken = total.broken {
      try show(broken)
      return 1
    }
    if options.traceFile != nil || options.timelineFile != nil {
      try write(options.simulation.run(options.plan(options.first), keepsStory: true))
    }
    return 0
  }

  /// Runs every seed of its share, and prints a line of JSON for each.
  private func work() throws -> Int32 {
    for seed in options.range {
      let report = SeedReport(try options.simulation.run(options.plan(seed)), options)
      Output.line(report.json)
    }
    return 0
  }

  /// Shrinks a failing seed and tells its story.
  private func show(_ broken: SeedReport) throws {
    let simulation = try options.simulation
    var result = simulation.run(options.plan(broken.seed))
    guard let first = result.broken else {
      return Output.line("seed \(broken.seed) does not break in this process: \(broken.check ?? "-")")
    }
    Output.line("\nseed \(broken.seed) broke at step \(result.step) of \(result.plan.steps.count): \(first)")
    Output.line(result.plan.profile.description)
    if options.shrinks {
      Output.line("shrinking…")
      var shrinker = Shrinker(simulation, result)
      shrinker.run()
      result = simulation.run(shrinker.plan, keepsStory: true)
      Output.line("\(shrinker.plan.steps.count) steps are left; \(shrinker.plan.profile.description)\n")
    } else {
      result = simulation.run(result.plan, keepsStory: true)
    }
    Output.line(result.journal.text(last: options.shrinks ? 60 : 200))
    Output.line("\n=> \(result.broken.map { "\($0)" } ?? "it holds when it is told")")
    Output.line("replay: skerry simulate --seed \(broken.seed) --steps \(options.steps)\(options.replayFlags)")
    try write(result)
  }

  private func write(_ result: Simulation.Result) throws {
    if let file = options.traceFile {
      let head =
        "seed \(result.plan.seed), trace \(String(result.trace, radix: 16))\n\(result.plan.profile.description)\n"
      try NewFile.replace(Array((head + result.journal.text() + "\n").utf8), at: file)
    }
    if let file = options.timelineFile {
      try NewFile.replace(Array(SkerrySimulation.Timeline(result.journal).svg.utf8), at: file)
    }
  }
}

/// What the command line asks for.
struct SimulateOptions {
  let seeds: Int
  let first: Int
  let steps: Int
  let stride: Int
  let jobs: Int
  let schemaFile: String?
  let traceFile: String?
  let timelineFile: String?
  let allowed: Set<FaultKind>
  let forced: Set<FaultKind>
  let shrinks: Bool
  let keepsGoing: Bool
  let isWorker: Bool
  let listsFaults: Bool
  let showsEffects: Bool
  let isMatrix: Bool
  private let words: [String]

  init(_ words: [String]) throws {
    let arguments = try Arguments(
      words,
      options: [
        "seeds", "first", "seed", "steps", "jobs", "schema", "trace", "timeline", "faults", "without", "stride",
      ],
      flags: ["no-shrink", "keep-going", "worker", "list-faults", "effects", "matrix"])
    self.words = words
    let one = try arguments["seed"].map { _ in try arguments.number("seed", or: 1, in: 0...Int.max) }
    first = try one ?? arguments.number("first", or: 1, in: 0...Int.max)
    seeds = try one == nil ? arguments.number("seeds", or: 100, in: 1...100_000_000) : 1
    steps = try arguments.number("steps", or: 400, in: 1...1_000_000)
    stride = try arguments.number("stride", or: 1, in: 1...1_000)
    jobs = try arguments.number("jobs", or: ProcessInfo.processInfo.activeProcessorCount, in: 1...256)
    schemaFile = arguments["schema"]
    traceFile = arguments["trace"]
    timelineFile = arguments["timeline"]
    let named = try SimulateOptions.kinds(arguments["faults"] ?? "all")
    allowed = named.subtracting(try SimulateOptions.kinds(arguments["without"] ?? "none"))
    // Kinds that are named are in every seed; those of `all` are drawn.
    forced = arguments["faults"].map { $0 == "all" } ?? true ? [] : allowed
    shrinks = !arguments.has("no-shrink")
    keepsGoing = arguments.has("keep-going")
    isWorker = arguments.has("worker")
    listsFaults = arguments.has("list-faults")
    showsEffects = arguments.has("effects")
    isMatrix = arguments.has("matrix")
  }

  private static func kinds(_ text: String) throws -> Set<FaultKind> {
    if text == "all" { return Set(FaultKind.allCases) }
    if text == "none" { return [] }
    return Set(
      try text.split(separator: ",").map { word in
        guard let kind = FaultKind(rawValue: String(word)) else {
          throw UsageError(description: "'\(word)' is no kind of fault; skerry simulate --list-faults names them")
        }
        return kind
      })
  }

  var range: [Int] { (0..<seeds).map { first + $0 * stride } }

  var simulation: Simulation {
    get throws {
      Simulation(try schemaFile.map { try CommandLineTool.schema($0) } ?? .simulated, isAlone: true)
    }
  }

  func plan(_ seed: Int) -> Plan {
    if isMatrix { return .matrix(UInt64(seed)) }
    var profile = Profile(seed: UInt64(seed), steps: steps, allowed: allowed)
    if !forced.isEmpty {
      profile.faults = forced
      profile.messageFaults = max(profile.messageFaults, 0.1)
      profile.stepFaults = max(profile.stepFaults, 0.1)
    }
    return Plan(seed: UInt64(seed), profile: profile, steps: steps)
  }

  /// What a worker is started with: its share of the seeds.
  func share(_ number: Int, from seed: Int, count: Int) -> [String] {
    var out = [
      "simulate", "--worker", "--first", "\(seed)", "--seeds", "\(count)", "--stride", "\(jobs)", "--steps", "\(steps)",
    ]
    if let schemaFile { out += ["--schema", schemaFile] }
    return out + flagWords
  }

  private var flagWords: [String] {
    var out = isMatrix ? ["--matrix"] : []
    for name in ["--faults", "--without"] {
      if let index = words.firstIndex(of: name) { out += [name, words[index + 1]] }
    }
    return out
  }

  var replayFlags: String {
    ((schemaFile.map { ["--schema", $0] } ?? []) + flagWords).map { " " + $0 }.joined()
  }
}
