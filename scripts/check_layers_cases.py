# SPDX-License-Identifier: Apache-2.0
"""The layer check's own test: a small tree that is right, then the same tree with one thing wrong at a time.

Every case names exactly the rules that must speak up, so that a rule that has gone blind fails here, and so does
one that shouts at something else.
"""

import tempfile
from pathlib import Path

MANIFEST = '''// swift-tools-version: 6.2
import PackageDescription

let model: [Target.Dependency] = ["SkerryModel"]  // shared by most
let package = Package(
  name: "skerry",
  products: [.library(name: "Skerry", targets: ["Skerry"])],
  targets: [
    // .target(name: "Commented", dependencies: []),
    .systemLibrary(name: "CSkerrySQLite", path: "Sources/CLayer/CSkerrySQLite", providers: [.apt(["libsqlite3-dev"])]),
    .systemLibrary(name: "CSkerryCrypto", path: "Sources/CLayer/CSkerryCrypto"),
    .target(name: "SkerryModel", dependencies: [], path: "Sources/Model", swiftSettings: strict),
    .target(name: "SkerryMachine", dependencies: model, path: "Sources/Machine"),
    .target(name: "SkerryAmbientKit", dependencies: [.target(name: "SkerryModel")], path: "Sources/AmbientKit"),
    .target(name: "SkerrySQLiteKit", dependencies: ["CSkerrySQLite"], path: "Sources/SQLiteKit"),
    .target(name: "SkerryTokenKit", dependencies: ["CSkerryCrypto"], path: "Sources/TokenKit"),
    .target(
      name: "SkerryStore",
      dependencies: model + [
        "SkerrySQLiteKit",  // records and outbox
        .target(name: "SkerryMachine", condition: .when(platforms: [.linux])),
      ], path: "Sources/Store"),
    .target(name: "Skerry", dependencies: ["SkerryStore"], path: "Sources/Skerry"),
    .target(name: "SkerryServerCore", dependencies: model, path: "Sources/ServerCore"),
    .target(
      name: "SkerryStorageSQLite", dependencies: ["SkerryServerCore", "SkerrySQLiteKit"],
      path: "Sources/StorageSQLite"),
    .target(name: "SkerryServer", dependencies: ["SkerryStorageSQLite", "SkerryTokenKit"], path: "Sources/Server"),
    .testTarget(name: "SkerryStoreTests", dependencies: ["SkerryStore", "SkerryServer"], path: "Tests/StoreTests"),
  ]
)
'''

SILENT = '''/// Nothing here is a finding: "Date()" in a comment, and /* UUID() */ in one inside it.
// TODO #12: nor is a note that names its issue.
func quiet(ambient: any Ambient, generator: inout some RandomNumberGenerator) {
  let text = "Date() try! as! Task.sleep // TODO \\(ambient.name) UUID()"
  let raw = #"a quote " and \\(Date()) that is no interpolation"#
  let lines = """
    import SkerryServer
    UUID() and "quotes" inside
    """
  let roll = Int.random(in: 0..<max(1, 6), using: &generator)
  let bits = ambient.random()
  let order = [text, raw, lines].shuffled(using: &generator)
  commands.append(.sleep(until: roll))
  let update = Update(validate(order))
}
'''

FOUNDATION = '''#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif
#if canImport(Glibc)
  import Glibc
#endif
'''

TREE = {
    "Package.swift": MANIFEST,
    "Sources/CLayer/CSkerrySQLite/shim.h": "#include <sqlite3.h>\n",
    "Sources/Model/Value.swift": "public struct Value {}\n",
    "Sources/Machine/Push.swift": "public import SkerryModel\n" + SILENT,
    "Sources/AmbientKit/SystemAmbient.swift": "import SkerryModel\nlet now = Date()\nlet id = UUID()\n",
    "Sources/SQLiteKit/Connection.swift": "internal import CSkerrySQLite\n" + FOUNDATION,
    "Sources/TokenKit/Token.swift": "internal import CSkerryCrypto\nimport Foundation\n",
    "Sources/Store/Store.swift":
        "import SkerryModel\nimport SkerryMachine\npackage import struct SkerrySQLiteKit.Row\n",
    "Sources/Skerry/Replica.swift": "@preconcurrency import SkerryStore\n" + FOUNDATION,
    "Sources/Skerry/SyncEngine+Time.swift": "func wait() async throws { try await Task.sleep(for: .seconds(1)) }\n",
    "Sources/ServerCore/Push.swift": "import SkerryModel\n",
    "Sources/StorageSQLite/Log.swift": "import SkerryServerCore\nimport SkerrySQLiteKit\n",
    "Sources/Server/Server.swift": "import Dispatch\nimport SkerryStorageSQLite\nimport SkerryTokenKit\n",
    "Tests/StoreTests/Outbox.swift":
        "import Testing\n@testable import SkerryStore\nimport SkerryServer\nlet at = Date()\n",
}


