// SPDX-License-Identifier: Apache-2.0
import Foundation

/// `make soak` runs the long forms.
let isSoak = ProcessInfo.processInfo.environment["SKERRY_SOAK"] != nil
