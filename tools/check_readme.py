#!/usr/bin/env python3
"""Checks the code blocks of README.md, CONTRIBUTING.md and other pages against the program and the library.

    tools/check_readme.py [--build DIR] [--run] [FILE ...]

    sh     parsed by bash; with --run also run, block after block, in one temporary copy of the checkout,
           with the built program on PATH
    toml   checked by `weyl config check`
    cpp    compiled (-fsyntax-only) with the flags of the library

A block under a line `<!-- not run: reason -->` is left out and listed. --build is the build folder
(default build/release). Exit 1 when a block fails, 2 for wrong usage.
"""

import argparse
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

NOT_RUN = re.compile(r"^\s*<!--\s*not run:\s*(.*?)\s*-->\s*$")
FENCE = re.compile(r"^(\s*)(```+)\s*([A-Za-z+]*)\s*$")
LONGEST_S = 900


class Block:
    def __init__(self, where, line, language, text, reason):
        self.where, self.line, self.language, self.text, self.reason = where, line, language, text, reason

    def name(self):
        return f"{self.where}:{self.line}"


def blocks_of(path, where):
    """The fenced blocks of a file; ValueError for a fence that is never closed."""
    blocks, reason, open_fence = [], None, None
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        fence = FENCE.match(line)
        if open_fence:
            if fence and fence.group(2) == open_fence[1] and not fence.group(3):
                indent, _, language, start, content = open_fence
                text = "".join(l[len(indent):] if l.startswith(indent) else l for l in content)
                blocks.append(Block(where, start, language, text, reason))
                open_fence, reason = None, None
            else:
                open_fence[4].append(line + "\n")
        elif fence:
            open_fence = (fence.group(1), fence.group(2), fence.group(3).lower(), number, [])
        elif NOT_RUN.match(line):
            reason = NOT_RUN.match(line).group(1) or "no reason given"
        elif line.strip():
            reason = None
    if open_fence:
        raise ValueError(f"{where}:{open_fence[3]}: the block is never closed")
    return blocks


def last_line(text):
    lines = [line for line in text.strip().splitlines() if line.strip()]
    return lines[-1] if lines else "no message"


