#!/usr/bin/env python3
"""Checks that no function of one instruction set can be linked in place of another's.

    tools/check_kernel_symbols.py [--nm NM] SET OBJECT ...

SET is baseline, v3 or v4, the OBJECTs are the kernel files compiled for it (src/weyl/kernels/CMakeLists.txt). What
several files may define (weak and unique symbols) must lie in that set's namespace, weyl::kernels::SET; what one file
alone defines for all others must be a table, compiled<..., SET>; and what a file takes from others must be a table of
its set or a function of the C library. One line for each fault, exit 1 when there is any; 2 for wrong usage and when
nm does not run.
"""

import argparse
import re
import subprocess
import sys

SETS = ["baseline", "v3", "v4"]  # in the order of InstructionSet

SHARED = set("WVui")  # weak, weak object, unique, indirect
MISSING = set("Uwv")


def in_namespace(symbol, isa):
    """The mangled name is one of weyl::kernels::<isa>, or of something local to a function there."""
    return re.match(rf"_Z(GV|TV|TI|TS|GR)?Z*N[rVK]*[RO]?4weyl7kernels{len(isa)}{isa}(?!E)", symbol) is not None


def is_table(symbol, isa):
    return (symbol.startswith("_ZN4weyl7kernels8compiledI")
            and f"LNS0_14InstructionSetE{SETS.index(isa)}E" in symbol)


def faults_of(symbols, isa):
    """What is wrong with the lines of nm for one object."""
    found, tables = [], 0
    for line in symbols:
        parts = line.split()
        if len(parts) < 2 or len(parts[-2]) != 1:
            continue  # the name of an object, an empty line
        kind, symbol = parts[-2], parts[-1]
        if kind in MISSING:
            if symbol.startswith("_Z") and not is_table(symbol, isa):
                found.append(f"takes {symbol} from another file, which is no table of {isa}")
        elif kind in SHARED:
            if not in_namespace(symbol, isa):
                found.append(f"defines {symbol}, which another file may define too, outside weyl::kernels::{isa}")
        elif kind.isupper():
            if is_table(symbol, isa):
                tables += 1
            else:
                found.append(f"defines {symbol} for all other files, which is no table of {isa}")
    if tables == 0:
        found.append(f"defines no table of {isa}")
    return found


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nm", default="nm")
    parser.add_argument("isa", metavar="SET", choices=SETS)
    parser.add_argument("objects", metavar="OBJECT", nargs="+")
    given = parser.parse_args(arguments)
    count = 0
    for path in given.objects:
        try:
            listed = subprocess.run([given.nm, path], capture_output=True, text=True)
        except OSError as error:
            print(f"check_kernel_symbols: {given.nm} must run, got: {error.strerror}", file=sys.stderr)
            return 2
        if listed.returncode != 0:
            print(f"check_kernel_symbols: {given.nm} {path}: {listed.stderr.strip()}", file=sys.stderr)
            return 2
        for fault in faults_of(listed.stdout.splitlines(), given.isa):
            print(f"{path}: {fault}")
            count += 1
    if count == 0:
        print(f"check_kernel_symbols: {len(given.objects)} objects of {given.isa} keep to their namespace")
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
