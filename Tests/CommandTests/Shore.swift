// SPDX-License-Identifier: Apache-2.0
import Foundation
import SkerryCommands
import SkerryMachine
import SkerryModel
import SkerrySQLiteKit
import SkerryStore
import SkerryTestSupport
import SkerryTesting
import SkerryWire
import Testing

/// Teams with members, items in one or two spaces, drafts that check versions, and marks with a key of two columns.
extension Schema {
  static let shore = Schema(
    "shore", version: 3,
    spaces: [SpaceDefinition("team", root: "team", members: .table("member", space: "team", user: "user"))],
    features: [
      FeatureDefinition(
        "all", .replica,
        tables: [
          TableDefinition(
            "item",
            columns: [
              ColumnDefinition("id", .text), ColumnDefinition("title", .text, optional: true),
              ColumnDefinition("photo", .blob, optional: true), ColumnDefinition("n", .integer, rule: .counter),
              ColumnDefinition("home", .text, optional: true), ColumnDefinition("also", .text, optional: true),
            ], spaces: [.named(column: "home"), .named(column: "also")]),
          TableDefinition(
            "draft",
            columns: [
              ColumnDefinition("id", .text), ColumnDefinition("body", .text, optional: true),
              ColumnDefinition("owner", .text),
            ], spaces: [.owner(column: "owner", kind: "user")], detection: .version),
          TableDefinition(
            "mark",
            columns: [
              ColumnDefinition("book", .text), ColumnDefinition("page", .integer), ColumnDefinition("code", .blob),
              ColumnDefinition("note", .text, optional: true), ColumnDefinition("owner", .text),
            ], key: ["book", "page", "code"], spaces: [.owner(column: "owner", kind: "user")]),
          TableDefinition(
            "member",
            columns: [ColumnDefinition("id", .text), ColumnDefinition("team", .text), ColumnDefinition("user", .text)],
            spaces: [.owner(column: "team", kind: "team")]),
          TableDefinition(
            "team", columns: [ColumnDefinition("id", .text), ColumnDefinition("title", .text, optional: true)],
            spaces: [.owner(column: "id", kind: "team")]),
        ])
    ])
}

/// A world with one device of Ana's at hand, who is in team `t`, and the commands that look into its files.
final class Shore {
  let folder: TemporaryFolder
  let world: World
  let schemaFile: String

  /// A value that stands in every row, and must stand in no output that nobody asked for it in.
  static let secret = "the-secret-value-7f3a"

  init(isSynced: Bool = true) throws {
    folder = try TemporaryFolder()
    world = try World(.shore, folder: folder.url.path)
    schemaFile = folder.path("schema.json")
    try JSONEncoder().encode(Schema.shore).write(to: URL(fileURLWithPath: schemaFile))
    try foreign(
      "INSERT INTO team(id, title) VALUES ('t', '\(Shore.secret)')",
      "INSERT INTO member(id, team, user) VALUES ('at', 't', 'ana')")
    try world.open("a", user: "ana")
    if isSynced { try sync() }
  }

  var device: String { folder.path("a.db") }
  var server: String { folder.path("server.db") }

  var store: Store {
    get throws {
      guard let device = world.devices["a"] else { throw WorldError("no device a") }
      return device.store
    }
  }

  static func item(_ id: String) -> RowKey { RowKey("item", .text(id)) }

  // MARK: What happens

  /// One transaction of another program on the server's file.
  func foreign(_ statements: String...) throws {
    try world.foreign.transaction(.immediate) { for sql in statements { try world.foreign.execute(sql) } }
  }

  /// Items in Ana's own space, by another program.
  func foreignItems(_ ids: [String], home: String = "user:ana") throws {
    for id in ids {
      try foreign("INSERT INTO item(id, title, home) VALUES ('\(id)', '\(Shore.secret)', '\(home)')")
    }
  }

  @discardableResult
  func write(_ label: String? = nil, _ body: (inout WriteTransaction) throws -> Void) throws -> MutationID {
    guard let id = try store.write(label, body) else { throw WorldError("nothing was written") }
    return id
  }

  @discardableResult
  func insert(_ id: String, home: String = "user:ana", label: String? = nil) throws -> MutationID {
    try write(label) { try $0.insert("item", ["id": .text(id), "title": .text(Shore.secret), "home": .text(home)]) }
  }

  @discardableResult
  func set(_ id: String, _ title: String = Shore.secret + "!") throws -> MutationID {
    try write { try $0.update(Shore.item(id), ["title": .text(title)]) }
  }

  @discardableResult
  func delete(_ id: String) throws -> MutationID { try write { try $0.delete(Shore.item(id)) } }

  func sync() throws {
    world.ambient.advance(by: 120_000)
    try world.sync("a")
  }

  /// So many messages of a round, and no more: the rest of it never comes.
  func steps(_ count: Int, until isDone: (PageEffect) -> Bool = { _ in false }) throws {
    guard let device = world.devices["a"] else { return }
    world.ambient.advance(by: 120_000)
    device.session.note(.syncWanted)
    for _ in 0..<count {
      guard case .exchange(let exchange) = try device.session.next() else { return }
      let effect = try device.session.take(.success(world.serve(exchange.request, as: device.user)), for: exchange)
      if isDone(effect) { return }
    }
  }

  // MARK: Looking

  func answer(_ words: String...) -> CommandAnswer { CommandLineTool.answer(words) }

  func inspect(_ words: String..., file: String? = nil) -> CommandAnswer {
    CommandLineTool.answer(["inspect", file ?? device] + words)
  }

  func explain(_ words: String..., file: String? = nil) -> CommandAnswer {
    CommandLineTool.answer(["explain", file ?? device] + words + ["--schema", schemaFile])
  }

  /// The last line of an item's story, which both forms of it must end in.
  func conclusion(_ id: String, file: String? = nil) throws -> String {
    let text = explain("item", id, file: file)
    #expect(text.code == 0, "\(text.error)")
    let last = text.output.split(separator: "\n").last.map(String.init) ?? ""
    #expect(try json(explain("item", id, "--json", file: file))["conclusion"] == .string(last))
    return last
  }

  /// A report as JSON, whose names must be sorted at each level.
  func json(_ answer: CommandAnswer) throws -> JSON {
    #expect(answer.code == 0, "\(answer.error)")
    let json = try JSON(parsing: Array(answer.output.utf8))
    #expect(json.isSorted)
    return json
  }
}

extension JSON {
  /// Whether the members of each object in it stand in byte order.
  var isSorted: Bool {
    switch self {
    case .array(let items): items.allSatisfy(\.isSorted)
    case .object(let members):
      zip(members, members.dropFirst()).allSatisfy { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
        && members.allSatisfy(\.value.isSorted)
    default: true
    }
  }

  var items: [JSON] { if case .array(let items) = self { items } else { [] } }
}
