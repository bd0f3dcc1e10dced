// SPDX-License-Identifier: Apache-2.0

/// One thing that happens in a world. All its choices are drawn from its own number, so that leaving steps out leaves the
/// others as they are: that is what shrinking rests on.
package struct Step: Sendable, Equatable {
  package enum Kind: String, Sendable, CaseIterable {
    // What people and programs do
    case write, discard, retry, acknowledge, requestSync, read
    case foreign, foreignEnd, sequence, markSafe, backUp
    case access
    case updateApp, updateServers
    // What goes wrong; each is one of the kinds of `FaultKind`
    case fault
    /// Writes the server's file behind the oracles' back: a run with it must always fail.
    case canary
  }

  package let kind: Kind
  package let number: UInt64
  /// Milliseconds since the step before.
  package let pause: Int64
  package let phase: Phase
  /// The kind of fault, for a step that is one.
  package var fault: FaultKind?

  package init(kind: Kind, number: UInt64, pause: Int64, phase: Phase, fault: FaultKind? = nil) {
    self.kind = kind
    self.number = number
    self.pause = pause
    self.phase = phase
    self.fault = fault
  }
}

/// The parts of a run.
package enum Phase: String, Sendable {
  /// No faults.
  case warmUp = "warm-up"
  /// All faults of the profile.
  case storm
  /// Messages pass and processes live; the rest of what went wrong stays as it is.
  case partialHeal = "partial heal"
}
