// SPDX-License-Identifier: Apache-2.0

import SkerryModel
import SkerrySQLiteKit
import SkerryServerCore
import SkerryTables

/// The versions of the schema that a server's file knows.
struct SchemaVersions {
  private let catalog: Catalog
  private let connection: SQLiteConnection

  init(_ catalog: Catalog, _ connection: SQLiteConnection) {
    self.catalog = catalog
    self.connection = connection
  }

  /// A version that the file was served by; nil if it is not known.
  func schema(_ version: Int) throws -> Schema? {
    try connection.first(
      "SELECT schema FROM skerry_schemas WHERE version = ? AND since IS NOT NULL", .integer(Int64(version))
    ) { try SchemaVersions.decode($0.text(0)) }
  }

  /// Notes that the file is served by a version, unless that is noted.
  ///
  /// - Parameter isNew: from its newest position on; otherwise it was from the beginning, though nobody noted it then.
  func keep(_ schema: Schema, isNew: Bool) throws {
    try connection.run(
      """
      INSERT INTO skerry_schemas(version, fingerprint, schema, since)
      SELECT ?1, ?2, ?3, iif(?4, head, 0) FROM skerry_history WHERE true
      ON CONFLICT(version) DO UPDATE
        SET fingerprint = excluded.fingerprint, schema = excluded.schema, since = excluded.since WHERE since IS NULL
      """, .integer(Int64(schema.version)), .blob(schema.fingerprint), .text(try SchemaText.encode(schema)),
      .integer(isNew ? 1 : 0))
  }

  /// Notes versions of which devices may come.
  ///
  /// - Throws: `SchemaError` for one that is no earlier version of this app, or of which no way leads to the current one;
  ///   `StorageError.otherSchema` if the file was served by another one under its number.
  func keep(announced schemas: [Schema]) throws {
    for schema in schemas {
      _ = try Catalog(schema)
      if schema.version == catalog.schema.version {
        throw SchemaError(
          "\(schema.name) \(schema.version)", "it is no earlier version", "announce earlier versions only")
      }
      _ = try SchemaUpgrade(from: schema, to: catalog.schema)
      try connection.run(
        "INSERT OR IGNORE INTO skerry_schemas(version, fingerprint, schema, since) VALUES (?, ?, ?, NULL)",
        .integer(Int64(schema.version)), .blob(schema.fingerprint), .text(try SchemaText.encode(schema)))
      let isSame = try connection.first(
        "SELECT fingerprint = ? FROM skerry_schemas WHERE version = ?", .blob(schema.fingerprint),
        .integer(Int64(schema.version))
      ) { $0.integer(0) != 0 }
      if isSame != true {
        throw StorageError.otherSchema(
          "the database knows another schema as \(schema.name) \(schema.version) than the one that is announced; "
            + "announce the one that was released under that number")
      }
    }
  }

  /// All, in the order of their numbers.
  func all() throws -> [KnownSchema] {
    try connection.query("SELECT schema, since FROM skerry_schemas ORDER BY version") {
      KnownSchema(try SchemaVersions.decode($0.text(0)), since: $0.isNull(1) ? nil : $0.integer(1))
    }
  }

  private static func decode(_ text: String) throws -> Schema {
    guard let schema = SchemaText.decode(text) else { throw StorageError.damaged("skerry_schemas") }
    return schema
  }
}

extension SQLiteTransaction: KnownSchemas {
  func knownSchemas() throws -> [KnownSchema] { try SchemaVersions(catalog, connection).all() }
}
