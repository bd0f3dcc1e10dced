// SPDX-License-Identifier: Apache-2.0

/// The part of a transfer that took too long.
package enum CurlPhase: String, Hashable, Sendable {
  case connect
  case firstByte = "first byte"
  case idle
  case total
}

/// Where a transfer is, as libcurl counts it.
struct TransferProgress: Hashable {
  /// Milliseconds from the start.
  var elapsed: Int
  var isConnected: Bool
  var sent: Int
  var toSend: Int
  var received: Int
  /// Whether the status line of the response itself came.
  var hasBegun: Bool
}

/// Decides whether a transfer is late, from its progress alone. Time comes in as a number, so a test needs no clock.
struct TransferWatch {
  private let limits: CurlLimits
  private var moved = (bytes: -1, at: 0)
  private var sentAt: Int?

  init(_ limits: CurlLimits) { self.limits = limits }

  /// The part that is late, or how many milliseconds are left to the next look.
  mutating func look(at progress: TransferProgress) -> Verdict {
    note(progress)
    var nearest = (phase: CurlPhase.total, due: limits.total)
    let phase = phase(of: progress)
    if phase.due < nearest.due { nearest = phase }
    let left = nearest.due - progress.elapsed
    return left <= 0 ? .late(nearest.phase) : .early(milliseconds: left)
  }

  enum Verdict: Hashable {
    case late(CurlPhase)
    case early(milliseconds: Int)
  }

  private mutating func note(_ progress: TransferProgress) {
    guard progress.isConnected else { return }
    let bytes = progress.sent + progress.received
    if bytes != moved.bytes { moved = (bytes, progress.elapsed) }
    if progress.sent >= progress.toSend, sentAt == nil { sentAt = progress.elapsed }
  }

  private func phase(of progress: TransferProgress) -> (phase: CurlPhase, due: Int) {
    guard progress.isConnected else { return (.connect, limits.connect) }
    if let sentAt, !progress.hasBegun { return (.firstByte, sentAt + limits.firstByte) }
    return (.idle, moved.at + limits.idle)
  }
}
