// SPDX-License-Identifier: Apache-2.0

import CSkerryCurl

/// Everything that a transfer is told. The handle was reset before: what is not named here has libcurl's default, by which
/// certificates and host names are verified, and no cookies, no `.netrc` and no HTTP/0.9 are used.
struct CurlOptions {
  private let easy: UnsafeMutableRawPointer

  init(_ easy: UnsafeMutableRawPointer) { self.easy = easy }

  func set(
    _ request: CurlRequest, limits: CurlLimits, fields: UnsafeMutablePointer<curl_slist>?, body: UnsafeRawPointer?,
    reception: Reception
  ) throws(CurlError) {
    setConduct(limits)
    setCallbacks(reception)
    try check(skerry_set_http_only(easy))
    try check(skerry_set_text(easy, CURLOPT_URL, request.url.text))
    try check(skerry_set_headers(easy, fields))
    // A proxy from the environment cannot reach this machine. For other hosts it is used, and so is `no_proxy`: a company
    // that has one often lets nothing else out, and what goes through it to `https` is encrypted end to end.
    if request.url.isLoopback { try check(skerry_set_text(easy, CURLOPT_PROXY, "")) }
    guard let sent = request.body, let body else { return }
    try check(skerry_set_long(easy, CURLOPT_POST, 1))
    try check(skerry_set_size(easy, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(sent.count)))
    try check(skerry_set_pointer(easy, CURLOPT_POSTFIELDS, UnsafeMutableRawPointer(mutating: body)))
  }

  private func setConduct(_ limits: CurlLimits) {
    skerry_set_quick_exit(easy)
    let conduct: [(CURLoption, Int)] = [
      (CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1)),
      (CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2)),
      (CURLOPT_FOLLOWLOCATION, 0),
      // No field asks for a coding, and none is undone: a body is what came, and the limit counts that.
      (CURLOPT_HTTP_CONTENT_DECODING, 0),
      (CURLOPT_NOSIGNAL, 1),
      (CURLOPT_TCP_KEEPALIVE, 1),
      (CURLOPT_BUFFERSIZE, 128 << 10),
      // Behind our own limits, since libcurl's default would be nearer than a limit of more than five minutes.
      (CURLOPT_CONNECTTIMEOUT_MS, limits.connect + 1_000),
    ]
    for (option, value) in conduct { skerry_set_long(easy, option, value) }
    skerry_set_size(easy, CURLOPT_MAXFILESIZE_LARGE, curl_off_t(limits.responseBytes))
  }

  private func setCallbacks(_ reception: Reception) {
    skerry_set_callback(easy, CURLOPT_WRITEFUNCTION, Reception.write)
    skerry_set_pointer(easy, CURLOPT_WRITEDATA, reception.pointer)
    skerry_set_callback(easy, CURLOPT_HEADERFUNCTION, Reception.header)
    skerry_set_pointer(easy, CURLOPT_HEADERDATA, reception.pointer)
  }

  private func check(_ code: CURLcode) throws(CurlError) {
    guard code == CURLE_OK else { throw .badRequest(String(cString: curl_easy_strerror(code))) }
  }
}
