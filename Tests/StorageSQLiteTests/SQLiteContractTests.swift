// SPDX-License-Identifier: Apache-2.0

import SkerryModel
import SkerryStorageContract
import Testing

/// The conformance suite of the `Storage` port on SQLite.
@Suite struct SQLiteContractTests {
  @Test(arguments: StorageContract.transactions) func `transactions`(_ contract: ContractCase) throws {
    try run(contract)
  }

  @Test(arguments: StorageContract.rows) func `rows`(_ contract: ContractCase) throws { try run(contract) }

  @Test(arguments: StorageContract.relatives) func `children, members and use`(_ contract: ContractCase) throws {
    try run(contract)
  }

  @Test(arguments: StorageContract.captures) func `captures`(_ contract: ContractCase) throws { try run(contract) }

  @Test(arguments: StorageContract.versions) func `versions and incarnations`(_ contract: ContractCase) throws {
    try run(contract)
  }

  @Test(arguments: StorageContract.sequenced) func `the sequencer's memory`(_ contract: ContractCase) throws {
    try run(contract)
  }

  @Test(arguments: StorageContract.log) func `the log`(_ contract: ContractCase) throws { try run(contract) }

  @Test(arguments: StorageContract.members) func `memberships`(_ contract: ContractCase) throws { try run(contract) }

  @Test(arguments: StorageContract.receipts) func `receipts`(_ contract: ContractCase) throws { try run(contract) }

  @Test(arguments: StorageContract.identity) func `identity by bytes`(_ contract: ContractCase) throws {
    try run(contract)
  }

  @Test(arguments: StorageContract.schemas) func `later schemas`(_ contract: ContractCase) throws { try run(contract) }

  @Test func `the chapters are the whole suite, and no sentence is in it twice`() {
    #expect(Set(StorageContract.all.map(\.sentence)).count == StorageContract.all.count)
    #expect(StorageContract.all.count > 80)
  }

  private func run(_ contract: ContractCase) throws {
    let world = try SQLiteWorld(.contract)
    try contract.run(world.contract)
  }
}
