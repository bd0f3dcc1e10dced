// expect: to expected argument type '(inout Team) throws -> Void'
import Skerry

func mix(_ replica: Replica, _ team: RowID<Team>) async throws {
  try await replica.write { tx in try tx.update(team) { (person: inout Person) in person.name = "" } }
}
