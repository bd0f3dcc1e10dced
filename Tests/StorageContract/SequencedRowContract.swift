// SPDX-License-Identifier: Apache-2.0

import SkerryMerge
import SkerryModel
import SkerryServerCore
import Testing

/// The sequencer's memory: `SequencedRows`.
extension StorageContract {
  package static let sequenced: [ContractCase] = [
    ContractCase("a row that the sequencer has not seen is not remembered") { world in
      try world.foreign(Sample.insert(item: "a"))
      #expect(try world.sequenced(Sample.item("a")) == nil)
      #expect(try world.sequenced(Sample.item("b")) == nil)
    },
    ContractCase("spaces, hash and memberships of a row are remembered as they were given") { world in
      for key in Keys.all { try world.write(key, Keys.values(key), by: 1) }
      let spaces = Set(Keys.texts.map { SpaceID(kind: "team", id: $0) })
      let memberships = Keys.texts.map { Membership(user: AccountID($0), space: SpaceID(kind: "team", id: $0)) }
      for (index, key) in Keys.all.enumerated() {
        let memory = SequencedRow(
          spaces: index == 0 ? [] : spaces, hash: Sample.hash(UInt8(index)), memberships: index == 1 ? [] : memberships)
        try world.storage.write { try $0.setSequenced(key, memory) }
        #expect(try world.sequenced(key) == memory, "\(key)")
      }
      for (index, key) in Keys.all.enumerated() {
        #expect(try world.sequenced(key)?.hash == Sample.hash(UInt8(index)), "\(key)")
      }
    },
    ContractCase("the memory outlives changes and the end of the row, until it is told otherwise") { world in
      let key = Sample.item("a")
      let memory = SequencedRow(spaces: ["team:t"], hash: Sample.hash(1), memberships: [])
      try world.foreign(Sample.insert(item: "a"))
      try world.storage.write { try $0.setSequenced(key, memory) }
      let changes = [
        "UPDATE item SET title = 'x', home = 'team:u'", "DELETE FROM item", Sample.insert(item: "a"),
        "DELETE FROM item",
      ]
      for change in changes {
        try world.foreign(change)
        #expect(try world.sequenced(key) == memory, "\(change)")
      }
      try world.storage.write { try $0.setSequenced(key, nil) }
      #expect(try world.sequenced(key) == nil)
    },
    ContractCase("a later memory takes the place of the one before") { world in
      let key = Sample.item("a")
      try world.foreign(Sample.insert(item: "a"))
      let first = SequencedRow(
        spaces: ["team:t"], hash: Sample.hash(1), memberships: [Membership(user: "ana", space: "team:t")])
      let second = SequencedRow(spaces: ["team:u"], hash: Sample.hash(2), memberships: [])
      try world.storage.write { transaction in
        try transaction.setSequenced(key, first)
        try transaction.setSequenced(key, second)
      }
      #expect(try world.sequenced(key) == second)
    },
    ContractCase("a row that comes again after its end was forgotten is a new incarnation, unseen") { world in
      let key = Sample.item("a")
      try world.foreign(Sample.insert(item: "a"))
      let before = try world.row(key)?.incarnation
      try world.foreign("DELETE FROM item")
      try world.storage.write { transaction in
        try transaction.setSequenced(key, nil)
        try transaction.removeCaptures(transaction.captures().map(\.number))
      }
      try world.foreign(Sample.insert(item: "a"))
      #expect(try world.sequenced(key) == nil)
      #expect(try world.row(key) != nil)
      #expect(try world.row(key)?.incarnation != before)
      #expect(try world.capturedRows() == [key])
    },
  ]
}

extension StorageWorld {
  fileprivate func sequenced(_ key: RowKey) throws -> SequencedRow? { try storage.read { try $0.sequenced(key) } }
}
