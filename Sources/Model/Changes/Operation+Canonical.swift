// SPDX-License-Identifier: Apache-2.0

extension Operation {
  /// The canonical bytes of some operations: what the outbox stores and what the receipt's hash covers.
  ///
  /// Each is the array [kind, table, key, incarnation or null, ...], with kind 0 insert, 1 set, 2 increment, 3 delete; at its
  /// end the place in the mutation as it was made, if that is another by now.
  package static func encode(_ operations: [Operation]) -> [UInt8] {
    var writer = CBORWriter()
    writer.array(operations.count)
    for operation in operations { operation.encode(into: &writer) }
    return writer.bytes
  }

  private func encode(into writer: inout CBORWriter) {
    func start(_ kind: Int64, _ count: Int, _ writer: inout CBORWriter) {
      writer.array(4 + count + (place == nil ? 0 : 1))
      writer.integer(kind)
      writer.text(key.table)
      writer.raw(key.bytes)
      if let incarnation { writer.blob(incarnation.bytes) } else { writer.null() }
    }
    func fields(_ fields: [Field], _ writer: inout CBORWriter) {
      writer.array(fields.count * 2)
      for field in fields {
        writer.text(field.column)
        writer.value(field.value)
      }
    }
    switch action {
    case .insert(let content):
      start(0, 1, &writer)
      fields(content, &writer)
    case .set(let content, let base):
      start(1, 2, &writer)
      fields(content, &writer)
      if let base { writer.blob(base.raw.bytes) } else { writer.null() }
    case .increment(let column, let amount):
      start(2, 2, &writer)
      writer.text(column)
      writer.integer(amount)
    case .delete:
      start(3, 0, &writer)
    }
    if let place { writer.integer(Int64(place)) }
  }

  /// Reads what `encode` wrote.
  package static func decode(_ bytes: [UInt8]) throws(CBORError) -> [Operation] {
    var reader = CBORReader(bytes)
    let count = try reader.array()
    var out: [Operation] = []
    for _ in 0..<count { out.append(try Operation(from: &reader)) }
    try reader.end()
    return out
  }

  private init(from reader: inout CBORReader) throws(CBORError) {
    let count = try reader.array()
    let kind = try reader.integer()
    // One operation has one encoding: the hash of a mutation is taken over these bytes.
    guard let parts = [0: 5, 1: 6, 2: 6, 3: 4][kind], count == parts || count == parts + 1 else {
      throw .unexpected("operation \(kind) with \(count) parts")
    }
    let key = RowKey(try reader.text(), values: try reader.values())
    var incarnation: Incarnation?
    if !reader.isNull() {
      guard let read = Incarnation(bytes: try reader.blob()) else {
        throw .unexpected("incarnation of 18 bytes wanted")
      }
      incarnation = read
    }
    switch kind {
    case 0: self.init(key, incarnation, .insert(try Operation.fields(from: &reader)))
    case 1:
      let fields = try Operation.fields(from: &reader)
      var base: VersionTag?
      if !reader.isNull() {
        guard let read = VersionTag(bytes: try reader.blob()) else { throw .unexpected("version of 16 bytes wanted") }
        base = read
      }
      self.init(key, incarnation, .set(fields, base: base))
    case 2: self.init(key, incarnation, .increment(try reader.text(), by: try reader.integer()))
    case 3: self.init(key, incarnation, .delete)
    default: throw .unexpected("operation \(kind)")
    }
    if count == parts { return }
    guard let place = UInt16(exactly: try reader.integer()) else { throw .unexpected("a place of 16 bits wanted") }
    self.place = place
  }

  private static func fields(from reader: inout CBORReader) throws(CBORError) -> [Field] {
    let count = try reader.array()
    guard count % 2 == 0 else { throw .unexpected("a column without a value") }
    var out: [Field] = []
    for _ in 0..<count / 2 { out.append(Field(try reader.text(), try reader.value())) }
    return out
  }
}
