// SPDX-License-Identifier: Apache-2.0

import SkerryMachine
import Testing

/// A response by its outer form, with a name to tell it by.
struct NamedResponse: Sendable, CustomTestStringConvertible {
  let name: String
  let response: TransportResponse
  var testDescription: String { name }

  init(_ name: String, _ status: Int, _ contentType: String?, _ body: String = "", retryAfter: Int64? = nil) {
    self.name = name
    response = TransportResponse(
      status: status, contentType: contentType, retryAfter: retryAfter, body: Array(body.utf8))
  }
}

/// What answers in a hotel, at an airport, or behind a broken proxy: all of it came from something that is not the server.
enum Portals {
  static let page = "<html><head><title>Welcome</title></head><body><form action=\"/login\"></form></body></html>"

  static let strangers = [
    NamedResponse("a sign-in page with 200", 200, "text/html", page),
    NamedResponse("a sign-in page without a media type", 200, nil, page),
    NamedResponse("a sign-in page as XHTML", 200, "application/xhtml+xml", page),
    NamedResponse("a plain text", 200, "text/plain", "Please sign in"),
    NamedResponse("WISPr XML", 200, "text/xml", "<WISPAccessGatewayParam><Redirect/></WISPAccessGatewayParam>"),
    NamedResponse("an empty 200", 200, nil),
    NamedResponse("an empty 204, as for a connectivity check", 204, nil),
    NamedResponse("an empty page with 200", 200, "text/html"),
    NamedResponse("a picture", 200, "image/png", "PNG"),
    NamedResponse("JSON as text", 200, "text/json", "{\"protocol\":3,\"verdicts\":[]}"),
    NamedResponse("JSON of a portal's API", 200, "application/captive+json", "{\"captive\":true}"),
    NamedResponse("a moved page", 301, "text/html", page),
    NamedResponse("a redirect to a sign-in page", 302, "text/html", page),
    NamedResponse("a redirect with 303", 303, nil),
    NamedResponse("a redirect that keeps the method", 307, nil),
    NamedResponse("a permanent redirect that keeps the method", 308, nil),
    NamedResponse("network authentication required", 511, "text/html", page),
    NamedResponse("a proxy's own sign-in", 407, "text/html", page),
    NamedResponse("a 401 that is not ours", 401, "text/html", page),
    NamedResponse("a 401 without a body", 401, nil),
    NamedResponse("a 403 of a filter", 403, "text/html", "Blocked by policy"),
    NamedResponse("a 404 of another site", 404, "text/html", page),
    NamedResponse("a 409 that is not ours", 409, "text/html", page),
    NamedResponse("a 426 that is not ours", 426, nil),
    NamedResponse("our media type on another status", 201, "application/json", "{\"protocol\":3,\"verdicts\":[]}"),
    NamedResponse("half of a page", 206, "application/json", "{\"protocol\":3,"),
    NamedResponse("not modified", 304, "application/json"),
    NamedResponse("a status that does not exist", 0, nil),
    NamedResponse("another one", 999, "application/json", "{}"),
  ]

  /// These look like an answer from outside; the codec tells that they are none.
  static let look = [
    NamedResponse("JSON that is not ours", 200, "application/json", "{\"status\":\"login required\"}"),
    NamedResponse("an empty object", 200, "application/json", "{}"),
    NamedResponse("an empty list", 200, "application/json", "[]"),
    NamedResponse("null", 200, "application/json", "null"),
    NamedResponse("no bytes", 200, "application/json"),
    NamedResponse("a page called JSON", 200, "application/json", page),
    NamedResponse("a problem with 200", 200, "application/json", "{\"type\":\"about:blank\",\"status\":401}"),
    NamedResponse("half an answer", 200, "application/json", "{\"protocol\":3,\"verdicts\":[{\"kind\":\"settl"),
    NamedResponse("an answer with an end", 200, "application/json", "{\"protocol\":3,\"verdicts\":[]}<!-- proxy -->"),
    NamedResponse("a protocol of tomorrow", 200, "application/json", "{\"protocol\":1000,\"verdicts\":[]}"),
    NamedResponse("a protocol of yesterday", 200, "application/json", "{\"protocol\":0,\"verdicts\":[]}"),
    NamedResponse(
      "verdicts that are a page", 200, "application/json", "{\"protocol\":3,\"kind\":\"page\",\"items\":[]}"),
    NamedResponse("a key given twice", 200, "application/json", "{\"protocol\":3,\"verdicts\":[],\"verdicts\":[]}"),
  ]
}
