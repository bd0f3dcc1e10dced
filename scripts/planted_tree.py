# SPDX-License-Identifier: Apache-2.0
"""The planted bugs as their files say them, and the copy of the package that holds them all (see scripts/planted)."""

import itertools
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUGS = ROOT / "Tests" / "Planted" / "bugs"
TREE = ROOT / ".build" / "planted"
COPIED = ("Package.swift", "Sources", "Examples", "Tests")  # Tests too, so that the manifest is taken as it is
FIELDS = {"title", "kind", "file", "seeds", "tests"}
TOKEN = re.compile(r"\bPLANTED\b")

# One for each module that has a bug: for another module's, its import would have to be added to the file with the bug.
SWITCH = """// SPDX-License-Identifier: Apache-2.0
// Written by scripts/planted.
#if canImport(Darwin)
  internal import Darwin
#else
  internal import Glibc
#endif

enum Planted {
  /// The FNV-1a hash of the name in SKERRY_PLANTED, read once; that of no bug without one.
  static let bug: UInt32 = {
    guard var byte = UnsafePointer(getenv("SKERRY_PLANTED")) else { return 0 }
    var hash: UInt32 = 2_166_136_261
    while byte.pointee != 0 {
      hash = (hash ^ UInt32(UInt8(bitPattern: byte.pointee))) &* 16_777_619
      byte += 1
    }
    return hash
  }()
}
"""

# A name that is mistyped must not pass for a build without a bug. Goes after the imports of the program.
MAIN = "Sources/Main/main.swift"
MAIN_CHECK = """
if let name = getenv("SKERRY_PLANTED"), name.pointee != 0, ![{numbers}].contains(Planted.bug) {{
  fatalError("SKERRY_PLANTED names no planted bug: \\(String(cString: name)); see scripts/planted list")
}}
"""


class Complaint(Exception):
    """What a person has to put right."""


class Bug:
    def __init__(self, path):
        self.name = path.stem
        head, separator, body = path.read_text("utf-8").partition("\n\n")
        self.old, line, self.new = body.removesuffix("\n").partition("\n----\n")
        if not separator or not line or not self.old:
            raise Complaint(f"{self.name}: wanted are a header, an empty line, a text, a line ----, and another text")
        fields = dict(re.findall(r"^(\w+): *(.+)$", head, re.M))
        if len(fields) != head.count("\n") + 1 or set(fields) - FIELDS or {"title", "kind", "file"} - set(fields):
            raise Complaint(f"{self.name}: its header says title, kind and file, and maybe seeds and tests, a line each")
        self.title, self.kind, self.file = fields["title"], fields["kind"], fields["file"]
        self.seeds = int(fields.get("seeds", 0))
        self.number = _fnv(self.name)
        if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", self.name):
            raise Complaint(f"{self.name}: a name is of lower-case words, digits and hyphens")
        if not TOKEN.search(self.new):
            raise Complaint(f"{self.name}: the text that takes the place does not ask for PLANTED")
        if not re.fullmatch(r"Sources/\w+/.+\.swift", self.file) or not (ROOT / self.file).is_file():
            raise Complaint(f"{self.name}: {self.file} is no Swift file of a target below Sources")

    def edit(self, text):
        """Where the text is that the bug changes, and what comes there."""
        count = text.count(self.old)
        if count != 1:
            raise Complaint(f"{self.name}: this occurs {count} times in {self.file}; bring it up to date:\n{self.old}")
        start = text.index(self.old)
        return start, start + len(self.old), TOKEN.sub(f"(Planted.bug == {self.number:_})", self.new), self.name


def _fnv(name):
    number = 2166136261
    for byte in name.encode():
        number = ((number ^ byte) * 16777619) & 0xFFFFFFFF
    return number


def read_bugs():
    bugs = [Bug(path) for path in sorted(BUGS.glob("*.txt"))]
    for what in ("number", "title"):
        seen = {}
        for bug in bugs:
            other = seen.setdefault(getattr(bug, what), bug)
            if other is not bug:
                raise Complaint(f"{bug.name} and {other.name} have the same {what}")
    return bugs


def _plant(bugs):
    """The text of each file that has bugs, with all of them in it."""
    out = {}
    for file, group in itertools.groupby(sorted(bugs, key=lambda bug: bug.file), key=lambda bug: bug.file):
        text = (ROOT / file).read_text("utf-8")
        if TOKEN.search(text):
            raise Complaint(f"{file} speaks of PLANTED; the product's sources know nothing of planted bugs")
        edits = sorted(bug.edit(text) for bug in group)
        for (_, end, _, left), (start, _, _, right) in itertools.pairwise(edits):
            if start < end:
                raise Complaint(f"{left} and {right} change the same text of {file}; give each a text of its own")
        for start, end, new, _ in reversed(edits):
            text = text[:start] + new + text[end:]
        out[file] = text
    return out


def _with_check(main, bugs):
    imports = list(re.finditer(r"^import .+\n", main, re.M))
    if not imports:
        raise Complaint(f"{MAIN} imports nothing; the check of SKERRY_PLANTED goes after its imports")
    check = MAIN_CHECK.format(numbers=", ".join(f"{bug.number:_}" for bug in bugs))
    return main[: imports[-1].end()] + check + main[imports[-1].end():]


def tree(bugs):
    """All files of the copy: path and content. Fails if a bug does not fit the sources any more."""
    planted = _plant(bugs)
    planted[MAIN] = _with_check(planted.get(MAIN) or (ROOT / MAIN).read_text("utf-8"), bugs)
    for file in list(planted):
        planted["/".join(file.split("/")[:2]) + "/Planted.swift"] = SWITCH
    files = {}
    for top in COPIED:
        for path in [ROOT / top] if (ROOT / top).is_file() else (ROOT / top).rglob("*"):
            if path.is_file() and BUGS.parent not in path.parents and "__pycache__" not in path.parts:
                files[path.relative_to(ROOT).as_posix()] = path.read_bytes()
    return files | {file: text.encode() for file, text in planted.items()}


def prepare(bugs):
    """Writes what has changed, so that a build compiles no more than that."""
    files = tree(bugs)
    for top in COPIED:
        for path in (TREE / top).rglob("*"):
            if path.is_file() and path.relative_to(TREE).as_posix() not in files:
                path.unlink()
    for name, content in files.items():
        path = TREE / name
        if path.is_file() and path.read_bytes() == content:
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
