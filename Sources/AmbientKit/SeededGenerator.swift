// SPDX-License-Identifier: Apache-2.0

/// SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014).
package struct SeededGenerator: RandomNumberGenerator, Sendable {
  package private(set) var seed: UInt64

  package init(seed: UInt64) { self.seed = seed }

  package mutating func next() -> UInt64 {
    seed &+= 0x9E37_79B9_7F4A_7C15
    var mixed = seed
    mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
    return mixed ^ mixed >> 31
  }

  /// True with this probability.
  package mutating func chance(_ probability: Double) -> Bool { Double(next() >> 11) * 0x1p-53 < probability }

  /// One of them, if there is any.
  package mutating func pick<C: Collection>(_ items: C) -> C.Element? { items.randomElement(using: &self) }
}
