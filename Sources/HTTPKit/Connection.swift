// SPDX-License-Identifier: Apache-2.0

import CSkerryMicroHTTP

/// The library's connection, borrowed for the length of one callback.
struct Connection {
  private let pointer: OpaquePointer

  init(_ pointer: OpaquePointer) { self.pointer = pointer }

  var socket: Int32 { skerry_connection_socket(pointer) }

  var headers: HTTPHeaders {
    var headers = HTTPHeaders()
    _ = withUnsafeMutablePointer(to: &headers) { collected in
      MHD_get_connection_values_n(pointer, .HEADER_KIND, collectField, collected)
    }
    return headers
  }

  /// Keeps the library from calling back for this connection until `resume`; its time-outs stand still.
  func suspend() -> Suspended {
    MHD_suspend_connection(pointer)
    return Suspended(address: Int(bitPattern: pointer))
  }

  /// A connection that waits. The library keeps it, lost by its peer or not, until it is resumed; so it must be, once.
  struct Suspended: Sendable {
    fileprivate let address: Int

    /// From any thread: the library calls back for the connection soon.
    func resume() { MHD_resume_connection(OpaquePointer(bitPattern: address)) }
  }

  /// Hands an answer to the library. False if it takes it not, because of a malformed field or want of memory.
  func queue(_ response: HTTPResponse, closing: Bool) -> Bool {
    guard let handle = ResponseHandle(body: response.body) else { return false }
    for field in response.lines {
      guard handle.add(field) else { return false }
    }
    if closing { guard handle.add(HTTPHeaders.Field("Connection", "close")) else { return false } }
    return handle.queue(on: pointer, status: response.status)
  }

  /// Sends a short answer past the library, which takes none while a body is coming in. The connection must be given up
  /// at once after that. What does not fit into the socket's buffer is lost, as the connection is.
  func cut(_ response: HTTPResponse) {
    var text = "HTTP/1.1 \(response.status) \(HTTPStatus.phrase(response.status))\r\n"
    for field in response.lines { text += "\(field.name): \(field.value)\r\n" }
    text += "Content-Length: \(response.body.count)\r\nConnection: close\r\n\r\n"
    let bytes = Array(text.utf8) + response.body
    _ = skerry_send_now(socket, bytes, bytes.count)
  }
}

/// The only owner of our share in an answer. The library takes a share of its own when the answer is queued, and drops it
/// when it has sent it, so destroying ours once, here, is right in each case.
/// https://www.gnu.org/software/libmicrohttpd/manual/html_node/microhttpd_002dresponse-create.html
private struct ResponseHandle: ~Copyable {
  private let pointer: OpaquePointer

  init?(body: [UInt8]) {
    let pointer = body.withUnsafeBytes { bytes in
      // The library copies and never writes; the parameter lacks a `const` only.
      MHD_create_response_from_buffer(
        bytes.count, UnsafeMutableRawPointer(mutating: bytes.baseAddress), .RESPMEM_MUST_COPY)
    }
    guard let pointer else { return nil }
    self.pointer = pointer
  }

  func add(_ field: HTTPHeaders.Field) -> Bool {
    MHD_add_response_header(pointer, field.name, field.value) == .YES
  }

  func queue(on connection: OpaquePointer, status: Int) -> Bool {
    MHD_queue_response(connection, UInt32(status), pointer) == .YES
  }

  deinit { MHD_destroy_response(pointer) }
}

private func collectField(
  _ collected: UnsafeMutableRawPointer?, _ kind: MHD_ValueKind, _ name: UnsafePointer<CChar>?, _ nameCount: Int,
  _ value: UnsafePointer<CChar>?, _ valueCount: Int
) -> MHD_Result {
  collected?.assumingMemoryBound(to: HTTPHeaders.self).pointee
    .append(text(name, nameCount), trimmed(text(value, valueCount)))
  return .YES
}

private func text(_ start: UnsafePointer<CChar>?, _ count: Int) -> String {
  String(decoding: UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : count), as: UTF8.self)
}

/// The library leaves white space behind a value where it was.
private func trimmed(_ text: String) -> String {
  guard let last = text.utf8.last, last == 0x20 || last == 0x09 else { return text }
  let end = text.utf8.lastIndex { $0 != 0x20 && $0 != 0x09 }
  return end.map { String(text[...$0]) } ?? ""
}
