// SPDX-License-Identifier: Apache-2.0

import SkerryMerge
import SkerryModel
import SkerryServerCore
import Testing

/// Version tags and incarnations of what other programs write.
extension StorageContract {
  package static let versions: [ContractCase] = [
    ContractCase("every row that another program writes gets a version that no other has") { world in
      var seen: Set<VersionTag> = []
      var written = 0
      for round in 0..<5 {
        if round == 0 {
          try world.foreign("INSERT INTO seat(id) VALUES (1), (2), (3)")
        } else {
          try world.foreign("UPDATE seat SET owner = 'x\(round)'")
        }
        for id in 1...3 {
          written += 1
          if let row = try world.row(RowKey("seat", .integer(Int64(id)))) { seen.insert(row.version) }
        }
      }
      #expect(seen.count == written)
    },
    ContractCase("a foreign write's version has the form that no mutation's id has") { world in
      try world.foreign(Sample.insert(item: "a"))
      let first = try world.row(Sample.item("a"))
      try world.foreign("UPDATE item SET title = 'x'")
      try world.write(Sample.item("b"), Sample.values(item: "b"), by: 1)
      let later = try ["a", "b"].map { try world.row(Sample.item($0))?.version.isForeign }
      #expect(first?.version.isForeign == true && first?.incarnation.tag.isForeign == true)
      #expect(later == [true, false])
    },
    ContractCase("a program that writes after this server does not get the mutation's version") { world in
      try world.write(Sample.item("a"), Sample.values(item: "a"), by: 1)
      try world.foreign("UPDATE item SET title = 'x'")
      try world.foreign(Sample.insert(item: "b"))
      let rows = try ["a", "b"].map { try world.row(Sample.item($0)) }
      #expect(rows.allSatisfy { $0 != nil && $0?.version != MutationID.numbered(1).tag })
      #expect(rows[0]?.incarnation.tag == MutationID.numbered(1).tag)
      #expect(rows[1]?.incarnation.tag == rows[1]?.version)
    },
    ContractCase("a foreign insert begins an incarnation with its version, which later changes keep") { world in
      try world.foreign(Sample.insert(item: "a"))
      let first = try world.row(Sample.item("a"))
      #expect(first?.incarnation == first.map { Incarnation(tag: $0.version, index: 0) })
      try world.foreign("UPDATE item SET title = 'x'")
      try world.write(Sample.item("a"), Sample.values(item: "a", title: "y"), by: 1)
      #expect(try world.row(Sample.item("a"))?.incarnation == first?.incarnation)
    },
    ContractCase("a row that is deleted and inserted again is another incarnation, in one transaction or in two") {
      world in
      try world.foreign(Sample.insert(item: "a"))
      var seen = try [world.row(Sample.item("a"))?.incarnation]
      try world.foreign("DELETE FROM item")
      try world.foreign(Sample.insert(item: "a"))
      seen.append(try world.row(Sample.item("a"))?.incarnation)
      try world.commit("DELETE FROM item", Sample.insert(item: "a"))
      seen.append(try world.row(Sample.item("a"))?.incarnation)
      try world.commit("DELETE FROM item", Sample.insert(item: "a"), "DELETE FROM item", Sample.insert(item: "a"))
      seen.append(try world.row(Sample.item("a"))?.incarnation)
      #expect(Set(seen).count == 4 && !seen.contains(nil))
    },
    ContractCase("a deletion that is undone leaves version and incarnation as they were") { world in
      try world.foreign(Sample.insert(item: "a"))
      let before = try world.row(Sample.item("a"))
      try world.foreign(world.begin)
      try world.foreign("DELETE FROM item")
      try world.foreign(Sample.insert(item: "a", title: "'again'"))
      try world.foreign("ROLLBACK")
      #expect(try world.row(Sample.item("a")) == before)
    },
    ContractCase("a row that is inserted and deleted in one transaction leaves nothing but its capture") { world in
      try world.commit(Sample.insert(item: "a"), "DELETE FROM item")
      #expect(try world.row(Sample.item("a")) == nil)
      #expect(try world.capturedRows() == [Sample.item("a")])
    },
    ContractCase("a key that moves onto one that has just been freed is a new incarnation there") { world in
      try world.foreign("INSERT INTO seat(id, owner) VALUES (1, 'ana'), (2, 'bob')")
      let before = try [1, 2].map { try world.row(RowKey("seat", .integer($0)))?.incarnation }
      try world.commit("DELETE FROM seat WHERE id = 2", "UPDATE seat SET id = 2 WHERE id = 1")
      let after = try world.row(RowKey("seat", 2))
      #expect(after?.values == [2, "ana"])
      #expect(after != nil && !before.contains(after?.incarnation))
      #expect(try world.row(RowKey("seat", 1)) == nil)
    },
    ContractCase("keys that swap end up with the right rows and no incarnation of before") { world in
      try world.foreign("INSERT INTO seat(id, owner) VALUES (1, 'ana'), (2, 'bob')")
      let before = try [1, 2].map { try world.row(RowKey("seat", .integer($0)))?.incarnation }
      try world.commit(
        "UPDATE seat SET id = -1 WHERE id = 1", "UPDATE seat SET id = 1 WHERE id = 2",
        "UPDATE seat SET id = 2 WHERE id = -1")
      let rows = try [1, 2].map { try world.row(RowKey("seat", .integer($0))) }
      #expect(rows.map { $0?.values[1] } == ["bob", "ana"])
      #expect(rows.allSatisfy { $0 != nil && !before.contains($0?.incarnation) })
      #expect(try world.capturedRows().contains(RowKey("seat", -1)))
    },
  ]
}
