// SPDX-License-Identifier: Apache-2.0

import Skerry

/// A list of things to do. Each list is shared by itself.
struct TodoList: Record {
  var id = RowID<TodoList>()
  var name: String
  static let table = TableSchema<TodoList>("lists") { Column("name", \.name) }.space("list", by: \.id)
}

/// Who may see and change a list.
struct Share: Record {
  var list: RowID<TodoList>
  var user: String
  static let table = TableSchema<Share>("shares", key: ["list", "user"]) {
    Column("list", \.list)
    Column("user", \.user)
  }.space("list", by: \.list)
}

/// Something to do.
struct Todo: Record {
  var id = RowID<Todo>()
  var list: RowID<TodoList>
  var title: String
  var done = false
  var postponed = 0
  static let table = TableSchema<Todo>("todos") {
    Column("list", \.list, .reference(onDelete: .cascade))
    Column("title", \.title)
    Column("done", \.done)
    Column("postponed", \.postponed, .counter)
  }.space("list", by: \.list)
}

extension Schema {
  static let todo = Schema("todo", version: 1) {
    Space("list", root: TodoList.table, members: Share.table, space: \.list, user: \.user)
    Feature("lists", .replica) {
      TodoList.table
      Share.table
      Todo.table
    }
  }
}
