// SPDX-License-Identifier: Apache-2.0

import SkerryMachine
import SkerryModel
import SkerrySQLiteKit
import SkerryStore
import Synchronization

/// Tells the app's sink what happens, and keeps the newest entries for a support bundle. There is none where nobody listens.
final class EventLog: Sendable {
  /// An interval that has begun.
  struct Span {
    let event: LogEntry.Event
    let number: UInt64
    let began: Int64
  }

  private struct State {
    var next: UInt64 = 1
    var recent: [LogEntry] = []
  }

  private static let kept = 100
  private let sink: LogSink
  private let ambient: any Ambient
  private let state = Mutex(State())

  init(_ sink: @escaping LogSink, _ ambient: any Ambient) {
    self.sink = sink
    self.ambient = ambient
  }

  /// The newest entries, oldest first.
  var recent: [LogEntry] { state.withLock { Array($0.recent.suffix(EventLog.kept)) } }

  private func send(_ entry: LogEntry) {
    state.withLock { state in
      state.recent.append(entry)
      if state.recent.count >= 2 * EventLog.kept { state.recent.removeFirst(EventLog.kept) }
    }
    sink(entry)
  }

  func note(
    _ event: LogEntry.Event, level: LogEntry.Level = .info, numbers: [String: Int64] = [:],
    words: [String: String] = [:]
  ) {
    send(LogEntry(at: ambient.now(), level, event, numbers: numbers, words: words))
  }

  func begin(_ event: LogEntry.Event, numbers: [String: Int64] = [:]) -> Span {
    let number = state.withLock { state in
      defer { state.next += 1 }
      return state.next
    }
    let span = Span(event: event, number: number, began: ambient.now())
    send(LogEntry(at: span.began, .debug, event, .begin, interval: number, numbers: numbers))
    return span
  }

  func end(
    _ span: Span?, level: LogEntry.Level = .debug, numbers: [String: Int64] = [:], words: [String: String] = [:]
  ) {
    guard let span else { return }
    let now = ambient.now()
    send(
      LogEntry(
        at: now, level, span.event, .end, interval: span.number, milliseconds: now - span.began, numbers: numbers,
        words: words))
  }

  // MARK: What there is to tell

  /// A word for an error: its text could quote what was written.
  static func word(_ error: any Error) -> String {
    switch error {
    case let error as StoreError: error.code.name
    case let error as SQLiteError: "sqlite \(error.code)"
    default: "\(type(of: error))"
    }
  }

  func noteOpening(_ span: Span?, from earlier: Int?, to version: Int, _ pending: Int?) {
    if let earlier {
      note(.migration, level: .notice, numbers: ["from": Int64(earlier), "to": Int64(version)])
    }
    end(span, level: .info, numbers: ["pending": Int64(pending ?? 0), "version": Int64(version)])
  }

  func begin(_ exchange: SyncSession.Exchange) -> Span {
    var numbers = ["bytes": Int64(exchange.request.body.count)]
    if exchange.isPush { numbers["mutations"] = Int64(exchange.mutations) }
    return begin(exchange.isPush ? .push : .pull, numbers: numbers)
  }

  func end(_ span: Span?, _ result: Result<TransportResponse, TransportError>) {
    switch result {
    case .success(let response):
      end(span, numbers: ["bytes": Int64(response.body.count), "status": Int64(response.status)])
    case .failure(let error): end(span, level: .info, words: ["failure": EventLog.word(error)])
    }
  }

  private static func word(_ error: TransportError) -> String {
    switch error {
    case .unreachable: "unreachable"
    case .cancelled: "cancelled"
    case .timedOut: "timedOut"
    case .tooLarge: "tooLarge"
    case .broken: "broken"
    }
  }

  func note(_ effect: PageEffect, items: Int) {
    if let reason = effect.reset {
      note(.reset, level: reason == .first ? .info : .notice, words: ["reason": reason.rawValue])
    } else if effect.isApplied {
      note(
        .page, level: .debug,
        numbers: [
          "consistent": effect.isConsistent ? 1 : 0, "items": Int64(items), "settled": Int64(effect.settled.count),
          "tables": Int64(effect.tables.count),
        ])
    }
    for code in effect.refusals { note(.refusal, level: .notice, words: ["code": code?.text ?? "unknown"]) }
    if !effect.lost.isEmpty { note(.accessLost, level: .notice, numbers: ["spaces": Int64(effect.lost.count)]) }
    if !effect.mismatches.isEmpty {
      note(.digestMismatch, level: .error, numbers: ["spaces": Int64(effect.mismatches.count)])
    }
  }

  func note(_ condition: SyncMachine.Condition) {
    switch condition {
    case .working: note(.engine, level: .debug, words: ["condition": "working"])
    case .idle: note(.engine, level: .debug, words: ["condition": "idle"])
    case .unreachable: note(.engine, words: ["condition": "unreachable"])
    case .failing(let status):
      note(.engine, level: .notice, numbers: ["status": Int64(status)], words: ["condition": "failing"])
    case .needsAuthentication: note(.engine, level: .notice, words: ["condition": "needsAuthentication"])
    case .refused(let status):
      note(.engine, level: .notice, numbers: ["status": Int64(status)], words: ["condition": "refused"])
    }
  }
}
