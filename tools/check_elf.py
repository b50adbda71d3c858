#!/usr/bin/env python3
"""Checks where programs and libraries look for other libraries: never in the folder in which a user stands.

    tools/check_elf.py [--readelf READELF] [--hardened] [--fortified] [--outside DIR ...] [--but DIR ...] FILE|FOLDER ...

A FOLDER stands for the programs and libraries directly in it. Each entry of RUNPATH or RPATH must be an absolute folder
or begin with $ORIGIN, the folder of the file itself: an empty entry, also one before the first or behind the last colon,
is the current folder. A library that is needed must be a plain name. --outside: no entry may be in DIR, a checkout or a
build tree, unless it is one given by --but. --hardened: position-independent, the stack not executable, the tables
of addresses read-only once the file is loaded (RELRO, bound at once), and a guard on the stack (-fstack-protector-strong).
--fortified: of a file that formats text by the C library, at least one call is checked (-D_FORTIFY_SOURCE, which leaves calls
alone that cannot go wrong). One line for each fault, exit 1 when there is any; 2 for wrong usage, when readelf does not
run and when nothing was checked.
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys

FORMATS = re.compile(r"v?(f|s|sn|d|as|)printf")
CHECKED = re.compile(r"__(?!stack_).*_chk")


def elf_files(paths):
    """The files named, and of folders those in them that are ELF files; links stand for what they name elsewhere."""
    for path in map(pathlib.Path, paths):
        for file in sorted(path.iterdir()) if path.is_dir() else [path]:
            if file.is_file() and not file.is_symlink():
                with open(file, "rb") as stream:
                    if stream.read(4) == b"\x7fELF":
                        yield file


def within(entry, folders):
    entry = os.path.normpath(entry)
    return any(entry == folder or entry.startswith(folder + "/") for folder in map(os.path.normpath, folders))


def faults(said, outside, but, hardened, fortified):
    """What is wrong with the file of which readelf -W -d -l --dyn-syms said this."""
    for kind, entries in re.findall(r"\((RUNPATH|RPATH)\) +Library r(?:un)?path: \[(.*)\]", said):
        for entry in entries.split(":"):
            if not entry:
                yield f"{kind} [{entries}] has an empty entry, which is the current folder"
            elif not re.match(r"/|\$ORIGIN(/|$)|\$\{ORIGIN\}(/|$)", entry):
                yield f"{kind} entry {entry} is relative"
            elif within(entry, outside) and entry not in but:
                yield f"{kind} entry {entry} is in a tree that may be moved"
    for name in re.findall(r"\(NEEDED\) +Shared library: \[(.*)\]", said):
        if "/" in name:
            yield f"needs {name}, which is a path"
    for loader in re.findall(r"program interpreter: (.*)\]", said):
        if not loader.startswith("/"):
            yield f"is loaded by {loader}, which is relative"
    needed = set(re.findall(r" UND ([^@\s]+)", said))
    if hardened:
        if "Elf file type is DYN" not in said:
            yield "is not position-independent"
        if "GNU_RELRO" not in said or not re.search(r"BIND_NOW|Flags: .*\bNOW\b", said):
            yield "has tables of addresses that can be written (no full RELRO)"
        stack = re.search(r"GNU_STACK( +0x[0-9a-f]+){5} +([RWE ]+?) +0x", said)
        if stack is None or "E" in stack[2]:
            yield "has an executable stack"
        if "__stack_chk_fail" not in needed:
            yield "has no guard on its stack (-fstack-protector-strong)"
    if fortified and any(map(FORMATS.fullmatch, needed)) and not any(map(CHECKED.fullmatch, needed)):
        yield "calls the C library unchecked (_FORTIFY_SOURCE)"


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--readelf", default="readelf")
    parser.add_argument("--hardened", action="store_true")
    parser.add_argument("--fortified", action="store_true")
    parser.add_argument("--outside", action="append", default=[])
    parser.add_argument("--but", action="append", default=[])
    parser.add_argument("paths", nargs="+")
    options = parser.parse_args()
    files = list(elf_files(options.paths))
    if not files:
        sys.exit(print(f"check_elf: no programs or libraries in {' '.join(options.paths)}", file=sys.stderr) or 2)
    count = 0
    for file in files:
        try:
            done = subprocess.run([options.readelf, "-W", "-d", "-l", "--dyn-syms", str(file)], capture_output=True, text=True,
                                  errors="replace", env=os.environ | {"LC_ALL": "C"})
        except OSError as error:
            sys.exit(print(f"check_elf: {options.readelf} must run: {error.strerror}", file=sys.stderr) or 2)
        if done.returncode != 0:
            sys.exit(print(f"check_elf: {file}: {done.stderr.strip()}", file=sys.stderr) or 2)
        for fault in dict.fromkeys(faults(done.stdout, options.outside, options.but, options.hardened,
                                          options.fortified)):
            print(f"{file}: {fault}")
            count += 1
    if count == 0:
        print(f"check_elf: {len(files)} files look for libraries in folders of their own")
    sys.exit(1 if count else 0)


if __name__ == "__main__":
    main()
