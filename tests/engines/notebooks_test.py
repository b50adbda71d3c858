#!/usr/bin/env python3
"""The notebooks run from their first cell to the last and hold what they have shown. See suite.py for how it is run;
with --store as its last word the notebooks are executed and written back with their outputs."""
import suite

suite.start()

import os
import re
import shutil
import sys
import unittest

import nbformat
from nbclient import NotebookClient

EXAMPLES = suite.ROOT / "examples"
NOTEBOOKS = ("notebook.ipynb", "clouds.ipynb")


def executed(name, folder):
    """The notebook after it has run in a copy of the folder of examples."""
    shutil.copytree(EXAMPLES, folder / "examples", ignore=shutil.ignore_patterns("runs"))
    notebook = nbformat.read(EXAMPLES / name, as_version=4)
    client = NotebookClient(notebook, timeout=300, coalesce_streams=True,
                            resources={"metadata": {"path": str(folder / "examples")}})
    client.execute(env={**os.environ, "PYTHONPATH": str(suite.ROOT / "python")})
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)  # when, to the second
    return notebook


def outputs_of(notebook):
    return [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]


def pictures_of(notebook):
    return sum("image/png" in output.get("data", {}) for output in outputs_of(notebook))


def text_of(notebook):
    return "".join(output.get("text", "") for output in outputs_of(notebook))


class Notebooks(suite.Test):
    def again(self, name):
        """What a notebook says when it is executed; it holds as many pictures, and nothing of the machine that made them."""
        stored = nbformat.read(EXAMPLES / name, as_version=4)
        self.assertGreater(pictures_of(stored), 1)
        text = nbformat.writes(stored)
        self.assertLess(len(text), 300_000)
        self.assertIsNone(re.search("/(root|home|tmp|work|usr)/", text))
        counts = [cell.execution_count for cell in stored.cells if cell.cell_type == "code"]
        self.assertEqual(counts, list(range(1, 1 + len(counts))))
        found = executed(name, self.folder)
        self.assertEqual(pictures_of(found), pictures_of(stored))
        return text_of(found)

    def test_frames_to_a_running_potential(self):
        said = self.again("notebook.ipynb")
        self.assertIn("passed: True", said)
        potential, total = re.search(r"energy spans (\S+) meV, the total (\S+) meV", said).groups()
        self.below(float(total), 0.05 * float(potential))

    def test_clouds(self):
        said = self.again("clouds.ipynb")
        exact, control = (float(re.search(rf"{name}: changes by (\S+)", said)[1]) for name in ("in frames", "as it is"))
        self.below(exact, 1e-9)
        self.assertGreater(control, 0.05)


if __name__ == "__main__":
    if sys.argv[-1] == "--store":
        for name in NOTEBOOKS:
            with suite.tempfile.TemporaryDirectory(prefix="weyl-engines-") as folder:
                nbformat.write(executed(name, suite.Path(folder)), EXAMPLES / name)
        sys.exit()
    unittest.main()
