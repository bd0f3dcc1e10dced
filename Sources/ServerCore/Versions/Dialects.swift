// SPDX-License-Identifier: Apache-2.0

import SkerryModel
import SkerryWire
import Synchronization

/// The versions of the schema that one server understands, read from the database when the first device of another version
/// than its own asks: a later one makes this server end.
final class Dialects: Sendable {
  private let catalog: Catalog
  private let storage: any Storage
  private let cache = Mutex<[Int: Result<Dialect, SchemaError>]>([:])

  init(_ catalog: Catalog, _ storage: any Storage) {
    self.catalog = catalog
    self.storage = storage
  }

  /// - Throws: `RequestError.otherSchema` for a version that is not known, newer, or cannot be served.
  func dialect(_ stamp: SchemaStamp) throws -> Dialect {
    let own = SchemaStamp(catalog.schema)
    func refusal(_ remedy: String) -> RequestError {
      .otherSchema(
        found: "\(String(stamp.name.unicodeScalars.prefix(48))) \(stamp.version)",
        expected: "\(own.name) \(own.version)",
        remedy: remedy)
    }
    guard stamp.name.utf8.elementsEqual(own.name.utf8) else { throw refusal("this is the server of another app") }
    if stamp.version > own.version { throw refusal("the server is to be updated; work is kept until then") }
    guard let dialect = try find(stamp.version) else {
      throw refusal("the app is to be updated; work is kept until then")
    }
    do { return try dialect.get() } catch {
      throw refusal("the app is to be updated (\(error.description)); work is kept until then")
    }
  }

  private func find(_ version: Int) throws -> Result<Dialect, SchemaError>? {
    if let found = cache.withLock({ $0[version] }) { return found }
    // Read outside the lock: a snapshot may have to wait.
    guard let dialect = make(version, try storage.read { try $0.knownSchemas() }) else { return nil }
    cache.withLock { $0[version] = dialect }
    return dialect
  }

  private func make(_ version: Int, _ known: [KnownSchema]) -> Result<Dialect, SchemaError>? {
    if version == catalog.schema.version { return .success(Dialect(own: catalog, known: known)) }
    guard let schema = known.first(where: { $0.schema.version == version })?.schema else { return nil }
    do { return .success(try Dialect(schema, own: catalog, known: known)) } catch { return .failure(error) }
  }
}
