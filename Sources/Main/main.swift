// SPDX-License-Identifier: Apache-2.0

import Foundation
import SkerryCommands

exit(await CommandLineTool.run(Array(CommandLine.arguments.dropFirst())))
