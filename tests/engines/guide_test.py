#!/usr/bin/env python3
"""The commands and the code of docs/guide/engines.md, one after the other in one copy of the checkout. See suite.py for
how it is run."""
import suite

suite.start()

import contextlib
import io
import os
import subprocess
import sys
import unittest

sys.path.insert(0, str(suite.ROOT / "tools"))
import check_readme

PAGE = "docs/guide/engines.md"


class Guide(suite.Test):
    def test_blocks(self):
        blocks = [block for block in check_readme.blocks_of(suite.ROOT / PAGE, PAGE) if block.reason is None]
        commands = "".join(block.text for block in blocks)
        check_readme.copy_of_checkout(suite.ROOT, self.folder, commands)
        path = os.pathsep.join([str(suite.BUILD / "bin"), str(suite.ROOT / ".venv-engines/bin"), os.environ["PATH"]])
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.folder)
        names = {}
        for block in blocks:
            if block.language == "sh":
                done = subprocess.run(["bash", "-e", "-o", "pipefail", "-c", block.text], capture_output=True, text=True,
                                      env={**os.environ, "PATH": path})
                self.assertEqual(done.returncode, 0, f"{block.name()}: {done.stderr}")
            elif block.language == "python":
                code = compile("\n" * block.line + block.text, PAGE, "exec")
                with contextlib.redirect_stdout(io.StringIO()):
                    exec(code, names)


if __name__ == "__main__":
    unittest.main()
