// SPDX-License-Identifier: Apache-2.0

// What an app that makes a transport needs by name: its options and its errors.
@_exported public import SkerryTransport
