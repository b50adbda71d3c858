#!/usr/bin/env python3
"""Prints how large the house is: files, lines, headers with one user, and what a header reaches.

    tools/house_figures.py [ROOT] [--reach HEADER] [--build FOLDER]

HEADER is below src/weyl, default saved/predictor.h. With FOLDER, a build of everything (build/release), also the objects of
the libraries, the test executables and the libraries that the program and libweyl need. A header reaches the headers that it includes, the sources that define them, and what these include.
"""

import argparse
import pathlib
import re
import subprocess

INCLUDE = re.compile(r'^\s*#\s*include "weyl/([^"]+)"', re.MULTILINE)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("root", nargs="?", default=pathlib.Path(__file__).resolve().parent.parent, type=pathlib.Path)
    arguments.add_argument("--reach", default="saved/predictor.h")
    arguments.add_argument("--build", type=pathlib.Path)
    given = arguments.parse_args()
    src = given.root / "src" / "weyl"
    texts = {p.relative_to(src).as_posix(): p.read_text(encoding="utf-8")
             for p in sorted(src.rglob("*")) if p.suffix in (".h", ".cpp", ".cu")}
    lines = {name: text.count("\n") for name, text in texts.items()}
    includes = {name: [header for header in INCLUDE.findall(text) if header in texts] for name, text in texts.items()}
    users = {name: 0 for name in texts}
    for name, headers in includes.items():
        for header in headers:
            users[header] += name != header[:-2] + ".cpp"
    reached, todo = set(), [given.reach]
    while todo:
        name = todo.pop()
        if name in reached or name not in texts:
            continue
        reached.add(name)
        todo += includes[name]
        if name.endswith(".h"):
            todo.append(name[:-2] + ".cpp")
    print(f"files {len(texts)}, of which below 60 lines {sum(n < 60 for n in lines.values())}")
    print(f"lines {sum(lines.values())}")
    print(f"headers with one user {sum(name.endswith('.h') and n == 1 for name, n in users.items())}")
    print(f"reach of {given.reach}: files {len(reached)}, lines {sum(lines[name] for name in reached)}, "
          f"of which in data/ {sum(lines[name] for name in reached if name.startswith('data/'))}")
    tests = list((given.root / "tests").rglob("*_test.cpp"))
    print(f"test files {len(tests)}")
    if given.build:
        objects = list((given.build / "src").rglob("*.o"))
        executables = [path for path in (given.build / "bin").glob("test.*") if path.is_file()]
        print(f"objects of the libraries and programs {len(objects)}")
        print(f"test executables {len(executables)}")
        for place in ("bin/weyl", "lib/libweyl_base.so", "lib/libweyl.so"):
            path = given.build / place
            if path.exists():
                needed = subprocess.run(["ldd", path], check=True, capture_output=True, text=True).stdout
                print(f"ldd {place}: {needed.count(chr(10))}")


if __name__ == "__main__":
    main()
