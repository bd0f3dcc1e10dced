# SPDX-License-Identifier: Apache-2.0
"""The symbol graphs of the public modules, taken from what is built already: for scripts/public-api and scripts/docs."""

import json
import platform
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# What an app or a backend gets: the products, and the modules that they hand on.
PUBLIC_MODULES = ("Skerry", "SkerryHTTP", "SkerryMachine", "SkerryModel", "SkerryRecords", "SkerryServer", "SkerryStore",
                  "SkerryTesting", "SkerryTokenKit", "SkerryTransport", "SkerryURLSession")


def target():
    """The triple for which .build/debug is built."""
    info = json.loads(subprocess.run(["swiftc", "-print-target-info"], check=True, capture_output=True, text=True).stdout)
    return info["target"]["triple" if platform.system() == "Linux" else "unversionedTriple"]


def extract(modules, folder, *options):
    """Writes the symbol graphs of modules into a folder. Ends the program if a module is not built or out of date."""
    built = ROOT / ".build" / "debug" / "Modules"
    missing = [module for module in modules if not (built / f"{module}.swiftmodule").exists()]
    if missing:
        sys.exit(f"{', '.join(missing)}: not built; run `swift build` first")
    tool = shutil.which("swift-symbolgraph-extract") or str(
        Path(shutil.which("swift") or "swift").resolve().parent / "swift-symbolgraph-extract")
    triple = target()
    c_modules = [option for path in sorted((ROOT / "Sources" / "CLayer").iterdir()) for option in ("-I", str(path))]

    def run(module):
        return module, subprocess.run(
            [tool, "-module-name", module, "-I", str(built), *c_modules, "-target", triple,
             "-minimum-access-level", "public", "-skip-synthesized-members", "-output-dir", str(folder), *options],
            capture_output=True, text=True)

    with ThreadPoolExecutor(2) as pool:
        for module, result in pool.map(run, modules):
            if result.returncode:
                sys.exit(f"swift-symbolgraph-extract failed for {module}:\n{result.stderr}")


def load(module, folder):
    """A module's own graph and those of its extensions of other modules, in the order of their names."""
    files = [folder / f"{module}.symbols.json", *sorted(folder.glob(f"{module}@*.symbols.json"))]
    return [json.loads(file.read_text("utf-8")) for file in files]
