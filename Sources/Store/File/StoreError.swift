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
    /// The replica is suspended.
    public static let suspended = Code(name: "suspended")
    /// A key was given, and the SQLite that is linked cannot encrypt.
    public static let encryptionUnavailable = Code(name: "encryptionUnavailable")
    /// The file cannot be read with the key.
    public static let wrongKey = Code(name: "wrongKey")
    /// The SQLite that is linked lacks what a store needs.
    public static let unsupported = Code(name: "unsupported")
    /// Another process holds the file.
    public static let locked = Code(name: "locked")
    /// The volume has too little space left.
    public static let noSpace = Code(name: "noSpace")
  }

  /// What kind of failure it is.
  public let code: Code
  /// What was expected, what was found, and what to do; names tables and columns, never values.
  public let message: String

  package init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  package static let suspended = StoreError(
    .suspended, "the replica is suspended and its file closed; call resume() first")

  /// Code and message in one line.
  public var description: String { "\(code.name): \(message)" }
}
