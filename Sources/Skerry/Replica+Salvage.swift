// SPDX-License-Identifier: Apache-2.0

import SkerryAmbientKit
public import SkerryModel
import SkerrySQLiteKit
public import SkerryStore

extension Replica {
  /// Makes a new store of what waits in a damaged one: each mutation whose checksum is right, under its own id. Rows come from
  /// the server with the next sync; it carries out once what it has had before and what it has not.
  ///
  /// Nobody may have the file open. It is read without SQLite, so it may be damaged anywhere; it is taken into memory as a whole. It
  /// is kept, under the name that the report gives. Rows of local tables, refusals that nobody has seen, and confirmed mutations
  /// that the server has not called safe are not salvaged. Pages of an encrypted file cannot be read this way: nothing is found then.
  ///
  /// A call that was cut off can be made again.
  ///
  /// - Parameters:
  ///   - path: the damaged file.
  ///   - folder: where the new store is to be. If the damaged file is there under the account's name, the new one takes its place.
  ///   - account: whose store it is.
  ///   - schema: what the app declares.
  ///   - policy: as for `open(in:account:schema:files:key:drops:log:)`.
  /// - Throws: `SchemaError`; `StoreError` with code `notFound`, `otherAccount`, `otherSchema`, or `exists` if the folder has
  ///   another store of the account; an error of the file system or the database. The damaged file is as it was.
  public static func salvage(
    from path: String, into folder: String, account: AccountID, schema: Schema, files policy: FilePolicy = FilePolicy()
  ) async throws -> SalvageReport {
    let catalog = try Catalog(schema)
    let place = StorePlace(folder + "/" + fileName(of: account), files: policy)
    return try await SerialQueueExecutor(label: "skerry.salvage").run {
      try Store.salvage(path, to: place, account: account, catalog: catalog, ambient: SystemAmbient())
    }
  }
}
