# SPDX-License-Identifier: Apache-2.0
"""The rows of catalogues that tests meet, read from the tests' names."""

import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent
ROW = re.compile(r"F-[A-Z]\d+[a-z]?|B\d+")
NAME = re.compile(r"func `((?:(?:F-[A-Z]\d+[a-z]?|B\d+) )+[^`]*)`")


def rows():
    """Each row that a test meets, as (row, the test's name, its target), in order."""
    found = set()
    for path in (ROOT / "Tests").rglob("*.swift"):
        target = path.relative_to(ROOT / "Tests").parts[0]
        for name in NAME.findall(path.read_text(encoding="utf-8")):
            for word in name.split(" "):
                if not ROW.fullmatch(word):
                    break
                found.add((word, name, target))
    return sorted(found)
