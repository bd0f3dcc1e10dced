// SPDX-License-Identifier: Apache-2.0

import SkerryModel
import SkerrySQLiteKit
import SkerryTables

/// How a file becomes a store, or is found to be one.
extension Store {
  /// An open file and what it knows of itself.
  struct Opened {
    let connection: SQLiteConnection
    let state: ReplicaState
    let dataVersion: Int64
    /// The version of the schema from which the file was brought to this one; nil if it had this one, or is new.
    let migratedFrom: Int?
  }

  static func open(
    _ place: StorePlace, account: AccountID, catalog: Catalog, ambient: any Ambient
  ) throws -> Opened {
    let connection = try place.openWriter()
    try connection.execute("PRAGMA secure_delete = ON")  // others' values do not outlive a lost access in free pages
    let (state, earlier) = try connection.transaction(.immediate) {
      try prepare(connection, account: account, catalog: catalog, ambient: ambient)
    }
    connection.watchChanges()
    return Opened(
      connection: connection, state: state, dataVersion: try connection.dataVersion(), migratedFrom: earlier?.version)
  }

  /// - Returns: what the file holds, and the schema with which it was made if it was another one.
  private static func prepare(
    _ connection: SQLiteConnection, account: AccountID, catalog: Catalog, ambient: any Ambient
  ) throws -> (ReplicaState, earlier: Schema?) {
    let hasState =
      try connection.first(
        "SELECT 1 FROM sqlite_schema WHERE name = 'skerry_state'"
      ) { _ in true } ?? false
    if hasState { try EntrySum.addColumn(on: connection) }
    let old = hasState ? try checkOwner(connection, account: account, schema: catalog.schema) : nil
    if let old { try StoreMigration(connection, catalog, from: old).run() }
    try ClientSchema(catalog).create(on: connection)
    if let state = try ReplicaState.read(from: connection) { return (state, old) }
    let state = ReplicaState(ids: [ambient.makeReplicaID()])
    try connection.run(
      """
      INSERT INTO skerry_state(id, format, account, app, version, schema, ids, counter, made, long, count, mismatches)
      VALUES (1, ?, ?, ?, ?, ?, ?, 0, 0, 0, 0, 0)
      """, .integer(ClientSchema.format), .text(account.text), .text(catalog.schema.name),
      .integer(Int64(catalog.schema.version)), .text(try SchemaText.encode(catalog.schema)), .text(state.id.text))
    return (state, nil)
  }

  /// - Returns: the schema with which the file was made, if it is another one.
  private static func checkOwner(
    _ connection: SQLiteConnection, account: AccountID, schema: Schema
  ) throws -> Schema? {
    // Another format may lack what comes after it.
    let format = try connection.first("SELECT format FROM skerry_state") { $0.integer(0) }
    if let format, format != ClientSchema.format {
      throw StoreError(
        .otherSchema, "the file has format \(format), this library reads \(ClientSchema.format); update the app")
    }
    let found = try connection.first("SELECT account, app, version, schema FROM skerry_state") {
      (AccountID($0.text(0)), $0.text(1), Int($0.integer(2)), $0.text(3))
    }
    guard let (owner, app, version, text) = found else { return nil }
    if owner != account {
      throw StoreError(.otherAccount, "the file belongs to another account; open one store per account")
    }
    if app != schema.name || version > schema.version {
      throw StoreError(
        .otherSchema,
        "the file was made with \(app) \(version), opened with \(schema.name) \(schema.version); open it with the newer app"
      )
    }
    guard let old = SchemaText.decode(text) else {
      throw StoreError(.damaged, "skerry_state holds a schema that cannot be read")
    }
    return old == schema ? nil : old
  }
}
