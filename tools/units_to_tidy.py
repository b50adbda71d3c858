#!/usr/bin/env python3
"""Names the translation units of a build tree that clang-tidy has to look at.

    tools/units_to_tidy.py TREE [COMMIT]     one path a line: all of TREE's, or those whose files, or whose files'
                                             headers, differ from COMMIT

A unit is a source file, or a file of CMake's that includes several (-DWEYL_UNITY=ON). All are named where COMMIT is not in
the repository, or where the checks or the build have changed since.
"""

import json
import pathlib
import re
import subprocess
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.MULTILINE)
ROOT = pathlib.Path(__file__).resolve().parent.parent
ALL = re.compile(r"(^|/)(\.clang-tidy|CMakeLists\.txt|CMakePresets\.json|[^/]*\.cmake)$|^scripts/(lint|packages\.txt|setup|wheels/clang-tidy\.txt)$|^tools/units_to_tidy\.py$")


def changed_since(commit):
    """Files of the project that differ, relative to its root; None: all are to be looked at."""
    def git(*arguments):
        return subprocess.run(["git", "-C", str(ROOT), *arguments], capture_output=True, text=True, check=False)
    if git("cat-file", "-e", commit + "^{commit}").returncode != 0:
        return None
    names = git("diff", "--name-only", commit).stdout.split("\n")
    names += git("ls-files", "--others", "--exclude-standard").stdout.split("\n")
    names = {name for name in names if name}
    return None if any(ALL.search(name) for name in names) else names


class Reader:
    """What a file includes of the project, headers of headers too."""

    def __init__(self):
        self.known = {}

    def resolved(self, path, header):
        for place in (path.parent / header, ROOT / "src" / header, ROOT / header, pathlib.Path(header)):
            if place.is_file():
                return place.resolve()
        return None

    def reach(self, path):
        found, open_files = set(), [path.resolve()]
        while open_files:
            file = open_files.pop()
            if file in found:
                continue
            found.add(file)
            if file not in self.known:
                text = file.read_text(encoding="utf-8", errors="replace")
                self.known[file] = [place for header in INCLUDE.findall(text) if (place := self.resolved(file, header))]
            open_files += self.known[file]
        return found


def main(arguments):
    if len(arguments) not in (1, 2) or arguments[0].startswith("-"):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    commands = json.loads((pathlib.Path(arguments[0]) / "compile_commands.json").read_text(encoding="utf-8"))
    units = sorted({unit["file"] for unit in commands})
    changed = changed_since(arguments[1]) if len(arguments) == 2 else None
    if changed is not None:
        files, reader = {(ROOT / name).resolve() for name in changed}, Reader()
        units = [unit for unit in units if files & reader.reach(pathlib.Path(unit))]
    for unit in units:
        print(unit)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
