// SPDX-License-Identifier: Apache-2.0

extension Duration {
  /// In whole milliseconds; a part of one counts as a whole one, so that nobody who waits wakes too early.
  package var milliseconds: Int64 {
    let (seconds, attoseconds) = components
    let part = attoseconds / 1_000_000_000_000_000
    return seconds * 1_000 + part + (attoseconds % 1_000_000_000_000_000 > 0 ? 1 : 0)
  }
}
