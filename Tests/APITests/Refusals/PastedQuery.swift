// expect: cannot convert value of type 'String' to expected argument type 'SQL'
import Skerry

func paste(_ replica: Replica, _ input: String) async throws {
  _ = try await replica.read(Query(rows: "SELECT * FROM people WHERE name = '" + input + "'"))
}
