// SPDX-License-Identifier: Apache-2.0
import SkerryStore
import Testing

/// The body throws a `StoreError` with this code.
func expect(
  _ code: StoreError.Code, at location: SourceLocation = #_sourceLocation, _ body: () throws -> Void
) {
  do {
    try body()
    Issue.record("\(code.name) wanted, nothing was thrown", sourceLocation: location)
  } catch let error as StoreError {
    #expect(error.code == code, "\(error)", sourceLocation: location)
  } catch {
    Issue.record("\(code.name) wanted, \(error) was thrown", sourceLocation: location)
  }
}
