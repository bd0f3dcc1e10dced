// SPDX-License-Identifier: Apache-2.0

extension FileContent {
  private static let sector = 512

  /// How one power loss treats the changes of one file.
  private enum Style {
    case keeps
    case drops
    /// Those before one are kept, that one is torn.
    case endsWithin(Int)
    /// Each for itself.
    case mixes
  }

  /// Each change since the last sync is kept, dropped or torn at 512 bytes, in any subset and any order.
  ///
  /// - Returns: how many were dropped, and how many torn.
  func losePower(_ random: inout DiskRandom) -> (dropped: Int, torn: Int) {
    guard !changes.isEmpty else { return (0, 0) }
    var made = takeBack()
    let style: Style =
      switch random.below(6) {
      case 0: .keeps
      case 1: .drops
      case 2: .endsWithin(random.below(made.count))
      default: .mixes
      }
    if case .mixes = style, random.coin() { made.shuffle(using: &random) }
    var (dropped, torn) = (0, 0)
    for (index, one) in made.enumerated() {
      switch fate(index, one.change, style, &random) {
      case .keeps: redo(one.change, one.bytes)
      case .drops:
        dropped += 1
        grow(to: one.change, &random)
      default:
        torn += 1
        tear(one.change, one.bytes, &random)
      }
    }
    return (dropped, torn)
  }

  private func fate(_ index: Int, _ change: Change, _ style: Style, _ random: inout DiskRandom) -> Style {
    let isLong = change.count > FileContent.sector
    switch style {
    case .keeps, .drops: return style
    case .endsWithin(let last): return index < last ? .keeps : index == last && isLong ? .mixes : .drops
    case .mixes:
      let draw = random.below(4)
      return draw == 0 && isLong ? .mixes : draw == 1 ? .drops : .keeps
    }
  }

  private func redo(_ change: Change, _ content: [UInt8]) {
    if change.isTruncation { return bytes.resize(to: change.offset) }
    content.withUnsafeBytes { if let start = $0.baseAddress { bytes.put(start, $0.count, at: change.offset) } }
  }

  /// The file has grown by a write whose bytes were lost: what is there is zero, or what the disk held before.
  private func grow(to change: Change, _ random: inout DiskRandom) {
    let (old, end) = (size, change.offset + change.count)
    guard !change.isTruncation, end > old, random.below(4) == 0 else { return }
    bytes.resize(to: end)
    guard random.coin() else { return }
    random.fill(UnsafeMutableRawBufferPointer(start: bytes.start + old, count: end - old))
  }

  /// Each sector that the write touches is kept or dropped for itself.
  private func tear(_ change: Change, _ content: [UInt8], _ random: inout DiskRandom) {
    content.withUnsafeBytes { content in
      guard let start = content.baseAddress else { return }
      var offset = 0
      while offset < content.count {
        let place = change.offset + offset
        let length = min(content.count - offset, FileContent.sector - place % FileContent.sector)
        if random.coin() { bytes.put(start + offset, length, at: place) }
        offset += length
      }
    }
  }
}
