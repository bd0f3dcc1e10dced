// SPDX-License-Identifier: Apache-2.0

import Skerry

/// Ana makes a list, and Ben sees it.
func share(_ ana: Device, _ ben: Device, say: (String) -> Void) async throws -> RowID<TodoList> {
  let list = try await ana.app.makeList("Groceries", for: ["ana", "ben"])
  _ = try await ana.app.add("Milk", to: list)
  _ = try await ana.app.add("Bread", to: list)
  say("Ana pushed \(try await ana.sync().pushed) changes")
  try await ben.sync()
  say("Ben has \(try await ben.app.todos(of: list).map(\.title))")
  return list
}

/// Both change the same to-do without a network.
func meet(_ ana: Device, _ ben: Device, _ list: RowID<TodoList>, say: (String) -> Void) async throws {
  let milk = try await ana.app.todos(of: list)[1].id
  try await ana.app.postpone(milk)
  try await ben.app.postpone(milk)
  try await ben.app.tick(milk)
  for device in [ana, ben, ana] { try await device.sync() }
  for (name, device) in [("Ana", ana), ("Ben", ben)] {
    let todo = try await device.app.todos(of: list)[1]
    say("\(name): \(todo.title), done \(todo.done), postponed \(todo.postponed) times")
  }
}

/// Ana takes Ben off the list while he is on a train.
func part(_ ana: Device, _ ben: Device, _ list: RowID<TodoList>, say: (String) -> Void) async throws {
  try await ana.app.remove("ben", from: list)
  try await ana.sync()
  let bread = try await ben.app.todos(of: list)[0].id
  try await ben.app.tick(bread)
  try await ben.sync()
  for told in try await ben.app.takeRefusals() { say("Ben: \(told)") }
  say(
    "Ben has \(try await ben.app.todos(of: list).count) to-dos; Ana's bread is done: "
      + "\(try await ana.app.todos(of: list)[0].done)")
}
