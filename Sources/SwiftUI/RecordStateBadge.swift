// SPDX-License-Identifier: Apache-2.0

#if canImport(SwiftUI)
  public import Skerry
  public import SwiftUI

  /// A small symbol for how far the changes of a row are; nothing for a row that the server has confirmed.
  ///
  /// Its words for VoiceOver are keys of the app's own strings: "Waiting", "Sent", "Not accepted yet".
  public struct RecordStateBadge: View {
    private let state: RecordState

    /// The badge of a state, as `Tracked` has it.
    public init(_ state: RecordState) { self.state = state }

    /// The symbol.
    public var body: some View {
      switch state {
      case .confirmed: EmptyView()
      case .waiting: badge("arrow.up.circle", "Waiting").foregroundStyle(.secondary)
      case .sent: badge("arrow.up.circle.fill", "Sent").foregroundStyle(.secondary)
      case .failed: badge("exclamationmark.triangle.fill", "Not accepted yet").foregroundStyle(.orange)
      }
    }

    private func badge(_ symbol: String, _ words: LocalizedStringKey) -> some View {
      Image(systemName: symbol).imageScale(.small).accessibilityLabel(Text(words))
    }
  }
#endif
