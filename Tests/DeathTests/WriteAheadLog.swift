// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A WAL as bytes: a header of 32 bytes, then frames of 24 bytes and a page each (https://www.sqlite.org/fileformat2.html#walformat).
/// SQLite writes it from front to end while a transaction commits, so a kill within the commit leaves a part of it.
struct WriteAheadLog {
  private static let header = 32
  private static let frame = 24 + 4_096

  private let data: Data

  init(_ data: Data) { self.data = data }

  /// Where each frame ends.
  private var ends: [Int] { stride(from: Self.header + Self.frame, through: data.count, by: Self.frame).map { $0 } }

  /// How many transactions it holds: the last frame of each names the size of the database.
  var commits: Int {
    ends.filter { end in data[(end - Self.frame + 4)..<(end - Self.frame + 8)].contains { $0 != 0 } }.count
  }

  /// What may be left of it while it grew from a length: cut after each frame, and within each.
  func parts(from length: Int) -> [Data] {
    let cuts = [0, Self.header / 2, Self.header] + ends.flatMap { [$0 - Self.frame / 2, $0] }
    return cuts.filter { $0 >= length && $0 < data.count }.map { data.prefix($0) }
  }
}
