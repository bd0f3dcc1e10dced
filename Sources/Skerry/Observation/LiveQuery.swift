// SPDX-License-Identifier: Apache-2.0

public import Observation
public import SkerryRecords

/// What a query reads, for a view: `rows` are always the newest, and a view that reads them is drawn anew when they change.
///
/// ```swift
/// @State private var people: LiveQuery<Person>
/// List(people.rows) { Text($0.name) }.task { await people.run() }
/// ```
///
/// Nothing is read before `run()` is called, and nothing after its task is cancelled.
@MainActor @Observable
public final class LiveQuery<Element: Sendable> {
  /// The newest answer; empty before the first.
  public private(set) var rows: [Element] = []
  /// Whether an answer was read yet: an empty list is otherwise no news.
  public private(set) var isLoaded = false
  /// Why reading has ended by itself; nil if it has not.
  public private(set) var failure: (any Error)?

  @ObservationIgnored private let observation: ObservedQuery<Element>

  /// A query in a replica.
  public init(_ query: Query<Element>, in replica: Replica) { observation = replica.observe(query) }

  /// Reads until the task is cancelled, or until reading fails; `failure` tells then.
  public func run() async {
    failure = nil
    do {
      for try await rows in observation {
        self.rows = rows
        isLoaded = true
      }
    } catch { failure = error }
  }
}
