"""The README check itself: good blocks pass, each kind of broken block fails, and skipped ones are listed."""

import json
import os
import pathlib
import shutil
import stat
import subprocess
import sys
import tempfile
import textwrap
import unittest

TOOL = pathlib.Path(__file__).resolve().parents[2] / "tools" / "check_readme.py"

# Stands in for the program: a config is good unless it says "bad".
PROGRAM = """#!/bin/sh
if [ "$1" = config ]; then
  if grep -qn bad "$3"; then
    echo "$3:$(grep -n bad "$3" | cut -d: -f1): bad: unknown key" >&2
    exit 2
  fi
fi
exit 0
"""


class CheckReadme(unittest.TestCase):
    def setUp(self):
        self.root = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.root)
        (self.root / "configs").mkdir()
        (self.root / "configs" / "a.toml").write_text("")
        header = self.root / "src" / "weyl" / "answer.h"
        header.parent.mkdir(parents=True)
        header.write_text("inline int answer() { return 42; }\n")
        program = self.root / "build" / "release" / "bin" / "weyl"
        program.parent.mkdir(parents=True)
        program.write_text(PROGRAM)
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        source = str(self.root / "src" / "weyl" / "answer.cpp")
        compiler = shutil.which("c++") or shutil.which("g++") or shutil.which("clang++")
        command = f"{compiler} -std=c++20 -o answer.o -c {source}"
        (self.root / "build" / "release" / "compile_commands.json").write_text(
            json.dumps([{"directory": str(self.root), "command": command, "file": source}]))

    def check(self, readme, *options):
        (self.root / "README.md").write_text(textwrap.dedent(readme))
        done = subprocess.run([sys.executable, str(TOOL), "--root", str(self.root), *options],
                              capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr

    def test_good_blocks_pass_and_run_in_a_copy(self):
        code, said = self.check("""\
            ```sh
            test -f configs/a.toml
            weyl train configs/a.toml
            touch made_by_the_first_block
            ```
            ```sh
            test -f made_by_the_first_block
            ```
            ```toml
            [train]
            ```
            ```cpp
            #include "weyl/answer.h"
            int twice() { return 2 * answer(); }
            ```
            ```text
            if then fi ]]
            ```
            """, "--run")
        self.assertEqual(code, 0, said)
        self.assertIn("4 blocks pass (sh run), 0 not run, 0 faults", said)
        self.assertFalse((self.root / "made_by_the_first_block").exists())

    def test_a_failing_command_fails_only_when_run(self):
        readme = "text\n\n```sh\nfalse\ntrue\n```\n"
        code, said = self.check(readme, "--run")
        self.assertEqual(code, 1)
        self.assertIn("README.md:3: exit 1", said)
        self.assertEqual(self.check(readme)[0], 0)

    def test_broken_shell_fails_without_running(self):
        code, said = self.check("```sh\nif true; then\n```\n")
        self.assertEqual(code, 1)
        self.assertIn("README.md:1: bash:", said)

    def test_a_broken_config_names_the_line_of_the_page(self):
        code, said = self.check("one\n```toml\n[train]\nbad = 1\n```\n")
        self.assertEqual(code, 1)
        self.assertIn("README.md:4: bad: unknown key", said)

    def test_code_that_does_not_compile_fails(self):
        code, said = self.check('```cpp\n#include "weyl/answer.h"\nint x = question();\n```\n')
        self.assertEqual(code, 1)
        self.assertIn("README.md:3", said)
        self.assertIn("question", said)

    def test_marked_blocks_are_left_out_and_listed(self):
        code, said = self.check("<!-- not run: takes an hour -->\n\n```sh\nfalse\n```\n", "--run")
        self.assertEqual(code, 0, said)
        self.assertIn("README.md:3: sh block not run: takes an hour", said)
        # The mark holds for the next block only, and not across other text.
        self.assertEqual(self.check("<!-- not run: x -->\nother text\n```sh\nfalse\n```\n", "--run")[0], 1)

    def test_a_block_that_is_never_closed_fails(self):
        code, said = self.check("```sh\ntrue\n")
        self.assertEqual(code, 1)
        self.assertIn("README.md:1: the block is never closed", said)

    def test_a_missing_program_fails(self):
        os.remove(self.root / "build" / "release" / "bin" / "weyl")
        code, said = self.check("```toml\n[train]\n```\n")
        self.assertEqual(code, 1)
        self.assertIn("needs the program", said)


if __name__ == "__main__":
    unittest.main()
