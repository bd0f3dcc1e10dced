// SPDX-License-Identifier: Apache-2.0

public import SkerryStore

extension Replica {
  /// Takes in what other processes have dropped into the folder that the replica was opened with: each write once, as one
  /// transaction, under the mutation id that it was dropped with. Also done when a replica is opened or resumed, by
  /// `noticeOtherProcesses()` and by the engine before it rests.
  ///
  /// - Returns: what became of each file; an empty report if the replica was opened without a folder.
  /// - Throws: `StoreError` with code `suspended`; an error of the database; `FileError`. What was not taken in is there for the
  ///   next call.
  @discardableResult
  public func collectDrops() throws -> DropReport {
    guard let drops else { return DropReport() }
    let report = try store.collect(drops)
    if !report.refused.isEmpty {
      listeners.send(.dropsRefused(report.refused.map { "\($0.path): \($0.reason)" }))
    }
    if !report.collected.isEmpty { changed() }
    return report
  }

  /// The same by the way: a failure is told as an event, and holds nothing else up.
  ///
  /// - Returns: whether something was taken in.
  @discardableResult
  func collectQuietly() -> Bool {
    guard drops != nil, !store.isSuspended else { return false }
    do { return try !collectDrops().collected.isEmpty } catch {
      listeners.send(.dropsFailed("\(error)"))
      return false
    }
  }
}
