// SPDX-License-Identifier: Apache-2.0

import Foundation
import SkerryModel

/// The model's names for things, and ours.
///
/// Mutation ids are the model's text in sixteen bytes, which keeps their order. Version tags of foreign writes and replica
/// ids are drawn by the implementation, so they are learned when they first appear, and must then be used alike for ever.
struct Names {
  private var tags: [String: VersionTag] = [:]
  private var tagNames: [VersionTag: String] = [:]
  private var incarnations: [String: Incarnation] = [:]
  private var incarnationNames: [Incarnation: String] = [:]
  private var replicas: [String: ReplicaID] = [:]

  func mutation(_ name: String) -> MutationID {
    let bytes = Array(name.utf8.prefix(16)) + Array(repeating: 0, count: max(0, 16 - name.utf8.count))
    guard let id = MutationID(bytes: bytes) else { preconditionFailure("sixteen bytes are an id") }
    return id
  }

  func name(_ id: MutationID) -> String { String(decoding: id.raw.bytes.filter { $0 != 0 }, as: UTF8.self) }

  mutating func learn(_ name: String, _ tag: VersionTag) throws {
    if let known = tags[name], known != tag { throw Difference("version \(name) is two versions here") }
    if let known = tagNames[tag], known != name { throw Difference("versions \(known) and \(name) are one here") }
    tags[name] = tag
    tagNames[tag] = name
  }

  func tag(_ name: String) throws -> VersionTag {
    if let known = tags[name] { return known }
    if name.hasPrefix("m") { return mutation(name).tag }
    throw Difference("version \(name) is not known here")
  }

  func name(_ tag: VersionTag) -> String { tagNames[tag] ?? name(MutationID(raw: tag.raw)) }

  /// `mid:index`, or the tag of a foreign insert.
  func incarnation(_ name: String) throws -> Incarnation {
    if let known = incarnations[name] { return known }
    let parts = name.split(separator: ":")
    if parts.count == 2 { return Incarnation(tag: try tag(String(parts[0])), index: UInt16(parts[1]) ?? 0) }
    throw Difference("incarnation \(name) is not known here")
  }

  func name(_ incarnation: Incarnation) -> String {
    if let foreign = incarnationNames[incarnation] { return foreign }
    return "\(name(incarnation.tag)):\(incarnation.index)"
  }

  /// A foreign write that captures a row several times gives it a version of another tag than its incarnation's.
  mutating func learn(_ name: String, _ incarnation: Incarnation) throws {
    if name.contains(":") {
      return try require(incarnation, self.incarnation(name), "incarnation of a device's insert")
    }
    if let known = incarnations[name], known != incarnation { throw Difference("incarnation \(name) is two here") }
    if let known = incarnationNames[incarnation], known != name { throw Difference("incarnations \(known), \(name)") }
    incarnations[name] = incarnation
    incarnationNames[incarnation] = name
  }

  mutating func learn(replica name: String, _ id: ReplicaID) { replicas[name] = id }

  func replica(_ name: String) -> ReplicaID { replicas[name] ?? ReplicaID(name) }

  func name(_ replica: ReplicaID) -> String { replicas.first { $0.value == replica }?.key ?? replica.text }

  func space(_ name: String) -> SpaceID {
    name.hasPrefix("replica:") ? .replica(replica(String(name.dropFirst(8)))) : SpaceID(name)
  }

  func name(_ space: SpaceID) -> String {
    space.holdsReceipts ? "replica:" + name(ReplicaID(String(space.id))) : space.text
  }

  // MARK: Rows and operations

  static func value(_ json: Any?) -> Value {
    switch json {
    case let text as String: .text(text)
    case let number as Int: .integer(Int64(number))
    default: .null
    }
  }

  static func fields(_ json: Any?) -> [Field] {
    (json as? [String: Any] ?? [:]).sorted { $0.key < $1.key }.map { Field($0.key, value($0.value)) }
  }

  func key(_ parts: [Any], at index: Int) -> RowKey {
    RowKey(parts[index] as? String ?? "", .text(parts[index + 1] as? String ?? ""))
  }

  func operation(_ json: [Any]) throws -> SkerryModel.Operation {
    let key = key(json, at: 1)
    switch json[0] as? String {
    case "insert": return SkerryModel.Operation(key, nil, .insert(Names.fields(json[3])))
    case "set":
      let base = try (json[5] as? String).map { try tag($0) }
      return SkerryModel.Operation(
        key, try incarnation(json[3] as? String ?? ""), .set(Names.fields(json[4]), base: base))
    case "add":
      let amount = Int64(json[4] as? Int ?? 0)
      return SkerryModel.Operation(key, try incarnation(json[3] as? String ?? ""), .increment("n", by: amount))
    default: return SkerryModel.Operation(key, try incarnation(json[3] as? String ?? ""), .delete)
    }
  }

  /// A row as text: its fields, version and incarnation by the model's names.
  func describe(_ row: [String: Value], _ version: VersionTag, _ incarnation: Incarnation) -> String {
    let fields = row.filter { $0.key != "id" && !$0.value.isNull }.sorted { $0.key < $1.key }
      .map { "\($0.key)=\($0.value.text ?? $0.value.integer.map(String.init) ?? "?")" }
    return fields.joined(separator: " ") + " ver=\(name(version)) inc=\(name(incarnation))"
  }

  /// The same of a row in a history; nil for one that is no more.
  func describe(_ json: Any) -> String? {
    guard let row = json as? [String: Any] else { return nil }
    let fields = row.filter { !["ver", "inc"].contains($0.key) && !Names.value($0.value).isNull }
      .sorted { $0.key < $1.key }
      .map { "\($0.key)=\($0.value)" }
    return fields.joined(separator: " ") + " ver=\(row["ver"] ?? "") inc=\(row["inc"] ?? "")"
  }
}
