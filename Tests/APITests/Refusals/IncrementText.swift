// expect: 'String' conform to 'FixedWidthInteger'
import Skerry

func increment(_ replica: Replica, _ ana: RowID<Person>) async throws {
  try await replica.write { tx in try tx.increment(\Person.name, of: ana) }
}
