// SPDX-License-Identifier: Apache-2.0

import SkerryModel
import Testing

@Suite("Ids from time and randomness") struct AmbientTests {
  private struct Still: Ambient {
    let time: Int64
    let bits: UInt64
    func now() -> Int64 { time }
    func random() -> UInt64 { bits }
  }

  @Test func `a mutation's id is a UUIDv7 of its time`() {
    let time: Int64 = 0x0197_A0DE_89AB
    let zeros = Still(time: time, bits: 0).makeMutationID()
    #expect(zeros.description == "0197a0de-89ab-7000-8000-000000000000")
    let ones = Still(time: time, bits: .max).makeMutationID()
    #expect(ones.description == "0197a0de-89ab-7fff-bfff-ffffffffffff")
    #expect(Still(time: time, bits: 0).makeRowID() == zeros.description)
  }

  @Test func `later ids come later in order`() {
    let ids = [0, 1, 255, 256, 1_700_000_000_000, 1_700_000_000_001].map {
      Still(time: $0, bits: .max).makeMutationID()
    }
    #expect(ids == ids.sorted())
  }

  @Test func `a clock before 1970 gives the earliest time`() {
    #expect(Still(time: -1, bits: 0).makeMutationID().description == "00000000-0000-7000-8000-000000000000")
  }

  @Test func `a replica's id holds no time`() {
    #expect(Still(time: 1, bits: 0x0123_4567_89AB_CDEF).makeReplicaID() == "0123456789abcdef0123456789abcdef")
    #expect(Still(time: 1, bits: 7).makeReplicaID() == Still(time: 2, bits: 7).makeReplicaID())
  }
}
