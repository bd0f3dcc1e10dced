// SPDX-License-Identifier: Apache-2.0

#if canImport(SwiftUI)
  public import Skerry
  public import SwiftUI

  /// The rows of a query as a property of a view, for views that lay them out by themselves.
  ///
  /// ```swift
  /// struct PeopleView: View {
  ///   @LiveRows var people: [Person]
  ///
  ///   init(of team: RowID<Team>, in replica: Replica) {
  ///     _people = LiveRows(Person.query("WHERE team = \(team) ORDER BY name"), in: replica)
  ///   }
  ///
  ///   var body: some View { List(people) { Text($0.name) }.reading($people) }
  /// }
  /// ```
  ///
  /// Nothing is read without `reading(_:)`: a property alone cannot know when its view is on the screen.
  @propertyWrapper
  public struct LiveRows<Element: Sendable>: DynamicProperty {
    @State private var live: LiveQuery<Element>

    /// The rows of a query in a replica. The query is that of the first time: see `LiveQueryView`.
    @MainActor public init(_ query: Query<Element>, in replica: Replica) {
      _live = State(initialValue: LiveQuery(query, in: replica))
    }

    /// The newest rows; empty before the first answer.
    @MainActor public var wrappedValue: [Element] { live.rows }

    /// The live query itself: whether it has been answered, why it has ended, and what `reading(_:)` wants.
    @MainActor public var projectedValue: LiveQuery<Element> { live }
  }

  extension View {
    /// Keeps a live query reading while this view is on the screen. Twice on one screen is no harm, but reads twice.
    public func reading<Element: Sendable>(_ query: LiveQuery<Element>) -> some View {
      task(id: ObjectIdentifier(query)) { await query.run() }
    }
  }
#endif
