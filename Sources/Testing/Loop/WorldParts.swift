// SPDX-License-Identifier: Apache-2.0

import SkerryDiskKit
import SkerryMachine
import SkerryModel

/// What the devices of a world share.
struct WorldParts: Sendable {
  let catalog: Catalog
  let policy: TimingPolicy
  let time: VirtualTime
  let loop: WorldLoop
  let clock: TestClock
  let disk: MemoryDisk
  let network: TestNetwork
  let server: TestServer
}
