// SPDX-License-Identifier: Apache-2.0

package import SkerryModel
package import SkerrySQLiteKit

extension Value {
  /// The same value for a statement.
  package var sqlite: SQLiteValue {
    switch self {
    case .null: .null
    case .integer(let number): .integer(number)
    case .real(let number): .real(number)
    case .text(let text): .text(text)
    case .blob(let bytes): .blob(bytes)
    }
  }
}

extension SQLiteRow {
  /// The column's value in its own storage class.
  package func modelValue(_ column: Int) -> Value {
    switch value(column) {
    case .null: .null
    case .integer(let number): .integer(number)
    case .real(let number): .real(number)
    case .text(let text): .text(text)
    case .blob(let bytes): .blob(bytes)
    }
  }

  /// Several columns' values.
  package func modelValues(_ range: Range<Int>) -> [Value] { range.map(modelValue) }
}
