// SPDX-License-Identifier: Apache-2.0

import SkerryStorageSQLite
import SkerryStore
import SkerryWire

/// `skerry inspect`: what a device's or a server's file holds, in names and counts. It shows no value of any row, and keys of
/// rows only when asked.
struct InspectCommand {
  private let path: String
  private let showsKeys: Bool
  private let wantsJSON: Bool

  init(_ words: [String]) throws {
    let arguments = try Arguments(words, words: ["STORE"], options: [], flags: ["json", "keys"])
    path = arguments.words[0]
    showsKeys = arguments.has("keys")
    wantsJSON = arguments.has("json")
  }

  func answer() throws -> CommandAnswer {
    try StoreFile.read(path) { file in
      switch file.kind {
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
