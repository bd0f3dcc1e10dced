// SPDX-License-Identifier: Apache-2.0

import SkerryAmbientKit
import SkerryModel
import SkerryWire
import Testing

@Suite("Values on the wire") struct ValueTests {
  static let edges: [Value] = [
    nil, 0, 1, -1, .integer(.min), .integer(.max), 9_007_199_254_740_991, 9_007_199_254_740_992, 9_007_199_254_740_993,
    -9_007_199_254_740_993, 0.0, 1.0, -1.5, 0.1, .real(.greatestFiniteMagnitude), .real(-.greatestFiniteMagnitude),
    .real(.leastNonzeroMagnitude), .real(.leastNormalMagnitude), .real(.leastNormalMagnitude.nextDown), 1e16, 1e22, "",
    " ", "a",
    "null", "{\"base64\":\"\"}", "👩‍👩‍👧‍👦", "é", "e\u{301}", "K", "\u{212A}", "\u{FEFF}", "\u{10FFFF}",
    "\"\\/\n\t\u{1}\u{7F}",
    .blob([]), .blob([0]), .blob([0, 0]), .blob([0, 0, 0]), .blob([0xFB, 0xFF, 0xBF]), .blob(Array(0...255)),
  ]

  @Test func `every value goes there and back in an operation`() throws {
    var generator = SeededGenerator(seed: 4)
    var values = ValueTests.edges
    for _ in 0..<200 {
      values += [
        .integer(generator.integer()), .real(generator.real()), .text(generator.text()), .blob(generator.blob()),
      ]
    }
    let fields = values.enumerated().map { Field("c\($0)", $1) }
    let key = RowKey("t", values: values)
    let read = try sent([Operation(key, nil, .insert(fields))])
    #expect(read.first?.key.values == values)
    #expect(read.first?.fields == fields)
  }

  @Test func `every value that a column can hold goes there and back in a row`() throws {
    for value in ValueTests.edges {
      let holder = Holder(for: value)
      guard let normal = try? holder.info.columns[1].normalised(value, in: holder.info.name) else { continue }
      #expect(try holder.sent(value) == normal)
    }
  }

  @Test func `minus zero is zero once a schema has looked at it`() throws {
    let holder = Holder(for: 0.0)
    #expect(try holder.sent(.real(-0.0)) == .real(0))
    let read = try sent([Operation(RowKey("holders", 1), nil, .insert([Field("value", .real(-0.0))]))])
    #expect(read.first?.fields.first?.value == .real(-0.0))
    let clean = try holder.catalog.normalised(try #require(read.first))
    #expect(clean.fields.first?.value == .real(0))
  }

  @Test func `true and false are read as 1 and 0`() throws {
    let read = try operations(#"{"op":"insert","table":"t","key":[true,false],"fields":{"a":true,"b":false}}"#)
    #expect(read.first?.key.values == [1, 0])
    #expect(read.first?.fields.map(\.value) == [1, 0])
  }

  @Test func `a blob has one form`() throws {
    let good =
      ["": [], "AA==": [0], "AAA=": [0, 0], "AAAA": [0, 0, 0], "+/+/": [0xFB, 0xFF, 0xBF]] as [String: [UInt8]]
    for (text, bytes) in good {
      let read = try operations(#"{"op":"insert","table":"t","key":[{"base64":"\#(text)"}],"fields":{}}"#)
      #expect(read.first?.key.values == [.blob(bytes)])
    }
    let bad = [
      "A", "AA", "AAA", "AAAAA", "AA=", "A===", "====", "=", "AA==AA==", "AB==", "AAB=", "-_-_", "AAAA\\n", " AAA",
      "AA\\u003d",
      "AAAA====", "AA=A", "ÄAA=",
    ]
    for text in bad {
      #expect(throws: WireError.self, "\(text)") {
        try operations(#"{"op":"insert","table":"t","key":[{"base64":"\#(text)"}],"fields":{}}"#)
      }
    }
  }

  @Test func `an array or another object is no value`() {
    for text in ["[]", "{}", "{\"base64\":1}", "{\"hex\":\"00\"}", "[1]"] {
      #expect(throws: WireError.self, "\(text)") {
        try operations(#"{"op":"insert","table":"t","key":[1],"fields":{"a":\#(text)}}"#)
      }
    }
  }

  private func sent(_ operations: [Operation]) throws -> [Operation] {
    let codec = try Examples.codec()
    let request = PushRequest(
      schema: Examples.stamp, replica: Examples.ana, cursor: nil, settled: 0,
      mutations: [Mutation(id: Examples.first, number: 1, operations: operations)])
    return try codec.decodePushRequest(codec.encode(request)).mutations.first?.operations ?? []
  }

  private func operations(_ operation: String) throws -> [Operation] {
    let text =
      #"{"protocol":3,"schema":{"name":"crm","version":3},"replica":"r","settled":0,"mutations":[{"id":"\#(Examples.first)","#
      + #""n":1,"ops":[\#(operation)]}]}"#
    return try Examples.codec().decodePushRequest(Array(text.utf8)).mutations.first?.operations ?? []
  }
}

/// A table with one column that holds values of one class.
private struct Holder {
  let catalog: Catalog
  let info: TableInfo

  init(for value: Value) {
    let type: ColumnType =
      switch value {
      case .null, .text: .text
      case .integer: .integer
      case .real: .real
      case .blob: .blob
      }
    let table = TableDefinition(
      "holders", columns: [ColumnDefinition("id", .integer), ColumnDefinition("value", type, optional: true)],
      spaces: [.constant("all:x")])
    let schema = Schema(
      "holder", version: 1, spaces: [SpaceDefinition("all", members: .everyone)],
      features: [FeatureDefinition("holders", .replica, tables: [table])])
    guard let catalog = try? Catalog(schema), let info = catalog.table("holders") else { fatalError("a legal schema") }
    self.catalog = catalog
    self.info = info
  }

  func sent(_ value: Value) throws -> Value? {
    let codec = JSONCodec(catalog: catalog)
    let row = RowImage(
      key: RowKey("holders", 1), version: Examples.first.tag, incarnation: Examples.life, values: [1, value])
    let page = Page(items: [.put("all:x", row)], cursor: Examples.cursor, closes: false, safe: 0)
    guard case .page(let read) = try codec.decodePullAnswer(codec.encode(.page(page))),
      case .put(_, let image) = read.items.first
    else { return nil }
    return image.values.last
  }
}
