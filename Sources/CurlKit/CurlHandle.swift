// SPDX-License-Identifier: Apache-2.0

import CSkerryCurl

/// An easy handle with a multi handle of its own, which keeps its connections alive from one transfer to the next.
///
/// Of the two ways to drive a transfer this is the one that can be ended at once: `curl_easy_perform` looks at its progress
/// callback once a second at best, while `curl_multi_wakeup` may be called from any thread at any time.
/// https://curl.se/libcurl/c/curl_multi_wakeup.html
///
/// Unchecked: `perform` is called by one thread at a time, since a handle is either idle in its pool or held by one job;
/// `wake` touches only what libcurl allows other threads to touch, and whoever calls it holds a reference.
final class CurlHandle: @unchecked Sendable {
  private let easy: UnsafeMutableRawPointer
  private let multi: UnsafeMutableRawPointer

  init?() {
    guard CurlHandle.isReady, let easy = curl_easy_init() else { return nil }
    guard let multi = curl_multi_init() else {
      curl_easy_cleanup(easy)
      return nil
    }
    self.easy = easy
    self.multi = multi
  }

  deinit {
    curl_easy_cleanup(easy)
    curl_multi_cleanup(multi)
  }

  /// libcurl is made ready once in a process. A write to a connection that the peer has closed must be an error, not the
  /// end of the process: libcurl cannot see to that with TLS and many threads, so the signal is ignored, unless the
  /// program handles it itself.
  private static let isReady: Bool = {
    skerry_ignore_broken_pipes()
    return skerry_global_init() == CURLE_OK
  }()

  /// Ends the wait of `perform`, so that it looks whether it was cancelled.
  func wake() { curl_multi_wakeup(multi) }

  /// Carries out one request, on this thread.
  func perform(
    _ request: CurlRequest, limits: CurlLimits, isCancelled: () -> Bool
  ) throws(CurlError) -> CurlResponse {
    let fields = try CurlHandle.lines(request.fields)
    defer { curl_slist_free_all(fields) }
    let reception = Reception(limits)
    // A POST without a pointer would read its body from the standard input, and an empty array has none.
    let body = request.body.map { $0.isEmpty ? [0] : $0 } ?? []
    defer { curl_easy_reset(easy) }
    let result = body.withUnsafeBytes { bytes in
      Result { () throws(CurlError) in
        try CurlOptions(easy).set(
          request, limits: limits, fields: fields, body: bytes.baseAddress, reception: reception)
        return try transfer(reception, toSend: request.body?.count ?? 0, limits: limits, isCancelled: isCancelled)
      }
    }
    return try withExtendedLifetime(reception) { () throws(CurlError) in try result.get() }
  }

  private func transfer(
    _ reception: Reception, toSend: Int, limits: CurlLimits, isCancelled: () -> Bool
  ) throws(CurlError) -> CurlResponse {
    guard curl_multi_add_handle(multi, easy) == CURLM_OK else { throw .broken("libcurl takes no transfer") }
    defer { curl_multi_remove_handle(multi, easy) }  // closes the connection unless the transfer is complete
    var watch = TransferWatch(limits)
    while true {
      if isCancelled() { throw .cancelled }
      var running: Int32 = 0
      guard curl_multi_perform(multi, &running) == CURLM_OK else { throw .broken("libcurl cannot go on") }
      let code = skerry_finished(multi)
      if code >= 0 { return try conclude(CURLcode(UInt32(code)), reception, limits) }
      switch watch.look(at: progress(reception, toSend: toSend)) {
      case .late(let phase): throw .timedOut(phase)
      case .early(let left): curl_multi_poll(multi, nil, 0, Int32(clamping: min(left, 1_000)), nil)
      }
    }
  }

  private func progress(_ reception: Reception, toSend: Int) -> TransferProgress {
    TransferProgress(
      elapsed: Int(skerry_info_size(easy, CURLINFO_TOTAL_TIME_T) / 1_000),
      isConnected: skerry_info_size(easy, CURLINFO_PRETRANSFER_TIME_T) > 0,
      sent: Int(skerry_info_size(easy, CURLINFO_SIZE_UPLOAD_T)), toSend: toSend,
      received: reception.bytes, hasBegun: reception.hasBegun)
  }

  private func conclude(
    _ code: CURLcode, _ reception: Reception, _ limits: CurlLimits
  ) throws(CurlError) -> CurlResponse {
    if let refusal = reception.refusal { throw refusal }
    let status = skerry_info_long(easy, CURLINFO_RESPONSE_CODE)
    guard code == CURLE_OK, status > 0 else {
      let isConnected = skerry_info_size(easy, CURLINFO_PRETRANSFER_TIME_T) > 0
      throw CurlError(code, phase: isConnected ? .total : .connect, limit: limits.responseBytes)
    }
    guard reception.isHeadWhole else { throw .broken("the response ended within its head") }
    return CurlResponse(status: Int(status), fields: reception.fields, body: reception.body)
  }

  /// Refuses whatever would become another line, or none.
  private static func lines(_ fields: [CurlField]) throws(CurlError) -> UnsafeMutablePointer<curl_slist>? {
    guard fields.allSatisfy(isSendable) else { throw .badRequest("a header field is malformed") }
    var list: UnsafeMutablePointer<curl_slist>?
    for field in fields {
      guard let longer = curl_slist_append(list, "\(field.name): \(field.value)") else {
        curl_slist_free_all(list)
        throw .badRequest("no memory for the header fields")
      }
      list = longer
    }
    return list
  }

  private static func isSendable(_ field: CurlField) -> Bool {
    !field.name.isEmpty && !field.value.isEmpty && field.name.utf8.allSatisfy { 0x21...0x7E ~= $0 && $0 != 0x3A }
      && field.value.utf8.allSatisfy { 0x20...0x7E ~= $0 }
  }
}
