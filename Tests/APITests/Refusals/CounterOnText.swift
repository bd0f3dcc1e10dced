// expect: static property 'counter'
import Skerry

struct Thing: Record {
  var id = RowID<Thing>()
  var name = ""
  static let table = TableSchema<Thing>("things") { Column("name", \.name, .counter) }
}
