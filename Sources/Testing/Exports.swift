// SPDX-License-Identifier: Apache-2.0

// A test writes `import SkerryTesting` and has all that an app has with `import Skerry`.
@_exported public import Skerry
