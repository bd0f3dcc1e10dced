// SPDX-License-Identifier: Apache-2.0

import SkerryAmbientKit
import SkerryStorageSQLite
import SkerryStore
import SkerryWire

/// `skerry inspect`: what a device's or a server's file holds, in names and counts. It shows no value of any row, and keys of
/// rows only when asked.
struct InspectCommand {
  private let path: String
  private let showsKeys: Bool
  private let wantsJSON: Bool
  private let wantsBundle: Bool

  init(_ words: [String]) throws {
    let arguments = try Arguments(words, words: ["STORE"], options: [], flags: ["json", "keys", "bundle"])
    path = arguments.words[0]
    showsKeys = arguments.has("keys")
    wantsJSON = arguments.has("json")
    wantsBundle = arguments.has("bundle")
    if wantsBundle, wantsJSON || showsKeys {
      throw UsageError(description: "--bundle is one JSON object without keys; give it alone")
    }
  }

  func answer() throws -> CommandAnswer {
    try StoreFile.read(path) { file in
      switch file.kind {
      case .device where wantsBundle:
        let ambient = SystemAmbient()
        return CommandAnswer(try SupportBundle(of: file.connection, ambient).text)
      case .server where wantsBundle:
        throw FileError(path, "this is a server's database", "a support bundle is made of a device's file")
      case .device:
        let view = StoreReportView(try Store.inspect(file.connection), file.sizes, showsKeys: showsKeys)
        return CommandAnswer(wantsJSON ? view.json.asText : view.text)
      case .server:
        let view = ServerReportView(try SQLiteStorage.inspect(file.connection), file.sizes)
        return CommandAnswer(wantsJSON ? view.json.asText : view.text)
      }
    }
  }
}

extension StoreFile.Sizes {
  var text: String {
    let wal = walBytes.map { "\($0) bytes of WAL beside it" } ?? "no WAL beside it"
    return "file: \(bytes) bytes, \(pages) pages of \(pageSize) bytes, \(freePages) of them free; \(wal)"
  }

  var json: JSON {
    .sorted([
      "bytes": .integer(bytes), "walBytes": .orNull(walBytes), "pageSize": .integer(pageSize), "pages": .integer(pages),
      "freePages": .integer(freePages),
    ])
  }
}
