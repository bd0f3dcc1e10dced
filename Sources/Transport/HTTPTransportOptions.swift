// SPDX-License-Identifier: Apache-2.0

import SkerryModel

/// What one HTTP transport may take, whichever library carries it.
public struct HTTPTransportOptions: Hashable, Sendable {
  /// How long a connection may take to stand, with its encryption; in milliseconds, as all of these.
  public var connect = 10_000
  /// How long the server may take from the last byte sent to the first one of its answer.
  public var firstByte = 30_000
  /// How long a body may stand still, in either direction.
  public var idle = 15_000
  /// How long a whole exchange may take.
  public var total = 120_000
  /// The bytes of an answer. A longer one is cut off and fails.
  public var responseBytes = Limits.messageBytes
  /// How many exchanges may be under way at one time; further ones wait.
  public var connections = 4
  /// Whether the token may travel to other machines unencrypted. It may always to this one.
  public var allowsPlainHTTP = false

  /// The defaults: patient enough for a bad mobile network.
  public init() {}
}
