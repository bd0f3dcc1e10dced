// SPDX-License-Identifier: Apache-2.0

import SkerryAmbientKit
import SkerryModel

extension Author {
  // MARK: Values

  /// Nil when no value will do: a parent is needed, and none is there.
  func value(
    for column: Column, _ view: View, _ random: inout SeededGenerator, isNeeded: Bool = false
  ) -> Value? {
    if column.definition.isOptional, !isNeeded, random.chance(0.2) { return .null }
    switch column.role {
    case .counter: return .integer(Int64(random.next() % 5))
    case .space(let kind):
      return spaceID(kind, view, &random).map { .text($0) }
    case .spaceName:
      if random.chance(0.5) { return .text("user:" + view.user.text) }
      guard let kind = pick(spaceIDs.keys.sorted(), &random), let id = spaceID(kind, view, &random) else { return nil }
      return .text(kind + ":" + id)
    case .parent(let table):
      let parents = view.keys.filter { $0.table == table }
      if let parent = pick(parents, &random) { return parent.values.first }
      return column.definition.isOptional ? .null : nil
    case .user: return pick(users, &random).map { .text($0.text) }
    case .plain:
      return column.isKey
        ? ValueMaker.key(column.definition.type, random.next() % poolSize)
        : ValueMaker.value(column.definition.type, &random)
    }
  }

  /// Mostly one that the person is in, since a refusal stops more than it tests.
  private func spaceID(_ kind: String, _ view: View, _ random: inout SeededGenerator) -> String? {
    let isAtHome = random.chance(0.9)
    if isAtHome, let home = pick(view.homes[kind] ?? [], &random) { return home }
    return pick(spaceIDs[kind] ?? [], &random)
  }

  // MARK: The beginning

  /// What is there before anybody does anything: two spaces of each kind that has members, their root rows and some
  /// members. The last user is in none.
  func beginning(_ schema: Schema) -> [Deed] {
    var random = SeededGenerator(seed: 1)
    var out: [Deed] = []
    var taken: Set<RowKey> = []
    for space in schema.spaces {
      guard case .table(let table, let spaceColumn, let userColumn) = space.members else { continue }
      for number in 0..<2 {
        let id = Value.text("\(space.kind)\(number)")
        if let root = space.root, let key = byName[root]?.key.first?.definition.name {
          add(insert(view([:], users[0]), &random, into: root, given: [key: id]), &taken, &out)
        }
        for (index, user) in users.enumerated() where index % 2 == number || index == 1 {
          // Keys come from a pool: drawn again until one is free.
          for _ in 0..<20 {
            let given = [spaceColumn: id, userColumn: Value.text(user.text)]
            if add(insert(view([:], user), &random, into: table, given: given), &taken, &out) { break }
          }
        }
      }
    }
    return out
  }

  @discardableResult
  private func add(_ deed: Deed?, _ taken: inout Set<RowKey>, _ out: inout [Deed]) -> Bool {
    guard let deed, taken.insert(deed.key).inserted else { return false }
    out.append(deed)
    return true
  }

  /// Gives or takes away a membership, as an administrator would.
  func accessChange(_ schema: Schema, seeing rows: [RowKey: Row], _ random: inout SeededGenerator) -> Deed? {
    let kinds = schema.spaces.compactMap { space -> (String, String, String, String)? in
      if case .table(let table, let column, let user) = space.members { (space.kind, table, column, user) } else { nil }
    }
    guard let (kind, table, column, userColumn) = pick(kinds, &random) else { return nil }
    let members = rows.keys.filter { $0.table == table }.sorted()
    if random.chance(0.5), let key = pick(members, &random) { return .delete(key) }
    guard let id = pick(Array((spaceIDs[kind] ?? []).prefix(2)), &random), let user = pick(users, &random) else {
      return nil
    }
    return insert(
      view(rows, user), &random, into: table, given: [column: .text(id), userColumn: .text(user.text)])
  }
}
