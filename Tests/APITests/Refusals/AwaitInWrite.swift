// expect: to parameter expecting synchronous function type
import Skerry

func network() async -> String { "x" }
func wait(_ replica: Replica, _ ana: RowID<Person>) async throws {
  try await replica.write { tx in
    let name = await network()
    try tx.update(ana) { $0.name = name }
  }
}
