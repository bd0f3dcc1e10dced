// SPDX-License-Identifier: Apache-2.0

import Skerry
import SkerryModel
import SkerrySQLiteKit
import SkerryServerCore
import SkerryStore
import SkerryTables

/// Whether a device holds what its account may see on the server.
struct Agreement {
  private let world: TestWorld
  private let catalog: Catalog

  init(_ world: TestWorld) {
    self.world = world
    catalog = world.parts.catalog
  }

  /// What differs first, in words; nil if nothing does.
  func difference(of device: TestDevice) async throws -> String? {
    let scope = AccountScope(catalog, try serverRows(), account: device.account)
    let (expected, found) = (try scope.visible(), try await rows(of: device))
    for key in Set(expected.keys).union(found.keys).sorted() where expected[key] != found[key] {
      return "\(key)\n    server  \(Agreement.text(expected[key]))\n    device  \(Agreement.text(found[key]))"
    }
    return try await digestDifference(scope.spaces, device)
  }

  private func digestDifference(_ spaces: Set<SpaceID>, _ device: TestDevice) async throws -> String? {
    let kept = try await device.replica.digests()
    for space in spaces.sorted() {
      let right = try world.server.withServer { try $0.core.digest(of: space) }
      let own = kept[space] ?? SpaceDigest()
      if own != right { return "the digest of \(space), over \(right.rows) rows there and \(own.rows) here" }
    }
    let strange = kept.keys.sorted().first { !spaces.contains($0) && kept[$0] != SpaceDigest() }
    return strange.map { "it keeps a digest of \($0), in which the account is not" }
  }

  private static func text(_ values: [Value]?) -> String {
    values.map { $0.map(RowText.text).joined(separator: " | ") } ?? "no such row"
  }

  private func serverRows() throws -> [RowKey: [Value]] {
    let tables = catalog.tables
    return try world.server.withServer { server in
      var out: [RowKey: [Value]] = [:]
      for table in tables {
        let sql = TableSQL(table)
        for values in try server.foreign.query(
          "SELECT \(sql.columns) FROM \(sql.name)", row: { $0.modelValues(0..<table.columns.count) })
        { out[table.key(of: values)] = values }
      }
      return out
    }
  }

  private func rows(of device: TestDevice) async throws -> [RowKey: [Value]] {
    var out: [RowKey: [Value]] = [:]
    for table in catalog.tables {
      let sql = TableSQL(table)
      // The table itself: the view in front of it shows placeholders.
      for row in try await device.replica.read("SELECT \(sql.columns) FROM \(sql.mainName)") {
        out[table.key(of: row.values)] = row.values
      }
    }
    return out
  }
}
