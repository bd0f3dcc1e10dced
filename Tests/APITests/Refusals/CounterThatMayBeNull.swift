// expect: static property 'counter'
import Skerry

struct Thing: Record {
  var id = RowID<Thing>()
  var count: Int?
  static let table = TableSchema<Thing>("things") { Column("count", \.count, .counter) }
}
