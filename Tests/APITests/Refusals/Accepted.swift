// expect: nothing
import Skerry

// The others differ from this by one line: were this refused, their refusals would say nothing.
func accepted(_ replica: Replica, _ ana: RowID<Person>, _ name: String) async throws {
  try await replica.write { tx in
    try tx.update(ana) { $0.name = name }
    try tx.increment(\Person.visits, of: ana)
    try tx.delete(ana)
  }
  _ = try await replica.read(Person.query("WHERE name = \(name)"))
}
