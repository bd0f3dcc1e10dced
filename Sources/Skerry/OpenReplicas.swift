// SPDX-License-Identifier: Apache-2.0

import SkerrySQLiteKit
import SkerryStore
import Synchronization

/// The replicas that are open in this process.
enum OpenReplicas {
  private struct Entry: Sendable { weak var replica: Replica? }
  private static let all = Mutex<[String: Entry]>([:])

  /// The replica that has the file open, by whatever path.
  static func find(_ place: StorePlace) -> Replica? {
    let name = SQLiteConnection.fullPath(of: place.path)
    return name.flatMap { name in all.withLock { $0[name]?.replica } }
  }

  /// Keeps the replica, unless the file is open already: then gives the one that is.
  static func keep(_ replica: Replica, _ path: String) -> Replica {
    all.withLock { all in
      if let known = all[path]?.replica { return known }
      all = all.filter { $0.value.replica != nil }
      all[path] = Entry(replica: replica)
      return replica
    }
  }
}
