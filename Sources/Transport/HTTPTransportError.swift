// SPDX-License-Identifier: Apache-2.0

/// Why a transport cannot be made.
public enum HTTPTransportError: Error, Hashable, Sendable, CustomStringConvertible {
  /// No address of HTTP, or one with a user, a password, a query or a fragment.
  case badAddress
  /// Plain HTTP to another machine would show the token and the data to everybody on the way.
  case unencrypted

  /// What is wrong and what to do, in a sentence.
  public var description: String {
    switch self {
    case .badAddress: "the server's address must be like https://sync.example.org, without user, query and fragment"
    case .unencrypted: "the server's address must begin with https, or plain HTTP be allowed by its option"
    }
  }
}
