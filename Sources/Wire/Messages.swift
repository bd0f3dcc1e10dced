// SPDX-License-Identifier: Apache-2.0

package import SkerryModel

/// The version of the protocol, with a line of history for each.
///
/// - 1: push and pull, JSON.
/// - 2: an answer names the request that it answers.
/// - 3: an operation may have a place; devices of earlier versions of the schema are answered in their own.
public enum ProtocolVersion {
  /// The version that this build speaks.
  public static let current = 3
  /// The oldest version that this build understands.
  public static let minimum = 3
}

/// Which schema a message was made with.
package struct SchemaStamp: Hashable, Sendable {
  package var name: String
  package var version: Int

  package init(name: String, version: Int) {
    self.name = name
    self.version = version
  }

  package init(_ schema: Schema) { self.init(name: schema.name, version: schema.version) }
}

/// Mutations offered to the server.
package struct PushRequest: Hashable, Sendable {
  package var schema: SchemaStamp
  package var replica: ReplicaID
  /// What the replica holds; nil before its first pull. From another history the push is not judged.
  package var cursor: Cursor?
  /// The receipts of all mutations up to this number are published on the device.
  package var settled: Int64
  package var mutations: [Mutation]
  /// Names the request, so that no other answer passes for its own; empty for a client that does not care.
  package var request = ""

  package init(
    schema: SchemaStamp, replica: ReplicaID, cursor: Cursor?, settled: Int64, mutations: [Mutation]
  ) {
    self.schema = schema
    self.replica = replica
    self.cursor = cursor
    self.settled = settled
    self.mutations = mutations
  }
}

/// The server's answer to a push. It carries no rows: rows reach a replica only by pages.
package struct PushAnswer: Hashable, Sendable {
  package var verdicts: [Verdict]
  /// The name of the request that it answers.
  package var request = ""

  package init(verdicts: [Verdict]) { self.verdicts = verdicts }
}

/// Asks for the next page.
package struct PullRequest: Hashable, Sendable {
  package var schema: SchemaStamp
  /// All ids that this replica has had, the one in use last.
  package var replicas: [ReplicaID]
  package var cursor: Cursor?
  package var settled: Int64
  /// The most items wanted.
  package var limit: Int
  /// Names the request, so that no other answer passes for its own; empty for a client that does not care.
  package var request = ""

  package init(schema: SchemaStamp, replicas: [ReplicaID], cursor: Cursor?, settled: Int64, limit: Int) {
    self.schema = schema
    self.replicas = replicas
    self.cursor = cursor
    self.settled = settled
    self.limit = limit
  }
}

/// The server's answer to a pull.
package enum PullAnswer: Hashable, Sendable {
  case page(Page)
  case reset(Reset)
}
