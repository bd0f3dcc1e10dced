// SPDX-License-Identifier: Apache-2.0

import SkerryModel
import SkerryServerCore
import Testing

/// The transitions of memberships: the middle of `ChangeLog`.
extension StorageContract {
  package static let members: [ContractCase] = [
    ContractCase("an account without a transition has none") { world in
      let found = try (world.memberships("ana"), world.membership("ana", "team:t"))
      #expect(found.0.isEmpty)
      #expect(found.1 == nil)
    },
    ContractCase("a membership has one entry, its newest transition") { world in
      try world.set("ana", "team:t", 3, true)
      #expect(try world.membership("ana", "team:t") == MembershipEntry(space: "team:t", position: 3, isInside: true))
      try world.set("ana", "team:t", 5, false)
      #expect(try world.memberships("ana") == [MembershipEntry(space: "team:t", position: 5, isInside: false)])
      try world.set("ana", "team:t", 8, true)
      #expect(try world.memberships("ana") == [MembershipEntry(space: "team:t", position: 8, isInside: true)])
    },
    ContractCase("an account has all its own transitions, and no other's") { world in
      try world.set("ana", "team:t", 3, true)
      try world.set("ana", "team:u", 4, false)
      try world.set("bob", "team:t", 5, true)
      let entries = try world.memberships("ana").sorted { $0.position < $1.position }
      #expect(
        entries == [
          MembershipEntry(space: "team:t", position: 3, isInside: true),
          MembershipEntry(space: "team:u", position: 4, isInside: false),
        ])
      #expect(try world.membership("bob", "team:u") == nil)
      #expect(try world.memberships("cat").isEmpty)
    },
    ContractCase("lost memberships go with the tombstones, those that last stay") { world in
      try world.set("ana", "team:t", 3, true)
      try world.set("ana", "team:u", 4, false)
      try world.set("ana", "team:v", 5, false)
      try world.storage.write { try $0.removeTombstones(upTo: 4) }
      #expect(Set(try world.memberships("ana").map(\.space)) == ["team:t", "team:v"])
      try world.storage.write { try $0.removeTombstones(upTo: 9) }
      #expect(try world.memberships("ana").map(\.space) == ["team:t"])
    },
  ]
}

extension StorageWorld {
  fileprivate func memberships(_ user: AccountID) throws -> [MembershipEntry] {
    try storage.read { try $0.memberships(of: user) }
  }

  fileprivate func membership(_ user: AccountID, _ space: SpaceID) throws -> MembershipEntry? {
    try storage.read { try $0.membership(Membership(user: user, space: space)) }
  }

  fileprivate func set(_ user: AccountID, _ space: SpaceID, _ position: Int64, _ isInside: Bool) throws {
    try storage.write {
      try $0.setMembership(Membership(user: user, space: space), at: position, isInside: isInside)
    }
  }
}
