// SPDX-License-Identifier: Apache-2.0

import SkerryWire

/// A place in a tree, written as in `items[2].fields.name`.
struct JSONPath: Hashable {
  enum Step: Hashable {
    case member(String)
    case element(Int)
  }

  var steps: [Step] = []

  /// The place without the numbers of elements, so that equal places in a list have one name.
  var shape: String {
    steps.reduce("") { text, step in
      switch step {
      case .member(let name): text.isEmpty ? name : text + "." + name
      case .element: text + "[]"
      }
    }
  }
}

extension JSON {
  /// Every place in the tree but its root.
  func paths(below path: JSONPath = JSONPath()) -> [JSONPath] {
    var out: [JSONPath] = []
    func add(_ step: JSONPath.Step, _ value: JSON) {
      let next = JSONPath(steps: path.steps + [step])
      out.append(next)
      out += value.paths(below: next)
    }
    switch self {
    case .array(let elements): for (index, element) in elements.enumerated() { add(.element(index), element) }
    case .object(let members): for member in members { add(.member(member.name), member.value) }
    default: break
    }
    return out
  }

  /// The tree with another value at a place; without the place if there is none.
  func replacing(_ path: JSONPath, with value: JSON?) -> JSON { replacing(path.steps[...], with: value) }

  private func replacing(_ steps: ArraySlice<JSONPath.Step>, with value: JSON?) -> JSON {
    guard let step = steps.first else { return value ?? self }
    let isLast = steps.count == 1
    switch (self, step) {
    case (.array(var elements), .element(let index)):
      if isLast, value == nil {
        elements.remove(at: index)
      } else {
        elements[index] = elements[index].replacing(steps.dropFirst(), with: value)
      }
      return .array(elements)
    case (.object(var members), .member(let name)):
      guard let index = members.firstIndex(where: { $0.name == name }) else { return self }
      if isLast, value == nil {
        members.remove(at: index)
      } else {
        members[index].value = members[index].value.replacing(steps.dropFirst(), with: value)
      }
      return .object(members)
    default: return self
    }
  }

  /// The tree with the members of each object changed, but for those below members of these names.
  func eachObject(except names: Set<String>, _ change: ([Member]) -> [Member]) -> JSON {
    switch self {
    case .array(let elements): .array(elements.map { $0.eachObject(except: names, change) })
    case .object(let members):
      .object(
        change(
          members.map { member in
            names.contains(member.name)
              ? member : Member(member.name, member.value.eachObject(except: names, change))
          }))
    default: self
    }
  }
}
