#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads the reports of a sanitizer, and tells those that are no fault from the others.

    scripts/sanitizer_reports.py FOLDER    the reports in a folder; exit code 1 if one may be a fault

One kind is proved to be none: two accesses that are both within `withLock` of the same `Mutex`. When Swift's Mutex is contended,
its lock is taken in a library that is not instrumented, so the thread sanitizer does not see that one holder comes after the
other. `scripts/sanitize` has a program that shows it: a counter under a lock, a right sum, and a report all the same. Whether a
report is of that kind is read off the source: each of the two stacks must pass through a line that calls `withLock`, and both
must name the same lock of the same file.
"""

import re
import sys
from pathlib import Path

FRAME = re.compile(r"^\s+#\d+ .* (\S+\.swift):(\d+)")
LOCK = re.compile(r"(\w+)\.withLock\b")


def lock(stack):
    """The file and the name of the lock under which a stack's access is; None if it is under none."""
    for line in stack.split("\n"):
        frame = FRAME.match(line)
        if not frame or not Path(frame[1]).is_file():
            continue
        text = Path(frame[1]).read_text("utf-8").split("\n")[int(frame[2]) - 1]
        if found := LOCK.search(text):
            return frame[1], found[1]
    return None


def reports(folder):
    for path in sorted(Path(folder).glob("report*")):
        for text in re.split(r"^=+$", path.read_text("utf-8", "replace"), flags=re.M):
            if "SUMMARY: " in text:
                yield text.strip()


def is_under_one_lock(report):
    if "race" not in report.split("\n")[0]:
        return False
    stacks = report.split("\n\n")
    locks = [lock(stack) for stack in stacks[:2]]
    return len(stacks) >= 2 and locks[0] is not None and locks[0] == locks[1]


def main():
    found = list(reports(sys.argv[1]))
    faults = [report for report in found if not is_under_one_lock(report)]
    for report in faults:
        print(report, end="\n\n")
    print(f"sanitize: {len(found)} reports, {len(found) - len(faults)} of them of a contended Mutex, {len(faults)} others")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
