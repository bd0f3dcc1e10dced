// SPDX-License-Identifier: Apache-2.0

import SkerryModel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension Row {
  /// The row as a value of the app's: its columns by the names of the properties' coding keys.
  ///
  /// - Throws: `DecodingError` if a column is missing or holds something else.
  package func decoded<T: Decodable>(as type: T.Type) throws -> T { try T(from: RowDecoder(RowReading(self))) }
}

/// Reads one row. Properties are asked for in the order of the declaration, which is mostly that of the columns.
final class RowReading {
  let row: Row
  private var next = 0
  /// The names that were asked for, if somebody wants to know.
  private(set) var asked: Set<String>?
  /// The columns that are no coding keys, if somebody wants to know.
  private(set) var strangers: [String] = []

  init(_ row: Row, noting: Bool = false) {
    self.row = row
    asked = noting ? [] : nil
  }

  func begin(_ type: any CodingKey.Type) {
    if asked != nil { strangers = row.columns.filter { type.init(stringValue: $0) == nil } }
  }

  /// The column's value; nil if there is no such column.
  func value(_ name: String) -> Value? {
    asked?.insert(name)
    guard let index = row.names.index(of: name, guess: next) else { return nil }
    next = index + 1
    return row.values[index]
  }
}

struct RowDecoder: Decoder {
  private let reading: RowReading

  init(_ reading: RowReading) { self.reading = reading }

  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    reading.begin(type)
    return KeyedDecodingContainer(RowContainer<Key>(reading))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw RowDecoder.shape("a list") }

  func singleValueContainer() throws -> any SingleValueDecodingContainer { throw RowDecoder.shape("a single value") }

  fileprivate static func shape(_ what: String) -> DecodingError {
    .dataCorrupted(
      .init(
        codingPath: [],
        debugDescription: "a row is decoded into a structure with a property for each column, not \(what)"))
  }
}

private struct RowContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
  private let reading: RowReading

  init(_ reading: RowReading) { self.reading = reading }

  var codingPath: [any CodingKey] { [] }
  var allKeys: [Key] { reading.row.columns.compactMap { Key(stringValue: $0) } }

  func contains(_ key: Key) -> Bool { reading.value(key.stringValue) != nil }

  private func value(_ key: Key) throws -> Value {
    guard let value = reading.value(key.stringValue) else {
      throw DecodingError.keyNotFound(
        key,
        .init(
          codingPath: [key],
          debugDescription: "the result has no column '\(key.stringValue)'; declare or select it"))
    }
    return value
  }

  private func column<V: ColumnValue>(_ key: Key, as type: V.Type = V.self) throws -> V {
    let value = try value(key)
    do throws(ColumnFault) { return try V(columnValue: value) } catch {
      throw DecodingError.dataCorrupted(.init(codingPath: [key], debugDescription: error.description))
    }
  }

  func decodeNil(forKey key: Key) throws -> Bool { try value(key).isNull }

  func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
    func open<V: ColumnValue>(_ type: V.Type) throws -> T? { try column(key, as: type) as? T }
    if let type = type as? any ColumnValue.Type, let made = try open(type) { return made }
    // Anything else is held as JSON.
    let text = try column(key, as: String.self)
    do { return try JSONDecoder().decode(T.self, from: Data(text.utf8)) } catch {
      throw DecodingError.dataCorrupted(
        .init(codingPath: [key], debugDescription: "JSON of a \(T.self) wanted, something else found"))
    }
  }

  func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try column(key) }
  func decode(_ type: String.Type, forKey key: Key) throws -> String { try column(key) }
  func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try column(key) }
  func decode(_ type: Float.Type, forKey key: Key) throws -> Float { Float(try column(key, as: Double.self)) }
  func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try column(key) }
  func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try column(key) }
  func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try integer(key) }
  func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try integer(key) }
  func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try integer(key) }
  func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try integer(key) }
  func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try integer(key) }
  func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try integer(key) }
  func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try integer(key) }
  func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try integer(key) }

  private func integer<T: FixedWidthInteger>(_ key: Key) throws -> T {
    guard let number = T(exactly: try column(key, as: Int64.self)) else {
      throw DecodingError.dataCorrupted(
        .init(codingPath: [key], debugDescription: "an integer that fits into \(T.self) wanted, a larger one found"))
    }
    return number
  }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<Nested> { throw RowDecoder.shape("a nested container") }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    throw RowDecoder.shape("a nested container")
  }

  func superDecoder() throws -> any Decoder { throw RowDecoder.shape("a class") }
  func superDecoder(forKey key: Key) throws -> any Decoder { throw RowDecoder.shape("a class") }
}
