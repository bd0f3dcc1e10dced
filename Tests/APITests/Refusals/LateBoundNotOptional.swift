// expect: lateBound
import Skerry

struct Thing: Record {
  var id = RowID<Thing>()
  var number = ""
  static let table = TableSchema<Thing>("things") { Column("number", \.number, .lateBound()) }
}
