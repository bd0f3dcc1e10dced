// SPDX-License-Identifier: Apache-2.0

package import SkerryModel

/// The messages as JSON: what `docs/protocol.md` describes, and the normative text of it.
///
/// **All messages.** An object with `"protocol"`, the number of the version. Members that a reader does not know are
/// ignored. Optional members may be absent or null. Ids are UUIDs in lower case; an incarnation is `uuid:index`; a space is
/// `kind:id`; a cursor is a token in base64url, opaque to everyone but the server.
///
/// **Values.** null; an integer of 64 bits; a double, always with a point or an exponent; a text without NUL; a blob as
/// `{"base64": "…"}` with padding. true and false are read as 1 and 0. A key is the array of its columns' values.
///
/// **Requests and answers.** A request may have a name of up to 64 bytes, `request`; its answer has the same. A device gives
/// each request another, and passes over an answer with any other name: something on the way has mixed answers up, or kept
/// one from before.
///
/// **Push request.** `schema` (`name`, `version`), `replica`, `cursor` or null, `settled`, `mutations`. A mutation:
/// `id`, `n`, `after` (ids), `ops`, and `void` if it is true. An operation: `op`, `table`, `key`; and for `insert`
/// `fields`; for `set` `incarnation`, `fields` and `base` if the table checks versions; for `increment` `incarnation`,
/// `column` and `by`; for `delete` `incarnation`; and `place`, its place in the mutation as it was made, where an update of
/// the app has taken operations before it away. Whether table, columns and values exist in the schema is no question of
/// the message: a mutation that does not fit is rejected by its own receipt, and the others go on.
///
/// **Push answer.** `verdicts`, each with `kind`: `settled` (`id`, `outcome`), `notYet` (`id`), `busy` (`id`),
/// `identityReused` (`replica`), `otherHistory`, `forbidden`. A verdict of an unknown kind, or with an unknown outcome, is
/// skipped: its mutation was not judged as far as this reader can tell, and is offered again.
///
/// **Pull request.** `schema`, `replicas` (the one in use last), `cursor` or null, `settled`, `limit`.
///
/// **Pull answer.** `kind` is `page` or `reset`. A page: `items`, `cursor`, `closes`, `safe`, `digests` (an object from
/// space to `sum` and `rows`). An item has `kind` and `space`; `put` adds `table`, `key`, `version`, `incarnation` and
/// `fields` (all columns outside the key; one that is absent is null, or 0 in a counter; one that the reader's schema
/// lacks is ignored); `deleted` adds `table` and `key`, and `left` also `still`; `receipt` adds `id`, `outcome`, and
/// `code` and `reason` if there are any; `gain`, `lose` and `filled` add nothing. A reset: `reason`, `spaces`, `cursor`.
/// An item of an unknown kind or an unknown table makes the page unreadable: it must not be applied in part.
package struct JSONCodec: Sendable {
  private let shapes: [String: RowShape]

  /// A codec for rows of this schema.
  package init(catalog: Catalog) {
    shapes = Dictionary(uniqueKeysWithValues: catalog.tables.map { ($0.name, RowShape($0)) })
  }

  /// The table of that name, compared by bytes.
  func shape(_ table: String) -> RowShape? {
    guard let shape = shapes[table], shape.table.name.utf8.elementsEqual(table.utf8) else { return nil }
    return shape
  }

  /// Reads the outermost object and looks at the version first: nothing else is sure to mean what it seems to.
  func open(_ bytes: [UInt8]) throws(WireError) -> JSONNode {
    let root = try JSONReader.read(bytes, limit: Limits.messageBytes).root
    let version = try root.integer("protocol")
    if version < Int64(ProtocolVersion.minimum) || version > Int64(ProtocolVersion.current) {
      let known = "protocol \(ProtocolVersion.minimum) to \(ProtocolVersion.current)"
      throw WireError(
        .protocolVersion, at: (root.member("protocol") ?? root).offset, expected: known,
        found: version < Int64(ProtocolVersion.minimum) ? "an older one" : "a newer one")
    }
    return root
  }

  /// Writes the outermost object with its version.
  func message(capacity: Int = 256, _ members: (inout JSONWriter) -> Void) -> [UInt8] {
    var writer = JSONWriter(capacity: capacity)
    writer.object { writer in
      writer.member("protocol", Int64(ProtocolVersion.current))
      members(&writer)
    }
    return writer.bytes
  }

  func write(_ stamp: SchemaStamp, to writer: inout JSONWriter) {
    writer.name("schema")
    writer.object { writer in
      writer.member("name", stamp.name)
      writer.member("version", Int64(stamp.version))
    }
  }

  func stamp(_ message: JSONNode) throws(WireError) -> SchemaStamp {
    let node = try message.required("schema")
    return SchemaStamp(name: try node.text("name"), version: try node.count("version"))
  }

  func write(requestName name: String, to writer: inout JSONWriter) {
    if !name.isEmpty { writer.member("request", name) }
  }

  func requestName(_ message: JSONNode) throws(WireError) -> String {
    guard let node = try message.optional("request") else { return "" }
    let name = try message.text("request")
    if name.utf8.count > JSONCodec.requestNameBytes {
      throw node.refused("a name of at most \(JSONCodec.requestNameBytes) bytes as 'request'")
    }
    return name
  }

  /// The longest name of a request.
  private static let requestNameBytes = 64

  func cursor(_ message: JSONNode) throws(WireError) -> Cursor? { try message.optional("cursor")?.cursor() }
}
