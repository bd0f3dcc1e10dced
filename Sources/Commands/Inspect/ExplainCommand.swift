// SPDX-License-Identifier: Apache-2.0

import SkerryModel
import SkerryStorageSQLite
import SkerryStore

/// `skerry explain`: why one row looks as it does, on a device or on a server. It shows values only when asked.
struct ExplainCommand {
  private let path: String
  private let catalog: Catalog
  private let key: RowKey
  private let showsValues: Bool
  private let wantsJSON: Bool

  init(_ words: [String]) throws {
    let arguments = try Arguments(
      words, words: ["STORE", "TABLE", "KEY…"], options: ["schema"], flags: ["values", "json"])
    // Neither file keeps more of its schema than a name, a version and, on a server, a fingerprint.
    catalog = try Catalog(CommandLineTool.schema(arguments.text("schema")))
    path = arguments.words[0]
    key = try KeyWords(catalog).key(Array(arguments.words.dropFirst(2)), of: arguments.words[1])
    showsValues = arguments.has("values")
    wantsJSON = arguments.has("json")
  }

  func answer() throws -> CommandAnswer {
    try StoreFile.read(path) { file in
      switch file.kind {
      case .device:
        let story = try Store.explain(key, catalog: catalog, on: file.connection)
        let view = RowStoryView(story, showsValues: showsValues)
        return CommandAnswer(wantsJSON ? view.json.asText : view.text)
      case .server:
        let story = try SQLiteStorage.explain(key, catalog: catalog, on: file.connection)
        let view = ServerRowStoryView(story, showsValues: showsValues)
        return CommandAnswer(wantsJSON ? view.json.asText : view.text)
      }
    }
  }
}

/// Reads a row's key from the words of a command line.
struct KeyWords {
  private let catalog: Catalog

  init(_ catalog: Catalog) { self.catalog = catalog }

  /// - Parameter words: one for each key column, in the order of the key's declaration.
  /// - Throws: `UsageError` for a table or a key that the schema does not allow.
  func key(_ words: [String], of name: String) throws(UsageError) -> RowKey {
    guard let table = catalog.table(name) else {
      let names = catalog.tables.map(\.name).joined(separator: ", ")
      throw UsageError(description: "the schema has no table '\(name)'; it has \(names)")
    }
    let columns = table.keyColumns.map { table.columns[$0] }
    if words.count != columns.count {
      let names = columns.map(\.name).joined(separator: " ")
      throw UsageError(description: "the key of \(name) is \(names), \(words.count) words are given")
    }
    var values: [Value] = []
    for (word, column) in zip(words, columns) {
      do { values.append(try column.normalised(value(word, column, name), in: table.name)) } catch let error
        as OperationError
      {
        throw UsageError(description: error.description)
      } catch let error as UsageError { throw error } catch { throw UsageError(description: "\(error)") }
    }
    return RowKey(name, values: values)
  }

  private func value(_ word: String, _ column: ColumnDefinition, _ table: String) throws(UsageError) -> Value {
    if let value = KeyWords.value(word, column.type) { return value }
    let wanted = column.type == .blob ? "hexadecimal digits" : column.type.rawValue
    throw UsageError(description: "\(table).\(column.name): \(wanted) wanted, something else found")
  }

  /// What a word stands for in a column of a type; nil if it is no value of it.
  static func value(_ word: String, _ type: ColumnType) -> Value? {
    switch type {
    case .text, .json, .decimal, .date, .uuid: .text(word)
    case .integer, .timestamp: Int64(word).map { .integer($0) }
    case .real: Double(word).map { .real($0) }
    case .boolean: ["0": 0, "1": 1, "false": 0, "true": 1][word].map { .integer($0) }
    case .blob: KeyWords.bytes(word).map { .blob($0) }
    }
  }

  private static func bytes(_ word: String) -> [UInt8]? {
    let digits = Array(word.utf8)
    guard digits.count % 2 == 0 else { return nil }
    var out: [UInt8] = []
    for index in stride(from: 0, to: digits.count, by: 2) {
      let pair = digits[index...index + 1]
      // A sign would pass for a digit.
      guard pair.first != UInt8(ascii: "+"), pair.first != UInt8(ascii: "-"),
        let byte = UInt8(String(decoding: pair, as: UTF8.self), radix: 16)
      else { return nil }
      out.append(byte)
    }
    return out
  }
}