def declare(*replacements):
    """The right manifest with something changed: (before, after) pairs."""
    text = MANIFEST
    for before, after in replacements:
        assert text.count(before) == 1, before
        text = text.replace(before, after)
    return {"Package.swift": text}


def declare_one_more(declaration, *replacements):
    """The right manifest with one more target."""
    return declare(("    .testTarget", f"    {declaration},\n    .testTarget"), *replacements)


def write(path, text):
    """The right file with something added at its end."""
    return {path: TREE.get(path, "") + text}


STORE, MACHINE, SERVER = "Sources/Store/Store.swift", "Sources/Machine/Push.swift", "Sources/Server/Server.swift"
TO_STORE, TO_SERVER = '"SkerrySQLiteKit",  //', '"SkerryStorageSQLite", "SkerryTokenKit"'  # in their dependencies
SESSION = declare_one_more('.target(name: "SkerryURLSession", path: "Sources/URLSession")')
TIMER = "let timer = DispatchSource.makeTimerSource(queue: queue)\ntimer.schedule(deadline: .now() + span)\n"
UNCHECKED = "// Immutable after init.\nstruct S{0}: @unchecked Sendable {{}}\n"

CASES = [  # what is wrong, the change, the rules that must speak up
    ("nothing", {}, set()),
    # Package.swift
    ("no manifest", {"Package.swift": None}, {"manifest"}),
    ("a computed name", declare(('name: "SkerryStore"', 'name: "Skerry\\(store)"')), {"manifest"}),
    ("computed dependencies", declare(("model, path: \"Sources/Machine\"", "all(), path: \"Sources/Machine\"")),
     {"manifest"}),
    ("a target in no layer", declare_one_more('.target(name: "SkerryNovel", path: "Sources/Novel")'), {"no-layer"}),
    ("a folder of another name", declare(('path: "Sources/TokenKit"', 'path: "Sources/TokenKit/Tokens"'))
     | {"Sources/TokenKit/Token.swift": None, "Sources/TokenKit/Tokens/Token.swift": "import CSkerryCrypto\n"},
     {"folder-name"}),
    ("a file in no target", write("Sources/Lost/A.swift", "struct A {}\n"), {"orphan"}),
    # Imports
    ("an undeclared import", write("Sources/Skerry/Other.swift", "import SkerryModel\n"), {"undeclared-import"}),
    ("an undeclared import with modifiers",
     write("Sources/Skerry/Other.swift", "@_spi(Testing)\n@preconcurrency\npublic import struct SkerryModel.Value\n"),
     {"undeclared-import"}),
    ("an undeclared import after code", write("Sources/Skerry/Other.swift", "let a = 1; import SkerryModel\n"),
     {"undeclared-import"}),
    ("an undeclared import in a test", write("Tests/StoreTests/Other.swift", "@testable import SkerryModel\n"),
     {"undeclared-import"}),
    ("an unknown module", write(STORE, "import Numerics\n"), {"undeclared-import"}),
    ("a dependency that nobody imports", declare(('["SkerryStore"], path', '["SkerryStore", "SkerryModel"], path')),
     {"unused-dependency"}),
    # C modules
    ("a C module outside its Kit", declare((TO_STORE, '"CSkerrySQLite", ' + TO_STORE))
     | write(STORE, "import CSkerrySQLite\n"), {"c-module"}),
    ("a C module outside its Kit, undeclared", write(STORE, "import CSkerrySQLite\n"), {"c-module"}),
    ("a C module in a second Kit", declare(('["CSkerryCrypto"]', '["CSkerryCrypto", "CSkerrySQLite"]'))
     | write("Sources/TokenKit/Token.swift", "import CSkerrySQLite\n"), {"c-module"}),
    ("a C module declared outside its Kit", declare((TO_STORE, '"CSkerrySQLite", ' + TO_STORE)),
     {"c-module", "unused-dependency"}),
    ("a C module in a test", write("Tests/StoreTests/Other.swift", "import CSkerrySQLite\n"), {"c-module"}),
    # Layers
    ("an import upwards", declare(("model, path: \"Sources/Machine\"",
                                   "model + [\"SkerryAmbientKit\"], path: \"Sources/Machine\""))
     | write(MACHINE, "import SkerryAmbientKit\n"), {"layer"}),
    ("a Kit with a word of sync", declare(('["CSkerrySQLite"]', '["CSkerrySQLite", "SkerryModel"]'))
     | write("Sources/SQLiteKit/Connection.swift", "import SkerryModel\n"), {"never"}),
    ("client imports server", declare((TO_STORE, '"SkerryServerCore", ' + TO_STORE))
     | write(STORE, "import SkerryServerCore\n"), {"layer", "never"}),
    ("server imports client", declare((TO_SERVER, TO_SERVER + ', "SkerryStore"'))
     | write(SERVER, "import SkerryStore\n"), {"layer", "never"}),
    ("ServerCore knows tokens", declare(('name: "SkerryServerCore", dependencies: model',
                                         'name: "SkerryServerCore", dependencies: model + ["SkerryTokenKit"]'))
     | write("Sources/ServerCore/Push.swift", "import SkerryTokenKit\n"), {"never"}),
    ("ServerCore knows SQLite by a detour",
     declare_one_more('.target(name: "SkerryTables", dependencies: ["SkerrySQLiteKit"], path: "Sources/Tables")',
                      ('name: "SkerryServerCore", dependencies: model',
                       'name: "SkerryServerCore", dependencies: model + ["SkerryTables"]'))
     | write("Sources/Tables/Table.swift", "import SkerrySQLiteKit\n")
     | write("Sources/ServerCore/Push.swift", "import SkerryTables\n"), {"never"}),
    ("a storage imports another",
     declare_one_more('.target(name: "SkerryStoragePostgres", dependencies: ["SkerryStorageSQLite"], '
                      'path: "Sources/StoragePostgres")')
     | write("Sources/StoragePostgres/Log.swift", "import SkerryStorageSQLite\n"), {"never"}),
    ("an app carries the disk that breaks",
     declare_one_more('.target(name: "SkerryDiskKit", dependencies: ["CSkerrySQLite"], path: "Sources/DiskKit")',
                      (TO_STORE, '"SkerryDiskKit", ' + TO_STORE))
     | write("Sources/DiskKit/Disk.swift", "import CSkerrySQLite\n") | write(STORE, "import SkerryDiskKit\n"), {"never"}),
    ("the replica knows its views",
     declare_one_more('.target(name: "SkerrySwiftUI", path: "Sources/SwiftUI")', (TO_STORE, '"SkerrySwiftUI", ' + TO_STORE))
     | write("Sources/SwiftUI/View.swift", "struct A {}\n") | write(STORE, "import SkerrySwiftUI\n"), {"layer"}),
    ("a view knows the network",
     declare_one_more('.target(name: "SkerryHTTP", path: "Sources/HTTP")',
                      ('.testTarget(', '.target(name: "SkerrySwiftUI", dependencies: ["SkerryHTTP"], path: "Sources/SwiftUI"),\n'
                       '    .testTarget('))
     | write("Sources/HTTP/A.swift", "struct A {}\n") | write("Sources/SwiftUI/View.swift", "import SkerryHTTP\n"), {"never"}),
    ("SwiftUI on every system",
     declare_one_more('.target(name: "SkerrySwiftUI", path: "Sources/SwiftUI")')
     | write("Sources/SwiftUI/View.swift", "import SwiftUI\n"), {"platform-import"}),
    ("an app carries tokens", declare((TO_STORE, '"SkerryTokenKit", ' + TO_STORE))
     | write(STORE, "import SkerryTokenKit\n"), {"never"}),
    ("the system's session carries a library",
     declare_one_more('.target(name: "SkerryURLSession", dependencies: ["SkerryTokenKit"], path: "Sources/URLSession")')
     | write("Sources/URLSession/Session.swift", "import SkerryTokenKit\n"), {"never"}),
    ("a timer where the session's transport keeps time", SESSION | write("Sources/URLSession/PhaseTimer.swift", TIMER),
     set()),
    ("a timer beside it", SESSION | write("Sources/URLSession/Session.swift", TIMER), {"forbidden"}),
    ("the text merge knows a model",
     declare_one_more('.target(name: "SkerryText", dependencies: ["SkerryModel"], path: "Sources/Text")')
     | write("Sources/Text/Sequence.swift", "import SkerryModel\n"), {"never"}),
    ("a product depends on test support",
     declare_one_more('.target(name: "Support", path: "Tests/Support")', (TO_SERVER, TO_SERVER + ', "Support"'))
     | write(SERVER, "import Support\n"), {"layer"}),
    ("an example reaches for the server",
     declare_one_more('.target(name: "Contacts", dependencies: ["SkerryServer"], path: "Examples/Contacts")')
     | write("Examples/Contacts/App.swift", "import SkerryServer\n"), {"layer"}),
    # System modules
    ("a pure target imports a lock", write(MACHINE, "import Synchronization\n"), {"pure-import"}),
    ("a pure target imports Foundation", write(MACHINE, FOUNDATION), {"pure-import"}),
    ("an app links Foundation", write(STORE, "import class Foundation.JSONDecoder\n"), {"app-foundation"}),
    ("an app links Foundation behind the wrong condition",
     write(STORE, "#if canImport(FoundationEssentials)\nimport Foundation\n#endif\n"), {"app-foundation"}),
    ("a platform's module without a condition", write(STORE, "import Glibc\n"), {"platform-import"}),
    ("a product imports Testing", write(STORE, "import Testing\n"), {"testing-import"}),
    # Files and folders
    ("a drawer folder", write("Sources/Store/Utils/A.swift", "struct A {}\n"), {"drawer"}),
    ("a drawer folder in tests", write("Tests/StoreTests/helpers/A.swift", "struct A {}\n"), {"drawer"}),
    ("a long file", write(STORE, "\n" * 301), {"length"}),
    ("a very long file", write(STORE, "\n" * 601), {"length"}),
    ("a very long file that says why", {STORE: "// Long because: one table.\n" + TREE[STORE] + "\n" * 601}, set()),
    ("a generated long file", write("Sources/Store/Generated/Table.swift", "\n" * 601), set()),
    # Notes and promises
    ("a TODO without an issue", write(STORE, "// TODO: later\n"), {"todo"}),
    ("a FIXME in a test", write("Tests/StoreTests/Outbox.swift", "/* FIXME */\n"), {"todo"}),
    ("an unexplained promise", write(STORE, "final class Box: @unchecked Sendable {}\n"), {"unchecked"}),
    ("an unexplained unsafe variable", write(STORE, "\nnonisolated(unsafe) var x = 1\n"), {"unchecked"}),
    ("a promise explained on its line", write(STORE, "struct B: @unchecked Sendable {}  // immutable\n"), set()),
    ("a promise explained above an attribute",
     write(STORE, "// Immutable.\n@frozen\nstruct B: @unchecked Sendable {}\n"), set()),
    ("ten promises", write(STORE, "".join(UNCHECKED.format(n) for n in range(10))), set()),
    ("eleven promises", write(STORE, "".join(UNCHECKED.format(n) for n in range(11))), {"unchecked-limit"}),
]

