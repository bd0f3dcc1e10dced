// SPDX-License-Identifier: Apache-2.0

/// The spaces that hold a row here, each by its number with its generation mark, in the order of numbers.
///
/// Nearly every row is in one space: that one takes no memory of its own.
struct SpacePairs: Equatable, Sequence {
  struct Pair: Equatable {
    var space: Int64
    var generation: Int64
  }

  /// The one with the lowest number.
  private(set) var first: Pair?
  /// All others.
  private(set) var further: [Pair] = []

  init() {}

  init(_ pairs: some Sequence<Pair>) { for pair in pairs { self[pair.space] = pair.generation } }

  init(space: Int64, generation: Int64) { first = Pair(space: space, generation: generation) }

  var isEmpty: Bool { first == nil }

  /// The generation mark of a space; nil if it does not hold the row.
  subscript(space: Int64) -> Int64? {
    get { first?.space == space ? first?.generation : further.first { $0.space == space }?.generation }
    set {
      if further.isEmpty, first == nil || first?.space == space {
        first = newValue.map { Pair(space: space, generation: $0) }
        return
      }
      var all = filter { $0.space != space }
      if let newValue { all.append(Pair(space: space, generation: newValue)) }
      all.sort { $0.space < $1.space }
      first = all.first
      further = Array(all.dropFirst())
    }
  }

  func makeIterator() -> some IteratorProtocol<Pair> { (first.map { [$0] + further } ?? []).makeIterator() }

  /// Calls a closure for each, without an array.
  func visit(_ body: (Pair) throws -> Void) rethrows {
    if let first { try body(first) }
    for pair in further { try body(pair) }
  }
}
