// SPDX-License-Identifier: Apache-2.0

import CSkerryMicroHTTP

/// A bare server over the same library, which reads each request and answers with the same few bytes: the yardstick for
/// what `HTTPServer` and whatever runs in it cost.
package final class HelloServer: Sendable {
  private let address: Int
  /// The port that it listens on, on the loopback address.
  package let port: Int

  /// - Throws: `HTTPServerError` if it cannot listen.
  package init(threads: Int) throws(HTTPServerError) {
    guard let listen = ListenAddress(host: "127.0.0.1", port: 0) else { throw .badAddress(host: "127.0.0.1", port: 0) }
    let pointer = listen.withSocketAddress { address in
      var options = skerry_daemon_options()
      options.address = address
      options.threads = UInt32(threads)
      options.connections = 64
      options.idle_seconds = 60
      options.connection_memory = 32 << 10
      options.handle = sayHello
      return skerry_start_daemon(&options)
    }
    guard let pointer else { throw .cannotListen(host: "127.0.0.1", port: 0) }
    address = Int(bitPattern: pointer)
    port = Int(skerry_daemon_port(pointer))
  }

  deinit { MHD_stop_daemon(OpaquePointer(bitPattern: address)) }
}

private func sayHello(
  _ context: UnsafeMutableRawPointer?, _ connection: OpaquePointer?, _ target: UnsafePointer<CChar>?,
  _ method: UnsafePointer<CChar>?, _ version: UnsafePointer<CChar>?, _ part: UnsafePointer<CChar>?,
  _ size: UnsafeMutablePointer<Int>?, _ slot: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> MHD_Result {
  guard let slot, let size else { return .NO }
  if slot.pointee == nil {
    slot.pointee = UnsafeMutableRawPointer(bitPattern: 1)
    return .YES
  }
  if size.pointee > 0 {
    size.pointee = 0
    return .YES
  }
  slot.pointee = nil
  let response = MHD_create_response_from_buffer(
    helloText.utf8CodeUnitCount, UnsafeMutableRawPointer(mutating: helloText.utf8Start), .RESPMEM_PERSISTENT)
  defer { MHD_destroy_response(response) }
  return MHD_queue_response(connection, 200, response)
}

private let helloText: StaticString = "hello\n"
