// SPDX-License-Identifier: Apache-2.0

import SkerryModel

/// The form in which names are compared with what SQLite holds.
extension HistoryNames {
  /// As SQLite's `hex` writes it; what is not known in the model's words, which no database gives.
  func hex(version tag: HistoryTag, of key: Int) -> String {
    if case .mutation(let rank) = tag { return hexOfMutations[rank] }
    guard let version = try? version(tag, of: key) else { return "\(tag)" }
    return Hex.text(version.raw.bytes).uppercased()
  }

  func hex(incarnation tag: HistoryTag, of key: Int) -> String {
    guard let incarnation = try? incarnation(tag, of: key) else { return "\(tag)" }
    return Hex.text(incarnation.bytes).uppercased()
  }

  func hex(mutation rank: Int) -> String { hexOfMutations[rank] }

  /// The same text with the model's names where it holds ids in hexadecimal, for people.
  func readable(_ text: String) -> String {
    var text = text
    for (incarnation, name) in incarnationNames {
      text = text.replacing(Hex.text(incarnation.bytes).uppercased(), with: transactionNames[name.transaction])
    }
    for (version, name) in versionNames {
      text = text.replacing(Hex.text(version.raw.bytes).uppercased(), with: transactionNames[name.transaction])
    }
    for (rank, hex) in hexOfMutations.enumerated() { text = text.replacing(hex, with: mutationNames[rank]) }
    return text
  }
}
