// SPDX-License-Identifier: Apache-2.0

/// The bounds that both sides share, so that what the server would refuse is refused at the local write already.
public enum Limits {
  /// The bytes of one row, all columns together.
  public static let rowBytes = 1 << 20
  /// The bytes of one key.
  public static let keyBytes = 512
  /// The operations of one mutation.
  public static let operations = 10_000
  /// The bytes of one mutation's canonical operations.
  public static let mutationBytes = 4 << 20
  /// The bytes of one mutation in a message, in its longest form; the rest of a message is room for what comes with it.
  public static let mutationMessageBytes = 12 << 20
  /// The mutations of one push.
  public static let batchMutations = 500
  /// The bytes of one message in either direction.
  public static let messageBytes = 16 << 20
  /// The items of one page.
  public static let pageItems = 2_000
  /// The bytes of rows after which a page ends, however many items were asked for.
  public static let pageBytes = 4 << 20
  /// The depth of a JSON message.
  public static let jsonDepth = 32
  /// The bytes of a user, space or replica id.
  public static let idBytes = 200
  /// The spaces that are being filled at one time, which is also how many a user can be in.
  public static let openSpaces = 100_000
  /// The predecessors that one mutation names.
  public static let predecessors = 10_000
  /// The replica ids whose receipts one cursor serves.
  public static let replicaIDs = 64
}
