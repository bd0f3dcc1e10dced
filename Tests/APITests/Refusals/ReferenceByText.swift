// expect: reference
import Skerry

struct Thing: Record {
  var id = RowID<Thing>()
  var team = ""
  static let table = TableSchema<Thing>("things") { Column("team", \.team, .reference()) }
}
