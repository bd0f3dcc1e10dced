// SPDX-License-Identifier: Apache-2.0

import Skerry

/// What the app does with its data. It needs no network for any of it.
struct TodoApp {
  let replica: Replica

  init(folder: String, account: AccountID) async throws {
    replica = try await Replica.open(in: folder, account: account, schema: .todo)
  }
}

extension TodoApp {
  /// Makes a list and says who is on it.
  func makeList(_ name: String, for users: [String]) async throws -> RowID<TodoList> {
    let list = TodoList(name: name)
    try await replica.write("make a list") { tx in
      try tx.insert(list)
      try tx.insert(contentsOf: users.map { Share(list: list.id, user: $0) })
    }
    return list.id
  }

  func add(_ title: String, to list: RowID<TodoList>) async throws -> RowID<Todo> {
    let todo = Todo(list: list, title: title)
    try await replica.write("add a to-do") { try $0.insert(todo) }
    return todo.id
  }

  func tick(_ todo: RowID<Todo>) async throws {
    try await replica.write("tick") { try $0.update(todo) { $0.done = true } }
  }

  func postpone(_ todo: RowID<Todo>) async throws {
    try await replica.write("postpone") { try $0.increment(\Todo.postponed, of: todo) }
  }

  func remove(_ user: String, from list: RowID<TodoList>) async throws {
    try await replica.write("remove a person") { try $0.delete(Share.self, key: list, user) }
  }
}

extension TodoApp {
  func todos(of list: RowID<TodoList>) async throws -> [Todo] {
    try await replica.read(Todo.query("WHERE list = \(list) ORDER BY title"))
  }

  /// Shows a list now and after each change, until `show` has seen enough or the task is cancelled.
  func watch(_ list: RowID<TodoList>, show: ([Tracked<Todo>]) -> Bool) async throws {
    for try await todos in replica.observe(Todo.tracked("WHERE list = \(list) ORDER BY title")) {
      if !show(todos) { return }
    }
  }
}

extension TodoApp {
  /// What the server refused, in words for a person. Seen is seen: each is told once.
  func takeRefusals() async throws -> [String] {
    var told: [String] = []
    for refusal in try await replica.read(.rejections) {
      told.append("\(refusal.label ?? "a change") was refused: \(refusal.code?.text ?? "nobody knows why")")
      try await replica.acknowledge(refusal)
    }
    return told
  }
}
