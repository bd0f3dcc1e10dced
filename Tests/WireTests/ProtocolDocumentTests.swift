// SPDX-License-Identifier: Apache-2.0

import Foundation
import SkerryWire
import Testing

@Suite("docs/protocol.md") struct ProtocolDocumentTests {
  @Test func `the examples in the document are the messages that the library writes`() throws {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let text = try String(contentsOf: root.appendingPathComponent("docs/protocol.md"), encoding: .utf8)
    let blocks = text.components(separatedBy: "```json\n").dropFirst().map { $0.components(separatedBy: "```")[0] }
    let messages = try Examples.all()
    #expect(blocks.count == messages.count)
    for (block, message) in zip(blocks, messages) {
      #expect(try JSON(parsing: Array(block.utf8)) == JSON(parsing: message.bytes), "\(message.name)")
      try Examples.decode(message.name, Array(block.utf8))
    }
    #expect(text.utf8.count < 9_000)
    #expect(text.contains("version \(ProtocolVersion.current)"))
  }
}
