// SPDX-License-Identifier: Apache-2.0

// An app writes `import Skerry` and has what the signatures name: schema, values, keys, the write transaction, the transport.
@_exported public import SkerryMachine
@_exported public import SkerryModel
@_exported public import SkerryRecords
@_exported public import SkerryStore
