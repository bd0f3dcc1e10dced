// SPDX-License-Identifier: Apache-2.0

import SkerryAmbientKit
public import SkerryModel

/// The key of a row of one table: a text, by which other tables refer to it, too. It cannot be mixed up with that of another.
///
/// A new one is a UUIDv7. It is made on the device and is final from then on, so a row can be referred to before any server
/// has heard of it. Ids are compared by their bytes.
public struct RowID<Target>: ByteText {
  /// The id's text.
  public let text: String

  /// A new id, which no other row has.
  public init() { text = (IDSource.ambient ?? SystemAmbient()).makeRowID() }

  /// An id that is known, as the data has it.
  public init(_ text: String) { self.text = text }
}

/// Where new ids come from, so that a world with a clock and randomness of its own decides them too.
package enum IDSource {
  /// Bound while an app's closure writes; nil for the system's.
  @TaskLocal package static var ambient: (any Ambient)?
}

extension RowID: ColumnValue {
  /// A UUID, or any text.
  public static var columnTypes: [ColumnType] { [.uuid, .text] }

  /// Two ids.
  public static var examples: [RowID] {
    ["00000000-0000-7000-8000-000000000001", "00000000-0000-7000-8000-000000000002"].map { RowID($0) }
  }

  /// The id's text.
  public var columnValue: Value { .text(text) }

  /// Reads a text.
  public init(columnValue: Value) throws(ColumnFault) { self.init(try String(columnValue: columnValue)) }
}

extension RowID: Codable {
  /// Reads a text.
  public init(from decoder: any Decoder) throws {
    self.init(try decoder.singleValueContainer().decode(String.self))
  }

  /// Writes the text.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(text)
  }
}
