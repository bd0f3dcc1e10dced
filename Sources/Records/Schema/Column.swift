// SPDX-License-Identifier: Apache-2.0

public import SkerryModel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A column of a record's table: its name, the property that it holds, and how its writes are merged.
public struct Column<R: Record>: Sendable {
  private(set) var definition: ColumnDefinition
  /// The table to which it refers, by name: asked for when all tables are there, since they may refer to each other.
  let target: (@Sendable () -> String)?
  let path: any PartialKeyPath<R> & Sendable
  /// The property as a column's value.
  let read: @Sendable (R) throws(ColumnFault) -> Value
  /// Two values with which the declaration is tried out; one if there are no two.
  let examples: [Value]
  var faults: [SchemaError] = []

  /// A column for a property whose type a column can hold.
  ///
  /// - Parameters:
  ///   - name: the property's coding key.
  ///   - property: the property. An optional makes a column that may be null.
  ///   - option: how its writes are merged, or what it refers to.
  ///   - default: what rows have that were inserted without a value, such as by a version of the app that lacked the column.
  ///   - type: the column's type, if the property's type leaves a choice: `RowID` and `UUID` are held as `.uuid` or `.text`,
  ///     a `String` as `.text`, `.date`, `.decimal`, `.uuid` or `.json`, an integer as `.integer` or `.timestamp`.
  ///   - formerNames: what the column was called in earlier versions of the schema.
  public init<V: ColumnValue>(
    _ name: String, _ property: any KeyPath<R, V> & Sendable, _ option: ColumnOption<V> = .arrival, default: V? = nil,
    as type: ColumnType? = nil, was formerNames: [String] = []
  ) {
    path = property
    read = { record throws(ColumnFault) in try record[keyPath: property].columnValue }
    let wanted = type ?? V.columnTypes[0]
    definition = ColumnDefinition(name, wanted, optional: V.acceptsNull, was: formerNames)
    option.apply(to: &definition)
    target = option.target
    var examples: [Value] = []
    for example in V.examples { if let value = try? example.columnValue { examples.append(value) } }
    self.examples = examples
    if !V.columnTypes.contains(wanted) {
      let legal = V.columnTypes.map { ".\($0.rawValue)" }.joined(separator: ", ")
      faults.append(
        SchemaError(nil, name, "a column of type \(wanted.rawValue) does not hold a \(V.self)", "use \(legal)"))
    }
    guard let value = `default` else { return }
    do throws(ColumnFault) { definition.defaultValue = try value.columnValue } catch {
      faults.append(SchemaError(nil, name, "its default is no value: \(error)", "give another"))
    }
  }

  /// A column that holds any `Codable` value as JSON. An edit replaces the whole value.
  ///
  /// - Parameters:
  ///   - name: the property's coding key.
  ///   - property: the property.
  ///   - form: `.json`.
  ///   - example: any value, with which the declaration is tried out.
  public init<V: Codable & Sendable>(
    _ name: String, _ property: any KeyPath<R, V> & Sendable, _ form: JSONForm, example: V
  ) {
    self.init(
      name, property, isOptional: false, example: try? JSONForm.value(example),
      read: { try JSONForm.value($0[keyPath: property]) })
  }

  /// A column that holds any `Codable` value as JSON, or null. An edit replaces the whole value.
  ///
  /// - Parameters:
  ///   - name: the property's coding key.
  ///   - property: the property.
  ///   - form: `.json`.
  ///   - example: any value, with which the declaration is tried out.
  public init<V: Codable & Sendable>(
    _ name: String, _ property: any KeyPath<R, V?> & Sendable, _ form: JSONForm, example: V
  ) {
    self.init(
      name, property, isOptional: true, example: try? JSONForm.value(example),
      read: { try $0[keyPath: property].map(JSONForm.value) ?? .null })
  }

  private init(
    _ name: String, _ path: any PartialKeyPath<R> & Sendable, isOptional: Bool, example: Value?,
    read: @escaping @Sendable (R) throws -> Value
  ) {
    self.path = path
    target = nil
    definition = ColumnDefinition(name, .json, optional: isOptional)
    self.read = { record throws(ColumnFault) in
      do { return try read(record) } catch { throw ColumnFault("a value that JSON can hold wanted") }
    }
    examples = example.map { [$0] } ?? []
  }
}

/// How a property is held in a column that is not of its own type.
public struct JSONForm: Sendable {
  /// As JSON, members in the order of their names.
  public static let json = JSONForm()

  static func value(_ value: some Encodable) throws -> Value {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return .text(String(decoding: try encoder.encode(value), as: UTF8.self))
  }
}

/// What a column is beside its type; what makes no sense for the property's type does not compile.
public struct ColumnOption<V>: Sendable {
  private let edit: @Sendable (inout ColumnDefinition) -> Void
  let target: (@Sendable () -> String)?

  private init(
    target: (@Sendable () -> String)? = nil, _ edit: @escaping @Sendable (inout ColumnDefinition) -> Void
  ) {
    self.target = target
    self.edit = edit
  }

  func apply(to column: inout ColumnDefinition) { edit(&column) }

  /// What arrives last at the server stays.
  public static var arrival: ColumnOption { ColumnOption { _ in } }
}

extension ColumnOption where V: FixedWidthInteger {
  /// Increments add up. It is not set after the insert.
  public static var counter: ColumnOption { ColumnOption { $0.rule = .counter } }
}

extension ColumnOption {
  /// The server alone gives the value, such as the number of a quote.
  ///
  /// - Parameter placeholder: an SQL expression over the row's other columns, shown until then; nil shows null.
  public static func lateBound<W: ColumnValue>(_ placeholder: String? = nil) -> ColumnOption where V == W? {
    ColumnOption { column in
      column.rule = .lateBound
      column.placeholder = placeholder
    }
  }

  /// The row must be there that the id names, and what becomes of this one when it is deleted.
  ///
  /// The server keeps to it. A device deletes or changes the rows that it holds in the same write, as operations of their own.
  public static func reference<T: Record>(onDelete action: ReferenceAction = .restrict) -> ColumnOption
  where V == RowID<T> { reference(to: T.self, action) }

  /// The row must be there that the id names, if any, and what becomes of this one when it is deleted.
  ///
  /// The server keeps to it. A device deletes or changes the rows that it holds in the same write, as operations of their own.
  public static func reference<T: Record>(onDelete action: ReferenceAction = .restrict) -> ColumnOption
  where V == RowID<T>? { reference(to: T.self, action) }

  private static func reference<T: Record>(to type: T.Type, _ action: ReferenceAction) -> ColumnOption {
    let target: @Sendable () -> String = { T.table.name }
    return ColumnOption(target: target) { $0.reference = ReferenceDefinition("", onDelete: action) }
  }
}
