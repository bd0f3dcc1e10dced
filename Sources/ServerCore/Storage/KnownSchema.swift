// SPDX-License-Identifier: Apache-2.0

package import SkerryModel

/// A version of the app's schema that the database knows.
package struct KnownSchema: Hashable, Sendable {
  package let schema: Schema
  /// The newest position when the database began to be served by it; nil if it never was, and devices of it are only announced.
  package let since: Int64?

  package init(_ schema: Schema, since: Int64?) {
    self.schema = schema
    self.since = since
  }
}

/// The versions of the schema.
package protocol KnownSchemas {
  /// All that the database knows, in the order of their numbers; the last one is in force.
  func knownSchemas() throws -> [KnownSchema]
}