def copy_of_checkout(root, into, commands):
    """What git tracks or would track; everything but build folders where there is no git. Of folders those alone that the
    commands name, and all where they start a script, which may need any."""
    listed = subprocess.run(["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                            capture_output=True)
    if listed.returncode == 0:
        names = [os.fsdecode(name) for name in listed.stdout.split(b"\0") if name]
    else:
        names = [p.relative_to(root).as_posix() for p in root.rglob("*")
                 if p.is_file() and p.relative_to(root).parts[0] not in ("build", ".git", ".venv", ".venv-peers")]
    named = set(re.findall(r"([\w.-]+)/", commands))
    for name in names:
        top, _, below = name.partition("/")
        if (root / name).is_file() and (not below or top in named or "scripts" in named):
            target = into / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(root / name, target)


class Checker:
    def __init__(self, root, build, run):
        self.root, self.build, self.run = root, build, run
        self.program = build / "bin" / "weyl"
        self.faults, self.skipped, self.passed = [], [], 0
        self.folder = None      # the temporary copy, made for the first sh block
        self.commands = ""      # of all sh blocks that run
        self.flags = None

    def fault(self, block, text):
        self.faults.append(f"{block.name()}: {text}")

    def environment(self):
        path = f"{self.program.resolve().parent}{os.pathsep}{os.environ.get('PATH', '')}"
        return {**os.environ, "PATH": path, "NO_COLOR": "1"}

    def sh(self, block, scratch):
        done = subprocess.run(["bash", "-n"], input=block.text, capture_output=True, text=True)
        if done.returncode != 0:
            return self.fault(block, "bash: " + last_line(done.stderr))
        if not self.run:
            return None
        if self.folder is None:
            self.folder = scratch / "checkout"
            self.folder.mkdir()
            copy_of_checkout(self.root, self.folder, self.commands)
        try:
            done = subprocess.run(["bash", "-e", "-o", "pipefail"], input=block.text, capture_output=True, text=True,
                                  cwd=self.folder, env=self.environment(), timeout=LONGEST_S)
        except subprocess.TimeoutExpired:
            return self.fault(block, f"ran longer than {LONGEST_S} s")
        if done.returncode != 0:
            return self.fault(block, f"exit {done.returncode}: {last_line(done.stderr or done.stdout)}")
        return None

    def toml(self, block, scratch):
        if not self.program.exists():
            return self.fault(block, f"needs the program, and there is no {self.program}")
        # Empty lines in front: the program's line numbers are those of the page.
        snippet = scratch / "snippet.toml"
        snippet.write_text("\n" * block.line + block.text, encoding="utf-8")
        done = subprocess.run([str(self.program), "config", "check", str(snippet)], capture_output=True, text=True,
                              env=self.environment())
        if done.returncode != 0:
            self.fault(block, last_line(done.stderr).replace(str(snippet), block.where))
        return None

    def compiler(self):
        """The command of one file of the library that uses torch, without what belongs to that file."""
        if self.flags is None:
            commands = json.loads((self.build / "compile_commands.json").read_text(encoding="utf-8"))
            commands = [c for c in commands if "/src/weyl/" in c["file"]]
            with_torch = [c for c in commands if "/torch/" in c.get("command", "")]
            entry = (with_torch or commands)[0]
            words = shlex.split(entry["command"])
            start = next(i for i, w in enumerate(words) if re.search(r"(\+\+|cc)(-[0-9.]+)?$", w))
            flags, skip = [words[start]], False
            for word in words[start + 1:]:
                if skip:
                    skip = False
                elif word in ("-o", "-c", "-include", "-MF", "-MT", "-MQ"):
                    skip = True
                elif word not in ("-MD", "-Winvalid-pch", "-fpch-preprocess") and word != entry["file"]:
                    flags.append(word)
            self.flags = (flags, entry["directory"])
        return self.flags

    def cpp(self, block, scratch):
        try:
            flags, directory = self.compiler()
        except (OSError, IndexError, StopIteration):
            return self.fault(block, f"needs the build, and {self.build} has no compile_commands.json of the library")
        snippet = scratch / "snippet.cpp"
        snippet.write_text("\n" * block.line + block.text, encoding="utf-8")
        done = subprocess.run(flags + ["-I", str(self.root / "src"), "-fsyntax-only", str(snippet)],
                              capture_output=True, text=True, cwd=directory)
        if done.returncode != 0:
            errors = [line for line in done.stderr.splitlines() if "error" in line] or [last_line(done.stderr)]
            self.fault(block, errors[0].replace(str(snippet), block.where))
        return None

    def check(self, blocks):
        self.commands = "".join(block.text for block in blocks if block.language in ("sh", "bash") and block.reason is None)
        with tempfile.TemporaryDirectory(prefix="weyl-readme-") as scratch:
            for block in blocks:
                handler = {"sh": self.sh, "bash": self.sh, "toml": self.toml, "cpp": self.cpp}.get(block.language)
                if handler is None:
                    continue
                if block.reason is not None:
                    self.skipped.append(f"{block.name()}: {block.language} block not run: {block.reason}")
                    continue
                before = len(self.faults)
                handler(block, pathlib.Path(scratch))
                self.passed += len(self.faults) == before


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path)
    parser.add_argument("--run", action="store_true")
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    options = parser.parse_args(arguments)
    root = options.root.resolve()
    files = options.files or [root / name for name in ("README.md", "CONTRIBUTING.md") if (root / name).exists()]
    checker = Checker(root, (options.build or root / "build" / "release").resolve(), options.run)
    blocks = []
    for path in files:
        where = os.path.relpath(path, root)
        try:
            blocks += blocks_of(path, path.name if where.startswith("..") else where)
        except (OSError, ValueError) as error:
            checker.faults.append(str(error))
    checker.check(blocks)
    for line in checker.skipped + checker.faults:
        print(line)
    how = "run" if options.run else "parsed"
    print(f"check_readme: {checker.passed} blocks pass (sh {how}), {len(checker.skipped)} not run, "
          f"{len(checker.faults)} faults")
    return 1 if checker.faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
