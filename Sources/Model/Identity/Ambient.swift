// SPDX-License-Identifier: Apache-2.0

/// Where time and randomness come from. Nothing in Skerry reads a clock or draws a number by any other way, so a test or
/// a simulator that supplies both decides the whole run.
public protocol Ambient: Sendable {
  /// Wall-clock time in milliseconds since 1970.
  func now() -> Int64
  /// Sixty-four random bits.
  func random() -> UInt64
}

extension Ambient {
  /// A new UUIDv7 (RFC 9562, section 5.7): 48 bits of time, then version, variant and 74 random bits.
  package func makeMutationID() -> MutationID { MutationID(raw: makeUUIDv7()) }

  /// A new UUIDv7 in its text form, for a row's key.
  package func makeRowID() -> String { makeUUIDv7().uuidText }

  /// A new replica id: 128 random bits. It carries no time, since it is also sent for accounts that share a device.
  package func makeReplicaID() -> ReplicaID {
    ReplicaID(Hex.text(Bytes16(high: random(), low: random()).bytes))
  }

  private func makeUUIDv7() -> Bytes16 {
    let time = UInt64(bitPattern: max(0, now())) & 0xFFFF_FFFF_FFFF
    let high = time << 16 | 0x7000 | random() & 0x0FFF
    return Bytes16(high: high, low: 0x8000_0000_0000_0000 | random() >> 2)
  }
}
