// SPDX-License-Identifier: Apache-2.0

/// What each message admits, place by place: the normative text as a table. A place that is not named admits only values
/// with a form of their own (ids, words, cursors) or the object that it holds.
enum MessageShapes {
  /// The members that may be absent.
  static let optional: [String: Set<String>] = [
    "push request": [
      "cursor", "mutations[].after", "mutations[].ops[].base", "mutations[].ops[].place",
      "mutations[].ops[].fields.active",
      "mutations[].ops[].fields.email", "mutations[].ops[].fields.name", "mutations[].ops[].fields.photo",
      "mutations[].ops[].fields.score", "mutations[].ops[].fields.team", "mutations[].ops[].incarnation",
      "mutations[].void",
    ],
    "push answer": [],
    "pull request": [
      "cursor"
    ],
    "page": [
      "digests", "digests.team:north", "items[].code", "items[].fields.active", "items[].fields.email",
      "items[].fields.name", "items[].fields.photo", "items[].fields.score", "items[].fields.team",
      "items[].fields.visits", "items[].reason",
    ],
    "reset": [],
  ]

  /// The kinds that a place takes, when null, true, 7, 1.5, "text", [] and {} are tried.
  static let kinds: [String: [String: String]] = [
    "push request": [
      "cursor": "null",
      "mutations": "array",
      "mutations[].after": "null array",
      "mutations[].n": "int",
      "mutations[].ops": "array",
      "mutations[].ops[].base": "null",
      "mutations[].ops[].by": "int",
      "mutations[].ops[].place": "null int",
      "mutations[].ops[].column": "text",
      "mutations[].ops[].fields": "object",
      "mutations[].ops[].fields.active": "null bool int real text",
      "mutations[].ops[].fields.email": "null bool int real text",
      "mutations[].ops[].fields.name": "null bool int real text",
      "mutations[].ops[].fields.photo": "null bool int real text",
      "mutations[].ops[].fields.photo.base64": "text",
      "mutations[].ops[].fields.score": "null bool int real text",
      "mutations[].ops[].fields.team": "null bool int real text",
      "mutations[].ops[].incarnation": "null",
      "mutations[].ops[].key": "array",
      "mutations[].ops[].key[]": "null bool int real text",
      "mutations[].ops[].table": "text",
      "mutations[].void": "null bool",
      "replica": "text",
      "schema.name": "text",
      "schema.version": "int",
      "settled": "int",
    ],
    "push answer": [
      "verdicts": "array",
      "verdicts[].kind": "text",
      "verdicts[].outcome": "text",
      "verdicts[].replica": "text",
    ],
    "pull request": [
      "cursor": "null",
      "limit": "int",
      "replicas[]": "text",
      "schema.name": "text",
      "schema.version": "int",
      "settled": "int",
    ],
    "page": [
      "closes": "bool",
      "digests": "null object",
      "digests.team:north.rows": "int",
      "items": "array",
      "items[].code": "null text",
      "items[].fields": "object",
      "items[].fields.active": "null bool int",
      "items[].fields.email": "null text",
      "items[].fields.name": "null text",
      "items[].fields.photo": "null",
      "items[].fields.photo.base64": "text",
      "items[].fields.score": "null bool int real",
      "items[].fields.team": "null text",
      "items[].fields.visits": "null bool int",
      "items[].key[]": "text",
      "items[].reason": "null text",
      "items[].still": "array",
      "safe": "int",
    ],
    "reset": [
      "spaces": "array"
    ],
  ]
}
