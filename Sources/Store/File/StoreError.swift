// SPDX-License-Identifier: Apache-2.0

/// Why a call on the device's store failed. Nothing was changed unless the code says so.
public struct StoreError: Error, Sendable, CustomStringConvertible {
  /// What kind of failure it is. Open: later versions may add codes.
  public struct Code: Hashable, Sendable {
    /// The code's word.
    public let name: String

    /// The file belongs to another account.
    public static let otherAccount = Code(name: "otherAccount")
    /// The file was made with another schema, or by a newer version of this library.
    public static let otherSchema = Code(name: "otherSchema")
    /// The operation does not fit the schema or the limits.
    public static let invalid = Code(name: "invalid")
    /// A constraint of the schema would be broken: a unique index, or a reference.
    public static let constraint = Code(name: "constraint")
    /// There is no such row.
    public static let notFound = Code(name: "notFound")
    /// A row with this key is there already.
    public static let exists = Code(name: "exists")
    /// A counter would leave the range of 64-bit integers.
    public static let overflow = Code(name: "overflow")
    /// The statement is not one that reads.
    public static let notReadOnly = Code(name: "notReadOnly")
    /// The outbox entry cannot be changed any more.
    public static let frozen = Code(name: "frozen")
    /// The file holds what cannot be read.
    public static let damaged = Code(name: "damaged")
  }

  /// What kind of failure it is.
  public let code: Code
  /// What was expected, what was found, and what to do; names tables and columns, never values.
  public let message: String

  package init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  /// Code and message in one line.
  public var description: String { "\(code.name): \(message)" }
}
