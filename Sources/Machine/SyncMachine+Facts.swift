// SPDX-License-Identifier: Apache-2.0

package import SkerryModel

extension SyncMachine {
  /// What has happened.
  package enum Fact: Hashable, Sendable {
    /// The app wrote, or a hint came: a round soon, but a failing server is not asked more often for it.
    case syncWanted
    /// A person asked, or the system gave time in the background: a round now, unless the server asked for a wait.
    case syncRequested
    /// Entries were found that were handed to the transport in an earlier conversation: their outcomes may be waiting.
    case sentWorkFound
    /// The server judged these entries; `ready` tells how many entries were ready in all.
    case pushJudged([MutationID], ready: Int)
    /// The push names a history that the server does not know.
    case historyChanged
    /// The push was answered, and entries must wait for others or for the database.
    case pushDeferred
    /// A page was taken in; nothing is left to fetch if it was the last.
    case pageTaken(isLast: Bool)
    /// A page brought nothing and led nowhere: the server is at work elsewhere.
    case pageEmpty
    /// A page or reset no longer fitted the store, which had moved on.
    case pageIgnored
    case resetTaken
    case failed(Answer, offered: [MutationID])
    /// The token was renewed, or the person signed in again.
    case authenticated
  }

  /// What is to be done.
  package enum Command: Hashable, Sendable {
    case push([MutationID])
    case pull(limit: Int)
    /// Until this time, or until the next fact; nil: until the next fact.
    case wait(until: Int64?)
  }

  /// What is to be done to an entry beside the next command.
  package enum Consequence: Hashable, Sendable {
    case none
    case noteFailure([MutationID], String)
    case setAside(MutationID, String)
  }

  /// What holds things up, for the status.
  package enum Condition: Hashable, Sendable {
    case working
    case idle
    case unreachable
    case failing(status: Int)
    case needsAuthentication
    case refused(status: Int)
  }
}
