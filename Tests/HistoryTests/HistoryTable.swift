// SPDX-License-Identifier: Apache-2.0

/// A table of the model, by the letters that histories use.
struct HistoryTable {
  let letter: UInt8
  let name: String
  /// Without the id, in the order in which rows hold them.
  let columns: [Column]

  struct Column {
    let letter: UInt8
    let name: String
    /// What an insert writes into it that does not say.
    let usual: Usual
  }

  enum Usual {
    case null, zero, number, writer
  }

  /// By name, as the keys of a history are ordered.
  static let all = [
    HistoryTable("d", "doc", owned), HistoryTable("i", "item", owned),
    HistoryTable("w", "member", [column("a", "a", .zero), noB, n, column("t", "team"), column("u", "user")]),
    HistoryTable("n", "note", child), HistoryTable("p", "part", child), HistoryTable("t", "team", [a, noB, n]),
  ]

  /// The place of the table whose rows carry the version that an edit is based on.
  static let checked = 0

  private static let (a, n) = (column("a", "a", .writer), column("n", "n", .number))
  private static let (b, noB) = (column("b", "b", .zero), column("b", "b"))
  private static let owned = [a, b, n, column("h", "home"), column("l", "also")]
  private static let child = [a, b, n, column("p", "parent")]

  private init(_ letter: Unicode.Scalar, _ name: String, _ columns: [Column]) {
    self.letter = UInt8(ascii: letter)
    self.name = name
    self.columns = columns
  }

  private static func column(_ letter: Unicode.Scalar, _ name: String, _ usual: Usual = .null) -> Column {
    Column(letter: UInt8(ascii: letter), name: name, usual: usual)
  }

  /// The place of the counter, which every table has.
  static let counter = 2
}
