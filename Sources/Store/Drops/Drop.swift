// SPDX-License-Identifier: Apache-2.0

import SkerryModel
import SkerryTables

/// One write as a file: a line that names the format, canonical bytes, and their SHA-256.
struct Drop {
  let id: MutationID
  let account: AccountID
  let schema: Schema
  let madeAt: Int64
  let label: String?
  /// Without incarnations: whoever dropped them saw no rows.
  let operations: [Operation]

  static let suffix = ".drop"
  private static let start = Array("skerry drop 1\n".utf8)
  private static let hashBytes = 32

  /// Names begin with the account and go on in the order of time, since mutation ids do.
  var fileName: String { StorePlace.accountMark(account) + "-" + Hex.text(id.raw.bytes) + Drop.suffix }

  func encoded() throws -> [UInt8] {
    let content = Operation.encode(operations)
    if content.count > Limits.mutationBytes {
      throw StoreError(
        .invalid, "the write takes \(content.count) bytes, \(Limits.mutationBytes) are allowed; split it")
    }
    var writer = CBORWriter()
    writer.array(6)
    writer.blob(id.raw.bytes)
    writer.text(account.text)
    writer.text(try SchemaText.encode(schema))
    writer.integer(madeAt)
    if let label { writer.text(label) } else { writer.null() }
    writer.blob(content)
    return Drop.start + writer.bytes + SHA256.hash(writer.bytes)
  }
}

extension Drop {
  /// Reads what `encoded` wrote.
  ///
  /// - Throws: `StoreError` with code `damaged`.
  init(_ file: [UInt8]) throws {
    guard file.starts(with: Drop.start), file.count >= Drop.start.count + Drop.hashBytes else {
      throw StoreError(.damaged, "it does not begin as a drop does")
    }
    let content = Array(file[Drop.start.count..<(file.count - Drop.hashBytes)])
    guard SHA256.hash(content).elementsEqual(file.suffix(Drop.hashBytes)) else {
      throw StoreError(.damaged, "its checksum is another than that of its content")
    }
    do {
      var reader = CBORReader(content)
      try reader.array(of: 6)
      guard let id = MutationID(bytes: try reader.blob()) else { throw StoreError(.damaged, "its id is none") }
      let account = AccountID(try reader.text())
      guard let schema = SchemaText.decode(try reader.text()) else {
        throw StoreError(.damaged, "its schema cannot be read")
      }
      let madeAt = try reader.integer()
      let label = reader.isNull() ? nil : try reader.text()
      let operations = try Operation.decode(try reader.blob())
      try reader.end()
      self.init(
        id: id, account: account, schema: schema, madeAt: madeAt, label: label, operations: operations)
    } catch let error as CBORError { throw StoreError(.damaged, "its content cannot be read: \(error)") }
  }
}
