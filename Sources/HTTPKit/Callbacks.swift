// SPDX-License-Identifier: Apache-2.0

import CSkerryMicroHTTP

// All context pointers that the library holds are made and released in this file.
//
//     HTTPServer ───────────────▶ ServerContext ◀───────────── Exchange
//                                  │    ▲                        ▲  │
//                                  │    ║ MHD_Daemon's context   ║  │
//                                  ▼    ║ (made in `start`,      ║  ▼
//                      ConnectionWatch  ║  released after        ║  ConnectionRecord
//                                  │       MHD_stop_daemon)      ║  ▲          ▲
//                                  └────────────────────────── ──╫──┘          ║
//                                                                ║             ║
//                        MHD_Connection's request context ═══════╝             ║
//                        (made at the first line, released when completed)     ║
//                        MHD_Connection's socket context ══════════════════════╝
//                        (made when started, released when closed)
//
//     ───▶ an ordinary reference     ═══▶ one retain taken here
//
// The library promises the pairs: `completed` once for each call of the target callback
// (it marks the request as known to the application first), `closed` once for each `started`, and both before
// MHD_stop_daemon returns. https://www.gnu.org/software/libmicrohttpd/manual/libmicrohttpd.html

/// A running daemon with the retain that its context pointer stands for.
struct Daemon: Sendable {
  private let address: Int
  private let context: Unmanaged<ServerContext>

  /// Nil if the library cannot start it.
  init?(_ context: ServerContext, at listen: ListenAddress, threads: Int) {
    let retained = Unmanaged.passRetained(context)
    let limits = context.limits
    let pointer = listen.withSocketAddress { address in
      var options = skerry_daemon_options()
      options.ipv6 = listen.isIPv6 ? 1 : 0
      options.address = address
      options.threads = UInt32(threads)
      options.connections = UInt32(limits.connections)
      options.connections_per_address = UInt32(limits.connectionsPerAddress)
      options.idle_seconds = UInt32(limits.idleSeconds)
      options.connection_memory = limits.connectionMemory
      options.target = targetCame
      options.handle = requestAdvanced
      options.completed = requestCompleted
      options.connection = connectionChanged
      options.context = retained.toOpaque()
      return skerry_start_daemon(&options)
    }
    guard let pointer else {
      retained.release()
      return nil
    }
    self.address = Int(bitPattern: pointer)
    self.context = retained
  }

  private var pointer: OpaquePointer? { OpaquePointer(bitPattern: address) }

  var port: Int { Int(skerry_daemon_port(pointer)) }

  /// Ends all threads and connections; once. It waits for handlers that are still at work.
  func stop() {
    MHD_stop_daemon(pointer)
    context.release()
  }
}

private func connectionChanged(
  _ context: UnsafeMutableRawPointer?, _ connection: OpaquePointer?,
  _ slot: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, _ code: MHD_ConnectionNotificationCode
) {
  guard let context, let connection, let slot else { return }
  let watch = Unmanaged<ServerContext>.fromOpaque(context).takeUnretainedValue().watch
  if code == .CONNECTION_NOTIFY_STARTED {
    let record = ConnectionRecord(socket: Connection(connection).socket)
    slot.pointee = Unmanaged.passRetained(record).toOpaque()
    watch.opened(record)
  } else if let record = slot.pointee {
    watch.closed(Unmanaged<ConnectionRecord>.fromOpaque(record).takeRetainedValue())
    slot.pointee = nil
  }
}

private func targetCame(
  _ context: UnsafeMutableRawPointer?, _ target: UnsafePointer<CChar>?, _ connection: OpaquePointer?
) -> UnsafeMutableRawPointer? {
  guard let context, let record = skerry_connection_context(connection) else { return nil }
  let exchange = Exchange(
    target: target.map { Array(String(cString: $0).utf8) } ?? [],
    context: Unmanaged<ServerContext>.fromOpaque(context).takeUnretainedValue(),
    record: Unmanaged<ConnectionRecord>.fromOpaque(record).takeUnretainedValue())
  return Unmanaged.passRetained(exchange).toOpaque()
}

private func requestAdvanced(
  _ context: UnsafeMutableRawPointer?, _ connection: OpaquePointer?, _ path: UnsafePointer<CChar>?,
  _ method: UnsafePointer<CChar>?, _ version: UnsafePointer<CChar>?, _ part: UnsafePointer<CChar>?,
  _ count: UnsafeMutablePointer<Int>?, _ slot: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> MHD_Result {
  guard let connection, let method, let version, let count, let pointer = slot?.pointee else { return .NO }
  let exchange = Unmanaged<Exchange>.fromOpaque(pointer).takeUnretainedValue()
  let bytes = count.pointee > 0 ? UnsafeRawBufferPointer(start: part, count: count.pointee) : nil
  let goesOn = exchange.advance(
    Connection(connection), method: String(cString: method), version: String(cString: version), part: bytes)
  count.pointee = 0
  return goesOn ? .YES : .NO
}

private func requestCompleted(
  _ context: UnsafeMutableRawPointer?, _ connection: OpaquePointer?,
  _ slot: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, _ reason: MHD_RequestTerminationCode
) {
  guard let slot, let pointer = slot.pointee else { return }
  slot.pointee = nil
  Unmanaged<Exchange>.fromOpaque(pointer).takeRetainedValue().close()
}
