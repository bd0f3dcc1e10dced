// SPDX-License-Identifier: Apache-2.0

/// What one server grants, to all and to each. The defaults suit a server that many devices share.
package struct HTTPLimits: Hashable, Sendable {
  /// The bytes of a body; a route may have a limit of its own.
  package var bodyBytes = 16 << 20
  /// The bytes of all long bodies under way at one time, from their first byte to the end of their answer. What does not
  /// fit is refused with a 503.
  package var bodyBytesInAll = 128 << 20
  /// Up to here a body is not counted, so that long ones never keep out the many short ones; the number of connections
  /// bounds these.
  package var shortBodyBytes = 64 << 10
  /// The bytes of all header fields of one request, names and values.
  package var headerBytes = 16 << 10
  /// The header fields of one request.
  package var headerCount = 100
  /// The bytes of a path with its query.
  package var targetBytes = 2_048
  /// The memory that the library takes for a connection's request head and its buffers; a head that does not fit gets
  /// its 431. Bodies are not in it.
  package var connectionMemory = 32 << 10
  /// The connections at one time. Further ones wait in the system's queue.
  package var connections = 1_024
  /// The connections of one address at one time; 0 for no limit. Further ones are closed unanswered.
  package var connectionsPerAddress = 256
  /// How long a connection may say nothing.
  package var idleSeconds = 60
  /// How long a request head may take, from its connection or its first line on.
  package var headMilliseconds = 10_000
  /// How long a body may take in either direction, besides what `bytesPerSecond` grants for its length.
  package var bodyMilliseconds = 30_000
  /// The slowest rate at which a body may travel.
  package var bytesPerSecond = 1_024
  /// How long `stop` waits for the requests under way.
  package var stopMilliseconds = 10_000
  /// How often deadlines are looked at: the time-outs above are at most this much late.
  package var watchMilliseconds = 250

  package init() {}
}
