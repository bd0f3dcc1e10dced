// SPDX-License-Identifier: Apache-2.0

import SkerryMerge
import SkerryModel

/// Whether an account may do to some rows what a mutation does.
///
/// The row's old spaces are judged before: the right in one of them is needed, and in each that is added or removed (a delete
/// removes the row from each). Added spaces are held against membership before the mutation, except those whose root row the
/// mutation creates, if nothing was in them before. A row in no space belongs to nobody, so an existing row without a space
/// cannot be taken by inserting the parent that it names.
struct Permission {
  let catalog: Catalog
  let transaction: any StorageTransaction
  let user: AccountID

  private final class Rights { var known: [SpaceID: Bool] = [:] }
  private let rights = Rights()

  init(_ catalog: Catalog, _ transaction: any StorageTransaction, user: AccountID) {
    self.catalog = catalog
    self.transaction = transaction
    self.user = user
  }

  /// Judges the operations by what the rows were, before any rule reads a row: the right in one of its old spaces is needed.
  ///
  /// An operation that names another life of the row is not judged: to everybody the row that it means is no more. Neither
  /// is an insert, which can do no more than learn that the key is taken.
  func allows(_ operations: [Operation], on before: [RowKey: RowState]) throws -> Bool {
    let old = Spaces(catalog) { key in try before[key]?.values ?? transaction.row(key)?.values }
    var judged: Set<RowKey> = []
    for operation in operations {
      guard let row = before[operation.key], row.incarnation == operation.incarnation,
        judged.insert(operation.key).inserted
      else { continue }
      if try !old.spaces(of: operation.key).contains(where: hasRight) { return false }
    }
    return true
  }

  /// Judges the change of the touched rows from `before` to `after`; nothing has been written yet.
  func allows(_ before: [RowKey: RowState], _ after: [RowKey: RowState], touched: Set<RowKey>) throws -> Bool {
    func reader(_ states: [RowKey: RowState]) -> Spaces {
      Spaces(catalog) { key in
        try touched.contains(key) ? states[key]?.values : transaction.row(key)?.values
      }
    }
    let old = reader(before)
    let new = reader(after)
    let fresh = try openedSpaces(before, after, touched)
    for key in touched.sorted() where before[key] != nil || after[key] != nil {
      let existed = before[key] != nil
      if try !allows(existed, from: old.spaces(of: key), to: new.spaces(of: key), fresh) { return false }
      guard !existed, after[key] != nil else { continue }
      // Children of a row that stays share its old and new spaces, so the row's own judgement covers them. Those of a row
      // that is new were orphans until now.
      for child in try transaction.children(of: key) where !touched.contains(child) {
        if try !allows(true, from: old.spaces(of: child), to: new.spaces(of: child), fresh) { return false }
      }
    }
    return true
  }

  private func allows(
    _ existed: Bool, from old: Set<SpaceID>, to new: Set<SpaceID>, _ fresh: Set<SpaceID>
  ) throws -> Bool {
    if existed, try !old.contains(where: hasRight) { return false }
    if !existed, new.isEmpty { return false }
    for space in new.subtracting(old) where !fresh.contains(space) {
      if try !hasRight(space) { return false }
    }
    return try old.subtracting(new).allSatisfy(hasRight)
  }

  /// The spaces whose root rows the mutation creates and in which there was neither a row nor a membership.
  private func openedSpaces(
    _ before: [RowKey: RowState], _ after: [RowKey: RowState], _ touched: Set<RowKey>
  ) throws -> Set<SpaceID> {
    var out: Set<SpaceID> = []
    for key in touched where before[key] == nil && after[key] != nil {
      guard let id = key.values.first?.text else { continue }
      for kind in catalog.table(key.table)?.rootOf ?? [] {
        let space = SpaceID(kind: kind, id: id)
        if try !transaction.isUsed(space) { out.insert(space) }
      }
    }
    return out
  }

  private func hasRight(_ space: SpaceID) throws -> Bool {
    if let known = rights.known[space] { return known }
    let answer =
      try space == .user(user) || catalog.openSpaces.contains(space)
      || transaction.isMember(user, of: space)
    rights.known[space] = answer
    return answer
  }
}
