#!/usr/bin/env python3
"""Drafts a config by `weyl config new` for every fixture that it takes, checks it, and trains one step with it.

  tools/draft_fixtures.py [--weyl build/release/bin/weyl] [--systems] [FIXTURE ...]

Fixtures are paths below tests/fixtures; none: all files and folders there, but for the broken ones. --systems drafts for every
system that fits, and not for the first alone. A fixture that `config new` refuses, in one line, is counted. A draft that
`config check` or `train` refuses is a failure, unless `config new` has said so itself.
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
FIXTURES = ROOT / "tests" / "fixtures"
SAYS = "refuses this config as it stands"


def run(weyl, folder, *arguments):
    done = subprocess.run([weyl, *arguments], cwd=folder, capture_output=True, text=True, timeout=600)
    return done.returncode, done.stdout, done.stderr.strip()


def fixtures():
    for kind in sorted(FIXTURES.iterdir()):
        if kind.name in ("broken", "checkpoints", "json", "pytorch", "numpy"):
            continue
        yield kind
        yield from sorted(kind.rglob("*"))


def last_line(text):
    return text.splitlines()[-1] if text else "(no word)"


def draft(weyl, path, folder, system, count):
    """What is wrong with the draft, whether there is one, and the other systems that fit."""
    config = f"c{count}.toml"
    asked = ["--system", system] if system else []
    code, _, talk = run(weyl, folder, "config", "new", "--data", str(path), "--out", config, *asked)
    if code in (2, 3):
        lines = [line for line in talk.splitlines() if not line.startswith("warning")]
        return ("" if len(lines) == 1 else f"{len(lines)} lines for one: {talk}"), False, []
    if code != 0:
        return f"config new: exit code {code}: {last_line(talk)}", False, []
    others = re.search(r"# Other systems that fit \(--system\): ([a-z, \n#]+)\.", (folder / config).read_text())
    more = re.findall(r"[a-z]+", others.group(1)) if others else []
    for verb in (["config", "check", config], ["train", config, "train.steps=1", "--out", f"run{count}", "--threads", "1"]):
        code, _, said = run(weyl, folder, *verb)
        if code != 0 and SAYS not in talk:
            return f"{verb[0]}: exit code {code}: {last_line(said)}", True, more
    return "", True, more


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weyl", default=str(ROOT / "build" / "release" / "bin" / "weyl"))
    parser.add_argument("--systems", action="store_true")
    parser.add_argument("fixtures", nargs="*")
    options = parser.parse_args()
    weyl = os.path.abspath(options.weyl)
    chosen = [FIXTURES / name for name in options.fixtures] if options.fixtures else list(fixtures())
    drafted = refused = failed = count = 0
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        for path in chosen:
            systems = [None]
            while systems:
                count += 1
                system = systems.pop(0)
                fault, there, others = draft(weyl, path, folder, system, count)
                drafted += there
                refused += not there and not fault
                if fault or (options.fixtures and not there):
                    failed += 1
                    print(f"{path.relative_to(FIXTURES)} {system or ''}: {fault or 'is not drafted'}", flush=True)
                if options.systems and system is None:
                    systems = others
    print(f"draft_fixtures: {drafted} drafts, {refused} refused in one line, {failed} failures")
    return 1 if failed or drafted == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
