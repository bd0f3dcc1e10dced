// SPDX-License-Identifier: Apache-2.0

/// Why a world is not as it must be.
package struct WorldError: Error, CustomStringConvertible {
  package let description: String
  package init(_ description: String) { self.description = description }
}
