// SPDX-License-Identifier: Apache-2.0

import SkerryModel
import SkerryRecords
import SkerryTestSupport
import Testing

/// Answers with rows that were laid out before, and notes what it was asked.
private final class Script: QuerySource {
  var asked: [SQL] = []
  let answer: [Row]

  init(_ columns: [String] = [], _ rows: [[Value]] = []) {
    let names = ColumnNames(columns)
    answer = rows.map { Row(names, $0) }
  }

  func rows(_ sql: SQL) throws -> [Row] {
    asked.append(sql)
    return answer
  }
}

@Suite("Queries") struct QueryTests {
  @Test func `interpolated values are bound, never pasted`() throws {
    let evil = "x'; DROP TABLE people; --"
    let sql: SQL = "SELECT * FROM people WHERE name = \(evil) AND n > \(3) AND ok = \(true) AND gone = \(String?.none)"
    #expect(sql.text == "SELECT * FROM people WHERE name = ? AND n > ? AND ok = ? AND gone = ?")
    #expect(sql.values == [.text(evil), 3, 1, nil])
  }

  @Test func `a list is bound value by value, in brackets`() throws {
    let sql: SQL = "id IN \(["a", "b"]) AND n IN \([Int]()) AND x = \([UInt8]([1, 2]))"
    #expect(sql.text == "id IN (?, ?) AND n IN () AND x = ?")
    #expect(sql.values == ["a", "b", .blob([1, 2])])
  }

  @Test func `names come from the records, and pieces can be put together`() throws {
    let order: SQL = "ORDER BY \(\Crm.Person.isActive)"
    let sql: SQL = "SELECT 1 FROM \(Crm.Person.self) WHERE \(\Crm.Person.name) = \("x") \(order)" + " LIMIT \(5)"
    #expect(sql.text == #"SELECT 1 FROM "people" WHERE "name" = ? ORDER BY "is_active" LIMIT ?"#)
    #expect(sql.values == ["x", 5])
  }

  @Test func `what no column holds, and a property without a column, are faults`() throws {
    let time: SQL = "SELECT \(Double.nan)"
    #expect(time.fault == nil)  // a real all the same: SQLite takes NaN for null
    let name: SQL = "SELECT \(\Crm.Person.description)"
    #expect(name.fault != nil)
    #expect(("x" + name).fault != nil)
  }

  @Test func `a record's query selects its columns by name`() throws {
    let script = Script()
    _ = try Crm.Member.query("WHERE role = \("owner")").read(script)
    #expect(
      script.asked[0].text
        == #"SELECT "members"."team", "members"."user", "members"."role" FROM "members" WHERE role = ?"#)
    #expect(script.asked[0].values == ["owner"])
    _ = try Crm.Team.query(id: RowID("t1")).read(script)
    #expect(script.asked[1].text == #"SELECT "teams"."id", "teams"."name" FROM "teams" WHERE "id" = ?"#)
  }

  @Test func `rows become records, structures, scalars and rows`() throws {
    let members = Script(["team", "user", "role"], [["t", "ana", "owner"], ["t", "ben", "guest"]])
    #expect(
      try Crm.Member.all.read(members).elements == [
        Crm.Member(team: "t", user: "ana", role: .owner), Crm.Member(team: "t", user: "ben"),
      ])
    #expect(try Query(String.self, "").read(members).elements == ["t", "t"])
    #expect(try Query(String?.self, "").read(Script(["a"], [[nil], ["x"]])).elements == [nil, "x"])
    #expect(try Query(rows: "").read(members).elements.map { $0["user"] } == ["ana", "ben"])

    struct Pair: Decodable, Equatable {
      var user: String
      var size: Int8
      var note: String?
    }
    let pairs = Script(["size", "note", "user"], [[5, nil, "ana"]])
    #expect(try Query(Pair.self, "").read(pairs).elements == [Pair(user: "ana", size: 5)])
  }

  @Test func `a row that cannot be read is left out and told of, without its values`() throws {
    let members = Script(
      ["team", "user", "role"], [["t", "ana", "s3cret"], ["t", nil, "guest"], ["t", "ben", "guest"]])
    let answer = try Crm.Member.all.read(members)
    #expect(answer.elements.map(\.user) == ["ben"])
    #expect(answer.faults.count == 2)
    #expect(answer.faults[0].hasPrefix("role: "))
    #expect(answer.faults[1].hasPrefix("user: "))
    #expect(!answer.faults.joined().contains("s3cret"))
  }

  @Test func `a column that was not selected is named`() throws {
    let answer = try Crm.Member.all.read(Script(["team", "user"], [["t", "ana"]]))
    #expect(answer.faults == ["role: the result has no column 'role'; declare or select it"])
  }

  @Test func `rows are equal by columns and bytes`() throws {
    let names = ColumnNames(["a"])
    #expect(Row(names, ["é"]) == Row(ColumnNames(["a"]), ["é"]))
    #expect(Row(names, ["é"]) != Row(names, ["e\u{301}"]))
    #expect(Row(names, [1]) != Row(ColumnNames(["b"]), [1]))
    #expect(Row(names, [1])["A"] == nil)
  }
}

extension Crm.Person {
  /// A property that is no column.
  fileprivate var description: String { name }
}
