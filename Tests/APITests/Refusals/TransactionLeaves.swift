// expect: missing reinitialization of inout parameter 'tx' after consume
import Skerry

func leave(_ replica: Replica) async throws {
  try await replica.write { tx in
    let kept = tx
    _ = try kept.find(RowID<Person>())
  }
}
