// SPDX-License-Identifier: Apache-2.0

/// One header field of a request or a response. In a response the name is in small letters.
package struct CurlField: Hashable, Sendable {
  package var name: String
  package var value: String

  package init(_ name: String, _ value: String) {
    self.name = name
    self.value = value
  }
}

/// A request: a POST with a body, a GET without.
package struct CurlRequest: Hashable, Sendable {
  package var url: CurlURL
  package var fields: [CurlField]
  package var body: [UInt8]?

  package init(url: CurlURL, fields: [CurlField] = [], body: [UInt8]? = nil) {
    self.url = url
    self.fields = fields
    self.body = body
  }
}

/// A whole response, redirects and errors included: a status is not judged here.
package struct CurlResponse: Hashable, Sendable {
  package var status: Int
  package var fields: [CurlField]
  package var body: [UInt8]

  /// The first value of a name, which is given in small letters.
  package subscript(name: String) -> String? { fields.first { $0.name.utf8.elementsEqual(name.utf8) }?.value }
}

/// What one transfer may take. Times are milliseconds.
package struct CurlLimits: Hashable, Sendable {
  /// Until the connection stands, with its encryption.
  package var connect: Int
  /// From the last byte sent to the first one received.
  package var firstByte: Int
  /// Without a byte in either direction.
  package var idle: Int
  package var total: Int
  /// The bytes of the body, as they come: nothing is unpacked.
  package var responseBytes: Int
  /// The bytes of all response headers.
  package var headerBytes: Int

  package init(
    connect: Int, firstByte: Int, idle: Int, total: Int, responseBytes: Int, headerBytes: Int = 64 << 10
  ) {
    self.connect = connect
    self.firstByte = firstByte
    self.idle = idle
    self.total = total
    self.responseBytes = responseBytes
    self.headerBytes = headerBytes
  }
}
