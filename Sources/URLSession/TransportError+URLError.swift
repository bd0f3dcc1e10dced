// SPDX-License-Identifier: Apache-2.0

import Foundation
import SkerryMachine

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

extension TransportError {
  /// What the session's error means to a caller. Its own text does not go on: it is in the language of the device, and may
  /// name addresses. What failed before anything was sent is no connection, whatever its code.
  init(_ error: any Error, phase: String) {
    guard let code = (error as? URLError)?.code else {
      self = .broken("the session failed")
      return
    }
    let text = "code \(code.rawValue)"
    switch code {
    case .timedOut: self = .timedOut(phase)
    case .cancelled: self = .broken("the session was ended")
    case .dataLengthExceedsMaximum: self = .broken("the session refused the length of the answer")
    case _ where TransportError.unreachable.contains(code): self = .unreachable(text)
    default: self = phase == "connect" ? .unreachable(text) : .broken(text)
    }
  }

  private static let unreachable: Set<URLError.Code> = [
    .badURL, .cannotFindHost, .dnsLookupFailed, .cannotConnectToHost, .notConnectedToInternet,
    .internationalRoamingOff, .callIsActive, .dataNotAllowed, .secureConnectionFailed, .serverCertificateHasBadDate,
    .serverCertificateUntrusted, .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid,
    .clientCertificateRejected, .clientCertificateRequired, .appTransportSecurityRequiresSecureConnection,
  ]
}
