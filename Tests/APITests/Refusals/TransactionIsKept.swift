// expect: mutation of captured var 'kept' in concurrently-executing code
import Skerry

func keep(_ replica: Replica) async throws {
  var kept: WriteTransaction?
  try await replica.write { tx in kept = consume tx }
  _ = kept == nil
}
