// SPDX-License-Identifier: Apache-2.0
import Foundation
import SkerryModel
import SkerryStore
import SkerryTestSupport
import Testing

@Suite(.serialized) struct ClientDeathTests {
  static func report(_ kind: String, _ script: Script, _ body: () throws -> Sweep) rethrows -> Sweep {
    let c = ContinuousClock()
    var out: Sweep?
    let t = try c.measure { out = try body() }
    print("SWEEP", kind, script.name, out?.calls ?? 0, out?.commits ?? 0, t)
    fflush(nil)
    return out!
  }
  @Test(arguments: Script.writes + Script.pages + Script.server)
  func `a kill at any call leaves whole transactions, and all goes on from there`(_ script: Script) throws {
    let sweep = try Self.report("images", script) { try Sweep.images(script) }
    #expect(sweep.faults.list == [])
  }
  @Test(arguments: Script.writes + Script.pages + Script.server)
  func `a process that dies again and again loses nothing`(_ script: Script) throws {
    let sweep = try Self.report("deaths", script) { try Sweep.deaths(script) }
    #expect(sweep.faults.list == [])
  }
  @Test(arguments: Script.writes + Script.pages + Script.server)
  func `a call that fails leaves all as before`(_ script: Script) throws {
    for fault in Watch.Fault.allCases {
      let sweep = try Self.report("\(fault)", script) { try Sweep.failures(script, fault) }
      #expect(sweep.faults.list == [])
    }
  }
}
