// SPDX-License-Identifier: Apache-2.0

// A backend writes `import SkerryServer` and has what its schema is made of (records, tables, columns), and the keys of tokens.
@_exported public import SkerryModel
@_exported public import SkerryRecords
@_exported public import SkerryTokenKit
