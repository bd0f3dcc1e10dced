// SPDX-License-Identifier: Apache-2.0

#if canImport(SwiftUI)
  public import Skerry
  public import SwiftUI

  extension View {
    /// Syncs while this view is there: put it at the root of the account's part of the app, once.
    ///
    /// A round is asked for each time the app comes to the foreground. In the background the system stops the app soon: what is
    /// to happen there is a background task with `SyncEngine.syncOnce(within:)`.
    ///
    /// - Parameters:
    ///   - engine: the engine of the account's replica.
    ///   - onFailure: told why syncing has ended by itself: the file cannot be used any more, or another engine syncs it. The
    ///     network and the server are no reasons.
    public func syncing(
      with engine: SyncEngine, onFailure: @escaping @MainActor (any Error) -> Void
    ) -> some View {
      modifier(Syncing(engine: engine, onFailure: onFailure))
    }
  }

  private struct Syncing: ViewModifier {
    let engine: SyncEngine
    let onFailure: @MainActor (any Error) -> Void
    @Environment(\.scenePhase) private var phase

    func body(content: Content) -> some View {
      content
        .task(id: ObjectIdentifier(engine)) {
          do { try await engine.run() } catch is CancellationError {
            // The view is gone, or has another engine by now.
          } catch { onFailure(error) }
        }
        .task(id: phase) {
          if phase == .active { await engine.requestSync() }
        }
    }
  }
#endif
