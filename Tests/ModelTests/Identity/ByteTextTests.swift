// SPDX-License-Identifier: Apache-2.0

import SkerryModel
import Testing

@Suite("Ids are compared by bytes") struct ByteTextTests {
  /// Pairs that Swift's `String ==` equates.
  static let alike = [
    ("\u{212A}evin", "Kevin"), ("\u{E9}", "e\u{301}"), ("\u{2126}", "\u{3A9}"), ("\u{1E69}", "s\u{323}\u{307}"),
    ("\u{AC00}", "\u{1100}\u{1161}"), ("\u{37E}", ";"),
  ]

  @Test(arguments: alike)
  func `texts that Swift equates are different ids`(left: String, right: String) {
    #expect(left == right)
    #expect(AccountID(left) != AccountID(right))
    #expect(ReplicaID(left) != ReplicaID(right))
    #expect(SpaceID(kind: "user", id: left) != SpaceID(kind: "user", id: right))
    #expect(RefusalCode(left) != RefusalCode(right))
    #expect(Value.text(left) != .text(right))
    #expect(RowKey("t", .text(left)) != RowKey("t", .text(right)))
  }

  @Test(arguments: alike)
  func `they are different keys of a dictionary and members of a set`(left: String, right: String) {
    var rights: [AccountID: Int] = [AccountID(left): 1]
    #expect(rights[AccountID(right)] == nil)
    rights[AccountID(right)] = 2
    #expect(rights == [AccountID(left): 1, AccountID(right): 2])
    #expect(Set([SpaceID(left), SpaceID(right), SpaceID(left)]).count == 2)
    #expect(Set([Value.text(left), .text(right)]).count == 2)
  }

  @Test func `they are ordered by bytes`() {
    let ids: [ReplicaID] = ["b", "a\u{301}", "á", "a", "", "B", "\u{212A}", "K", "😀", "\u{FFFD}"]
    let sorted = ids.sorted().map { Array($0.text.utf8) }
    for (left, right) in zip(sorted, sorted.dropFirst()) { #expect(left.lexicographicallyPrecedes(right)) }
    #expect(!(ReplicaID("a") < ReplicaID("a")))
  }

  @Test func `a space's name has a kind and an id`() {
    #expect(SpaceID(kind: "team", id: "42").text == "team:42")
    #expect(SpaceID("team:42").kind == "team")
    #expect(SpaceID("team:42").id == "42")
    #expect(SpaceID("team:a:b").id == "a:b")
    #expect(SpaceID("team:").id.isEmpty)
    #expect(SpaceID("team").kind == "team")
    #expect(SpaceID("team").id.isEmpty)
    #expect(SpaceID.user("ana") == "user:ana")
    #expect(SpaceID.replica("r1") == "replica:r1")
  }

  @Test func `the kind ends at the first colon, whatever mark follows it`() {
    let space = SpaceID(kind: "team", id: "\u{301}x")
    #expect(space.kind.utf8.elementsEqual("team".utf8))
    #expect(space.id.utf8.elementsEqual("\u{301}x".utf8))
  }

  @Test func `only a device's own space holds receipts`() {
    #expect(SpaceID("replica:r1").holdsReceipts)
    #expect(SpaceID("replica:").holdsReceipts)
    #expect(!SpaceID("replica").holdsReceipts)
    #expect(!SpaceID("replicas:r1").holdsReceipts)
    #expect(!SpaceID("user:replica:r1").holdsReceipts)
  }
}
