// SPDX-License-Identifier: Apache-2.0

extension MemoryDisk {
  /// What has happened on a disk since it was made.
  package struct Figures: Hashable, Sendable {
    package var reads = 0
    package var writes = 0
    package var syncs = 0
    package var bytesWritten = 0
    /// Processes that died, those of a power loss among them.
    package var deaths = 0
    package var powerLosses = 0
    /// Writes and truncations that a power loss took, whole and in part.
    package var droppedWrites = 0
    package var tornWrites = 0
    /// Errors that calls met by plan, by extended code.
    package var errors: [Int32: Int] = [:]
    /// Writes that found the disk full.
    package var fullWrites = 0
  }
}
