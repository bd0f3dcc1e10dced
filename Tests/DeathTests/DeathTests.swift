// SPDX-License-Identifier: Apache-2.0
import SkerryTestSupport
import Testing

/// A process dies at the n-th call into SQLite, for every n; or that call alone fails, and the process lives on.
@Suite(.serialized) struct DeathTests {
  static let devices = Script.writes + Script.pages
  static let servers = Script.servers

  // MARK: Devices

  @Test(arguments: devices)
  func `a device that dies at every call in turn loses nothing and does nothing twice`(_ script: Script) throws {
    let sweep = try Sweep.deaths(script)
    #expect(sweep.faults.list == [])
    #expect(try sweep.calls >= Recording.of(script).calls)
  }

  /// Nothing of the store depends on which error it is, so the calls share the three.
  @Test(arguments: devices)
  func `a call of a device that fails leaves file and memory as before`(_ script: Script) throws {
    let sweep = try Sweep.failures(script, Watch.Fault.allCases)
    #expect(sweep.faults.list == [])
    #expect(sweep.calls > 0)
  }

  // MARK: Servers

  @Test(arguments: servers)
  func `devices whose server dies at every call in turn get each effect once`(_ script: Script) throws {
    let sweep = try Sweep.deaths(script)
    #expect(sweep.faults.list == [])
    #expect(try sweep.calls >= Recording.of(script).calls)
  }

  /// A server that finds its database busy does what it can without, so that error is a case of its own.
  @Test(arguments: servers, [[Watch.Fault.full, .inputOutput], [.busy]])
  func `a call of a server that fails leaves its file as before`(_ script: Script, _ faults: [Watch.Fault]) throws {
    let sweep = try Sweep.failures(script, faults)
    #expect(sweep.faults.list == [])
    #expect(sweep.calls > 0)
  }
}
