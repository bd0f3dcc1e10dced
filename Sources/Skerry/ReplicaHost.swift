// SPDX-License-Identifier: Apache-2.0

package import SkerrySQLiteKit
package import SkerryStore

/// What a replica stands on: where its jobs run, where its reads run, and which disk its file is on.
package struct ReplicaHost: Sendable {
  /// Runs the store's work, one job at a time.
  package var executor: any SerialExecutor
  package var lanes = ReaderPool.Lanes.threads
  /// The name of a SQLite VFS; nil for the system's.
  package var vfs: String?
  /// Takes what happens; nil if nobody wants to know.
  package var log: LogSink?

  package init(
    executor: any SerialExecutor, lanes: ReaderPool.Lanes = .threads, vfs: String? = nil, log: LogSink? = nil
  ) {
    self.executor = executor
    self.lanes = lanes
    self.vfs = vfs
    self.log = log
  }
}
