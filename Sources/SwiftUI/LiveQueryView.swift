// SPDX-License-Identifier: Apache-2.0

#if canImport(SwiftUI)
  public import Skerry
  public import SwiftUI

  /// Shows what a query reads, for as long as the view is on the screen.
  ///
  /// ```swift
  /// LiveQueryView(Person.query("WHERE team = \(team) ORDER BY name"), in: replica) { people in
  ///   List(people) { Text($0.name) }
  /// }
  /// .id(team)
  /// ```
  ///
  /// The query is that of the first time. Where it depends on something that changes, give the view that as its `id`, so that
  /// another one takes its place.
  ///
  /// Until the first answer it shows a progress view, and if reading ends by itself, why.
  public struct LiveQueryView<Element: Sendable, Content: View>: View {
    @State private var live: LiveQuery<Element>
    private let content: ([Element]) -> Content

    /// A view of a query in a replica.
    ///
    /// - Parameters:
    ///   - query: what to read.
    ///   - replica: where to read it.
    ///   - content: makes the view of an answer, which may be empty.
    public init(
      _ query: Query<Element>, in replica: Replica, @ViewBuilder content: @escaping ([Element]) -> Content
    ) {
      _live = State(initialValue: LiveQuery(query, in: replica))
      self.content = content
    }

    /// The content, or why there is none.
    public var body: some View {
      Group {
        if let failure = live.failure {
          ContentUnavailableView(
            "Cannot be read", systemImage: "exclamationmark.triangle", description: Text(verbatim: "\(failure)"))
        } else if live.isLoaded {
          content(live.rows)
        } else {
          ProgressView()
        }
      }
      .reading(live)
    }
  }
#endif
