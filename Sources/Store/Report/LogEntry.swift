// SPDX-License-Identifier: Apache-2.0

/// Takes what happens, at once, on whatever thread it happens on; it must return soon.
public typealias LogSink = @Sendable (LogEntry) -> Void

/// Something that happened, in names and numbers: never a value or a key of a row, a name of a space, or a token.
public struct LogEntry: Sendable, Equatable {
  /// How much it matters.
  public enum Level: Int, Sendable, Comparable {
    /// Each exchange and each page.
    case debug
    /// What happens now and then.
    case info
    /// What a person may want to know.
    case notice
    /// What should not happen.
    case error

    /// By how much it matters.
    public static func < (left: Level, right: Level) -> Bool { left.rawValue < right.rawValue }
  }

  /// What it is about. Open: later versions may add events.
  public struct Event: Hashable, Sendable {
    /// The event's word.
    public let name: String

    /// A store is opened.
    public static let open = Event(name: "open")
    /// A file was brought to a later version of the schema while it was opened.
    public static let migration = Event(name: "migration")
    /// Rows were adopted.
    public static let adoption = Event(name: "adoption")
    /// An exchange that offers mutations.
    public static let push = Event(name: "push")
    /// An exchange that asks for a page.
    public static let pull = Event(name: "pull")
    /// A page was taken in.
    public static let page = Event(name: "page")
    /// The server refused a mutation.
    public static let refusal = Event(name: "refusal")
    /// Everything is read anew: the first time, after too long an absence, or since the server has another history.
    public static let reset = Event(name: "reset")
    /// The account lost a space.
    public static let accessLost = Event(name: "accessLost")
    /// Checksums of spaces differ from the server's.
    public static let digestMismatch = Event(name: "digestMismatch")
    /// The engine's condition is another one.
    public static let engine = Event(name: "engine")
    /// Rows were left out of an answer, since they are not what the query makes of them.
    public static let unreadable = Event(name: "unreadable")
  }

  /// Whether it stands alone, or begins or ends an interval.
  public enum Phase: String, Sendable {
    /// It stands alone.
    case event
    /// An interval begins.
    case begin
    /// An interval ends.
    case end
  }

  /// When, in milliseconds since 1970 by the device's clock.
  public let at: Int64
  /// How much it matters.
  public let level: Level
  /// What it is about.
  public let event: Event
  /// Whether it stands alone, or begins or ends an interval.
  public let phase: Phase
  /// The same in the entries that begin and end an interval; nil for one that stands alone.
  public let interval: UInt64?
  /// How long the interval took by the device's clock, which somebody may have set meanwhile; nil unless it ends one.
  public let milliseconds: Int64?
  /// Counts and sizes by name, such as `bytes`.
  public let numbers: [String: Int64]
  /// Codes, states and names of the schema by name, such as `code`.
  public let words: [String: String]

  package init(
    at: Int64, _ level: Level, _ event: Event, _ phase: Phase = .event, interval: UInt64? = nil,
    milliseconds: Int64? = nil, numbers: [String: Int64] = [:], words: [String: String] = [:]
  ) {
    (self.at, self.level, self.event, self.phase, self.interval) = (at, level, event, phase, interval)
    (self.milliseconds, self.numbers, self.words) = (milliseconds, numbers, words)
  }
}

extension LogEntry: CustomStringConvertible {
  /// Event, phase, duration, and what is known of it by name, in one line.
  public var description: String {
    var parts = [event.name]
    if phase != .event { parts.append(phase.rawValue) }
    if let interval { parts.append("#\(interval)") }
    if let milliseconds { parts.append("\(milliseconds) ms") }
    parts += words.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
    parts += numbers.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
    return parts.joined(separator: " ")
  }
}
