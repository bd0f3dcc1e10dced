// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation

/// What ends a process that serves: SIGINT, SIGTERM, or whoever asks.
final class EndOfProcess: Sendable {
  private let asked: AsyncStream<Void>
  private let ended: AsyncStream<Void>.Continuation
  // Unsafe: made once, and only cancelled afterwards, which any thread may do.
  private nonisolated(unsafe) let sources: [any DispatchSourceSignal]

  init() {
    let (asked, ended) = AsyncStream.makeStream(of: Void.self)
    (self.asked, self.ended) = (asked, ended)
    // The default would end the process in the middle of an answer.
    sources = [SIGINT, SIGTERM].map { number in
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      source.setEventHandler { ended.finish() }
      source.resume()
      return source
    }
  }

  deinit { for source in sources { source.cancel() } }

  func ask() { ended.finish() }

  /// Ends with the standard input, so that a child does not outlive whoever started it.
  func askAtEndOfInput() {
    Thread.detachNewThread { [ended] in
      while readLine() != nil {}
      ended.finish()
    }
  }

  func wait() async { for await _ in asked {} }
}
