// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0
import PackageDescription

/// One settings constant for every target: language mode 6, the upcoming features, warnings are errors.
let strict: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  .enableUpcomingFeature("InferIsolatedConformances"),
  .treatAllWarnings(as: .error),
]

let package = Package(
  name: "skerry",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],  // the first with `Mutex`
  products: [
    .library(name: "Skerry", targets: ["Skerry"]),
    .library(name: "SkerryHTTP", targets: ["SkerryHTTP"]),
    .library(name: "SkerryURLSession", targets: ["SkerryURLSession"]),
    .library(name: "SkerrySwiftUI", targets: ["SkerrySwiftUI"]),
    .library(name: "SkerryServer", targets: ["SkerryServer"]),
    .library(name: "SkerryTesting", targets: ["SkerryTesting"]),
    .executable(name: "skerry", targets: ["SkerryMain"]),
  ],
  targets: [
    // C layer: module map and shim, variadics and macros only
    .systemLibrary(
      name: "CSkerrySQLite", path: "Sources/CLayer/CSkerrySQLite", pkgConfig: "sqlite3",
      providers: [.apt(["libsqlite3-dev"])]),
    .systemLibrary(
      name: "CSkerryMicroHTTP", path: "Sources/CLayer/CSkerryMicroHTTP", pkgConfig: "libmicrohttpd",
      providers: [.apt(["libmicrohttpd-dev"])]),
    .systemLibrary(
      name: "CSkerryCrypto", path: "Sources/CLayer/CSkerryCrypto", pkgConfig: "libcrypto",
      providers: [.apt(["libssl-dev"])]),
    .systemLibrary(
      name: "CSkerryCurl", path: "Sources/CLayer/CSkerryCurl", pkgConfig: "libcurl",
      providers: [.apt(["libcurl4-openssl-dev"])]),

    // Pure: no I/O, no clock, no tasks
    .target(name: "SkerryModel", dependencies: [], path: "Sources/Model", swiftSettings: strict),
    .target(name: "SkerryMerge", dependencies: ["SkerryModel"], path: "Sources/Merge", swiftSettings: strict),
    .target(name: "SkerryWire", dependencies: ["SkerryModel"], path: "Sources/Wire", swiftSettings: strict),
    .target(name: "SkerryMachine", dependencies: ["SkerryModel"], path: "Sources/Machine", swiftSettings: strict),

    // Kits: one library each, no word of sync
    .target(name: "SkerryAmbientKit", dependencies: ["SkerryModel"], path: "Sources/AmbientKit", swiftSettings: strict),
    .target(name: "SkerryFileKit", dependencies: [], path: "Sources/FileKit", swiftSettings: strict),
    .target(name: "SkerrySQLiteKit", dependencies: ["CSkerrySQLite"], path: "Sources/SQLiteKit", swiftSettings: strict),
    .target(name: "SkerryDiskKit", dependencies: ["CSkerrySQLite"], path: "Sources/DiskKit", swiftSettings: strict),
    .target(name: "SkerryHTTPKit", dependencies: ["CSkerryMicroHTTP"], path: "Sources/HTTPKit", swiftSettings: strict),
    .target(name: "SkerryTokenKit", dependencies: ["CSkerryCrypto"], path: "Sources/TokenKit", swiftSettings: strict),
    .target(name: "SkerryCurlKit", dependencies: ["CSkerryCurl"], path: "Sources/CurlKit", swiftSettings: strict),
    .target(
      name: "SkerryTables", dependencies: ["SkerryModel", "SkerrySQLiteKit"], path: "Sources/Tables",
      swiftSettings: strict),

    // An app's structs and the schema's tables
    .target(
      name: "SkerryRecords", dependencies: ["SkerryModel", "SkerryAmbientKit"], path: "Sources/Records",
      swiftSettings: strict),

    // Client
    .target(
      name: "SkerryStore",
      dependencies: [
        "SkerryModel", "SkerryMerge", "SkerryWire", "SkerryMachine", "SkerrySQLiteKit", "SkerryTables", "SkerryRecords",
        "SkerryAmbientKit", "SkerryFileKit",
      ], path: "Sources/Store", swiftSettings: strict),
    .target(
      name: "Skerry",
      dependencies: [
        "SkerryModel", "SkerryMachine", "SkerryStore", "SkerrySQLiteKit", "SkerryAmbientKit",
        "SkerryRecords", "SkerryFileKit",
      ],
      path: "Sources/Skerry", swiftSettings: strict),
    .target(
      name: "SkerryTransport", dependencies: ["SkerryModel", "SkerryMachine"], path: "Sources/Transport",
      swiftSettings: strict),
    .target(
      name: "SkerryHTTP", dependencies: ["SkerryMachine", "SkerryTransport", "SkerryCurlKit"], path: "Sources/HTTP",
      swiftSettings: strict),
    .target(
      name: "SkerryURLSession", dependencies: ["SkerryMachine", "SkerryTransport"], path: "Sources/URLSession",
      swiftSettings: strict),

    // Views of apps; empty where there is no SwiftUI
    .target(name: "SkerrySwiftUI", dependencies: ["Skerry"], path: "Sources/SwiftUI", swiftSettings: strict),

    // Server
    .target(
      name: "SkerryServerCore", dependencies: ["SkerryModel", "SkerryMerge", "SkerryWire"],
      path: "Sources/ServerCore", swiftSettings: strict),
    .target(
      name: "SkerryStorageSQLite",
      dependencies: ["SkerryModel", "SkerryMerge", "SkerryServerCore", "SkerrySQLiteKit", "SkerryTables"],
      path: "Sources/StorageSQLite", swiftSettings: strict),
    .target(
      name: "SkerryServer",
      dependencies: [
        "SkerryModel", "SkerryServerCore", "SkerryStorageSQLite", "SkerryHTTPKit", "SkerryTokenKit", "SkerryAmbientKit",
        "SkerryRecords", "SkerrySQLiteKit",
      ], path: "Sources/Server", swiftSettings: strict),

    // Worlds: real client and server code in virtual time
    .target(
      name: "SkerrySimulation",
      dependencies: [
        "SkerryModel", "SkerryWire", "SkerryMachine", "SkerryAmbientKit", "SkerrySQLiteKit", "SkerryDiskKit",
        "SkerryTables", "SkerryRecords", "SkerryStore", "Skerry", "SkerryServerCore", "SkerryStorageSQLite",
      ], path: "Sources/Simulation", swiftSettings: strict),
    .target(
      name: "SkerryTesting",
      dependencies: [
        "SkerryModel", "SkerryMerge", "SkerryMachine", "SkerryAmbientKit", "SkerrySQLiteKit",
        "SkerryDiskKit",
        "SkerryTables", "SkerryStore", "Skerry", "SkerryServerCore", "SkerryStorageSQLite",
      ], path: "Sources/Testing", swiftSettings: strict),

    // Examples: what an app's author writes
    .target(
      name: "SkerryContacts", dependencies: ["Skerry"], path: "Examples/Contacts", exclude: ["data", "schema.json"],
      swiftSettings: strict),

    // Faces
    .target(
      name: "SkerryCommands",
      dependencies: [
        "SkerryModel", "SkerryMerge", "SkerryRecords", "SkerryWire", "SkerryMachine", "SkerryStore", "Skerry",
        "SkerryHTTP",
        "SkerryServerCore", "SkerryStorageSQLite", "SkerryServer", "SkerryHTTPKit", "SkerrySQLiteKit", "SkerryTokenKit",
        "SkerryAmbientKit", "SkerryTables", "SkerryContacts", "SkerrySimulation",
      ], path: "Sources/Commands", swiftSettings: strict),
    .executableTarget(
      name: "SkerryMain", dependencies: ["SkerryCommands"], path: "Sources/Main", swiftSettings: strict),

    // Tests
    .target(
      name: "SkerryTestSupport", dependencies: ["SkerryModel", "SkerryMerge", "SkerryRecords", "SkerryServerCore"],
      path: "Tests/Support", swiftSettings: strict),
    .testTarget(
      name: "ModelTests", dependencies: ["SkerryAmbientKit", "SkerryModel", "SkerryMerge"], path: "Tests/ModelTests",
      swiftSettings: strict),
    .testTarget(
      name: "WireTests", dependencies: ["SkerryAmbientKit", "SkerryModel", "SkerryWire"], path: "Tests/WireTests",
      swiftSettings: strict),
    .executableTarget(
      name: "SkerryFootprint", dependencies: ["Skerry"], path: "Tests/Footprint", swiftSettings: strict),
    .testTarget(
      name: "APITests",
      dependencies: [
        "SkerryAmbientKit", "Skerry", "SkerryHTTP", "SkerryServer", "SkerryTestSupport",
        "SkerryTokenKit",
      ], path: "Tests/APITests", exclude: ["Refusals"], swiftSettings: strict),
    .testTarget(
      name: "RecordsTests", dependencies: ["SkerryAmbientKit", "SkerryModel", "SkerryRecords", "SkerryTestSupport"],
      path: "Tests/RecordsTests", swiftSettings: strict),
    .testTarget(
      name: "MachineTests", dependencies: ["SkerryModel", "SkerryWire", "SkerryMachine"], path: "Tests/MachineTests",
      swiftSettings: strict),
    .target(
      name: "SkerryStorageContract", dependencies: ["SkerryModel", "SkerryMerge", "SkerryServerCore"],
      path: "Tests/StorageContract", swiftSettings: strict),
    .testTarget(
      name: "StorageSQLiteTests",
      dependencies: [
        "SkerryAmbientKit", "SkerryTestSupport", "SkerryTesting", "SkerryStorageContract", "SkerryModel", "SkerryMerge",
        "SkerryWire",
        "SkerryServerCore",
        "SkerryStorageSQLite", "SkerrySQLiteKit", "SkerryTables",
      ], path: "Tests/StorageSQLiteTests", swiftSettings: strict),
    .testTarget(
      name: "SQLiteKitTests", dependencies: ["SkerryTestSupport", "SkerrySQLiteKit"], path: "Tests/SQLiteKitTests",
      swiftSettings: strict),
    .testTarget(
      name: "DiskKitTests", dependencies: ["SkerryDiskKit", "SkerrySQLiteKit"], path: "Tests/DiskKitTests",
      swiftSettings: strict),
    .target(name: "SkerrySockets", dependencies: [], path: "Tests/Sockets", swiftSettings: strict),
    .testTarget(
      name: "HTTPKitTests", dependencies: ["SkerrySockets", "SkerryHTTPKit"], path: "Tests/HTTPKitTests",
      swiftSettings: strict),
    .testTarget(
      name: "TokenKitTests", dependencies: ["SkerryTokenKit"], path: "Tests/TokenKitTests", swiftSettings: strict),
    .testTarget(
      name: "HTTPTests",
      dependencies: [
        "SkerryTransport", "SkerryHTTP", "SkerryURLSession", "SkerryHTTPKit", "SkerryMachine", "SkerryCurlKit",
      ],
      path: "Tests/HTTPTests", swiftSettings: strict),
    .testTarget(
      name: "ServerTests",
      dependencies: [
        "SkerryTestSupport", "SkerrySockets", "SkerryModel", "SkerryServer", "SkerryTokenKit", "SkerryHTTPKit",
        "SkerrySQLiteKit",
      ], path: "Tests/ServerTests", swiftSettings: strict),
    .testTarget(
      name: "StoreTests",
      dependencies: [
        "SkerryTestSupport", "SkerryTesting", "SkerryAmbientKit", "SkerryModel", "SkerryMachine", "SkerryStore",
        "Skerry", "SkerryDiskKit", "SkerryRecords",
        "SkerrySQLiteKit", "SkerryFileKit",
        "SkerryServerCore", "SkerryStorageSQLite",
      ], path: "Tests/StoreTests", swiftSettings: strict),
    .testTarget(
      name: "StoryTests",
      dependencies: [
        "SkerryTestSupport", "SkerryTesting", "SkerryDiskKit", "SkerryModel", "SkerryMachine", "SkerryWire",
        "SkerryStore", "SkerryServerCore",
        "SkerrySQLiteKit", "SkerryStorageSQLite",
      ], path: "Tests/StoryTests", swiftSettings: strict),
    .testTarget(
      name: "TestingTests", dependencies: ["SkerryTesting"], path: "Tests/TestingTests", swiftSettings: strict),
    .testTarget(
      name: "InterleavingTests",
      dependencies: [
        "SkerryAmbientKit", "SkerryTestSupport", "SkerryTesting", "SkerryModel", "SkerryWire", "SkerryStore",
        "SkerryServerCore",
        "SkerryStorageSQLite",
        "SkerrySQLiteKit",
      ], path: "Tests/InterleavingTests", swiftSettings: strict),
    .testTarget(
      name: "DeathTests",
      dependencies: [
        "SkerryTestSupport", "SkerryTesting", "SkerryDiskKit", "SkerryModel", "SkerryMachine", "SkerryStore", "Skerry",
        "SkerryServerCore",
        "SkerryStorageSQLite", "SkerrySQLiteKit", "SkerryWire",
      ], path: "Tests/DeathTests", swiftSettings: strict),
    .testTarget(
      name: "PropertyTests",
      dependencies: [
        "SkerryAmbientKit", "SkerryTestSupport", "SkerryTesting", "SkerryModel", "SkerryMachine", "SkerryWire",
        "SkerryStore",
        "SkerryServerCore",
        "SkerrySQLiteKit",
      ], path: "Tests/PropertyTests", swiftSettings: strict),
    .testTarget(
      name: "SimulationTests", dependencies: ["SkerryModel", "SkerrySimulation"], path: "Tests/SimulationTests",
      swiftSettings: strict),
    .testTarget(
      name: "CommandTests",
      dependencies: [
        "SkerryTestSupport", "SkerryTesting", "SkerryModel", "SkerryMachine", "SkerryWire", "SkerryStore", "Skerry",
        "SkerryServerCore",
        "SkerrySQLiteKit", "SkerryCommands", "SkerryAmbientKit", "SkerryHTTP", "SkerryHTTPKit", "SkerryServer",
        "SkerryTokenKit", "SkerryContacts",
      ], path: "Tests/CommandTests", swiftSettings: strict),
    .testTarget(
      name: "KillTests",
      dependencies: [
        "SkerryAmbientKit", "SkerryModel", "SkerryMachine", "SkerryWire", "SkerrySQLiteKit", "SkerryCommands",
      ], path: "Tests/KillTests", swiftSettings: strict),
    .testTarget(
      name: "HistoryTests",
      dependencies: [
        "SkerryTestSupport", "SkerryTesting", "SkerryModel", "SkerryMerge", "SkerryWire", "SkerryStore",
        "SkerryServerCore",
        "SkerryStorageSQLite", "SkerrySQLiteKit",
      ], path: "Tests/HistoryTests", swiftSettings: strict),
  ],
  swiftLanguageModes: [.v6]
)