CASES += [(f"`{code}`", write(STORE, f"let x = {code}\n"), {"forbidden"}) for code in (
    "Date()", "Date( )", "Date.now", "Date(timeIntervalSinceNow: 3)", "ContinuousClock()", "ContinuousClock.now",
    "SuspendingClock().now", "DispatchTime.now()", "DispatchWallTime.now()", "clock_gettime(0, &t)", "time(nil)",
    "UUID()", "Int.random(in: 0..<f(1))", "[1, 2].shuffled()", "names.randomElement()", "SystemRandomNumberGenerator()",
    "arc4random_uniform(3)", "try await Task.sleep(for: .seconds(1))",
    "try await Task<Never, Never>.sleep(nanoseconds: 1)", "Thread.sleep(forTimeInterval: 1)", "usleep(10)", "sleep(1)",
    "queue.asyncAfter(deadline: later) {}", "Date.init()", "UUID.init()", "try! f()",
    "y as! Int", 'sql("SELECT CURRENT_TIMESTAMP")', "sql(\"SELECT strftime('%s', 'now')\")", 'sql("ORDER BY random()")',
    '"\\(Date())"', '"""\n  \\(UUID())\n  """', "{ (p: OpaquePointer) in p }", '"a" + "b"; let y = UUID()')]
CASES += [(f"`{code}` in a pure target", write(MACHINE, f"let x = {code}\n"), {"forbidden"}) for code in (
    "print(1)", "Task { 1 }", "Task.detached { 1 }", "await f()", "(c: ContinuousClock).zero", "OpaquePointer(y)")]


def run(check):
    """Runs every case in a tree of its own; prints what went wrong, and returns the exit code."""
    failures = 0
    for name, change, expected in CASES:
        with tempfile.TemporaryDirectory(prefix="check-layers-") as folder:
            root = Path(folder)
            for path, text in (TREE | change).items():
                if text is not None:
                    (root / path).parent.mkdir(parents=True, exist_ok=True)
                    (root / path).write_text(text, "utf-8")
            findings, _, _ = check(root)
            if {rule for _, _, _, rule, _ in findings} != expected:
                failures += 1
                print(f"check-layers --self-test: {name}: expected {sorted(expected) or 'nothing'}, found "
                      f"{findings or 'nothing'}")
    print(f"check-layers --self-test: {len(CASES)} cases, {failures} failed")
    return 1 if failures else 0
