// expect: 'Place'
import Skerry

struct Place: Codable, Sendable { var city = "" }
struct Thing: Record {
  var id = RowID<Thing>()
  var place = Place()
  static let table = TableSchema<Thing>("things") { Column("place", \.place) }
}
