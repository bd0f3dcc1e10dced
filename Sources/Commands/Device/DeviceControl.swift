// SPDX-License-Identifier: Apache-2.0

import Skerry
import SkerryHTTPKit
import SkerryModel
import SkerrySQLiteKit
import SkerryStore
import SkerryWire

/// A device's control interface: HTTP on the loopback address, JSON in both directions, see `docs/device.md`.
///
/// Each order wants the key that the process printed when it started, so that no page in a browser on the same machine can
/// give orders.
struct DeviceControl: Sendable {
  private typealias Order = @Sendable (Device, JSON) async throws -> JSON

  let device: Device
  let key: String
  let quit: @Sendable () -> Void

  /// Orders that only look; they may be asked with GET too.
  private static let looks: [String: Order] = [
    "/state": { device, _ in try await device.state() },
    "/outbox": { device, _ in try await device.outbox() },
    "/rejections": { device, _ in try await device.rejections() },
  ]

  private static let orders: [String: Order] = [
    "/read": { try await $0.read($1) },
    "/write": { try await $0.write($1) },
    "/import": { try await $0.importContacts($1) },
    "/sync": { try await $0.sync($1) },
    "/run": { try await $0.run($1) },
    "/network": { try await $0.setNetwork($1) },
    "/clock": { try await $0.setClock($1) },
    "/acknowledge": { try await $0.acknowledge($1) },
    "/discard": { try await $0.discard($1) },
    "/retry": { try await $0.retry($1) },
  ]

  var routes: HTTPRoutes {
    var routes = DeviceControl.looks.flatMap { path, order in
      [route("GET", path, order), route("POST", path, order)]
    }
    routes += DeviceControl.orders.map { route("POST", $0, $1) }
    routes.append(
      HTTPRoute("POST", "/quit", admit: admit) { _ in
        quit()
        return HTTPResponse(status: 200, contentType: "application/json", body: JSON.object([]).encoded)
      })
    return HTTPRoutes(routes)
  }

  private func route(_ method: String, _ path: String, _ order: @escaping Order) -> HTTPRoute {
    HTTPRoute(method, path, admit: admit) { [device] request in
      let answer = try DeviceControl.describing {
        let message = request.body.isEmpty ? JSON.object([]) : try JSON(parsing: request.body)
        return try blocking { try await order(device, message) }
      }
      return HTTPResponse(status: 200, contentType: "application/json", body: answer.encoded)
    }
  }

  @Sendable private func admit(_ head: HTTPHead) throws {
    let given = head.headers.values("Authorization")
    guard given.count == 1, given[0].utf8.elementsEqual("Bearer \(key)".utf8) else {
      throw HTTPProblem(
        401, "The key is needed that the device printed: Authorization: Bearer KEY.",
        headers: HTTPHeaders([.init("WWW-Authenticate", "Bearer realm=\"device\"")]))
    }
  }

  /// Whoever has the key is the one who runs the device, so errors are told as they are.
  private static func describing(_ body: () throws -> JSON) throws -> JSON {
    do { return try body() } catch let error as UsageError {
      throw HTTPProblem(400, error.description)
    } catch let error as WireError {
      throw HTTPProblem(400, error.description)
    } catch let error as SQLiteError {
      throw HTTPProblem(422, error.message)
    } catch let error as FileError {
      throw HTTPProblem(422, error.description)
    } catch let error as StoreError {
      throw HTTPProblem(422, error.description)
    } catch let error as EngineBusy {
      throw HTTPProblem(409, error.description)
    } catch {
      throw HTTPProblem(500, "\(error)")
    }
  }
}
