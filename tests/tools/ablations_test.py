"""scripts/ablations: what it calls a sign, and with `--build DIR` two steps of every row of the tables 9, 11 to 13 and ours (the
rows of 8 and 10 leave out what those of 9 do)."""

import importlib.machinery
import importlib.util
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "ablations"
sys.dont_write_bytecode = True
loader = importlib.machinery.SourceFileLoader("ablations", str(SCRIPT))
ablations = importlib.util.module_from_spec(importlib.util.spec_from_loader("ablations", loader))
loader.exec_module(ablations)

BUILD = None
SMALL = ["model.geomformer.width=8", "model.geomformer.heads=2", "model.geomformer.blocks=2", "model.geomformer.kernels=4",
         "train.epochs=false", "train.steps=2"]


class Table(unittest.TestCase):
    def test_a_sign_is_what_passes_two_standard_errors(self):
        whole = [1.0, 1.1, 1.2]  # variance 0.01
        change, error, called = ablations.sign([1.2, 1.3, 1.4], whole)  # 0.2 by 0.0816
        self.assertAlmostEqual(change, 100 * 0.2 / 1.1)
        self.assertAlmostEqual(error, 100 * (0.02 / 3) ** 0.5 / 1.1)
        self.assertEqual(called, "worse")
        self.assertEqual(ablations.sign([1.16, 1.26, 1.36], whole)[2], "no sign")  # 0.16
        self.assertEqual(ablations.sign([0.8, 0.9, 1.0], whole)[2], "better")
        self.assertEqual(ablations.sign([0.5], whole)[1:], (None, "one seed"))

    def test_the_papers_change_is_relative(self):
        self.assertAlmostEqual(ablations.paper_change(ablations.TABLES["9"], ("equ_self",), "ethanol"), 130.645, 2)
        self.assertEqual(ablations.paper_change(ablations.TABLES["12"], ("equ_norm",), ""), 63.8)
        self.assertIsNone(ablations.paper_change(ablations.TABLES["8"], ("equ_self",), "benzene"))

    def test_what_is_no_table_is_refused(self):
        for arguments in [[], ["7"], ["10", "0"], ["10", "2", "train.steps"]]:
            found = subprocess.run([SCRIPT, *arguments], capture_output=True, text=True)
            self.assertEqual(found.returncode, 2, arguments)
            self.assertIn("scripts/ablations TABLE", found.stderr)


class EveryRow(unittest.TestCase):
    def setUp(self):
        if BUILD is None:
            self.skipTest("no --build DIR")
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def run_script(self, table, data, *changes, **environment):
        variables = {"WEYL": str(BUILD / "bin" / "weyl"), "WEYL_RUNS": str(self.folder / "runs"), "WEYL_DATA": str(data), "SEEDS": "0",
                     **environment}
        return subprocess.run([SCRIPT, table, "2", *SMALL, *changes], env=os.environ | variables, capture_output=True, text=True)

    def trains(self, tables, data, *changes, **environment):
        for table in tables:
            with self.subTest(table=table):
                found = self.run_script(table, data, *changes, **environment)
                self.assertEqual((found.returncode, found.stderr), (0, ""))
                for row in ablations.TABLES[table]:
                    self.assertRegex(found.stdout, rf"(?m)^{ablations.title(row)} .* 1 +2 +\d+\.\d+ ")

    def test_of_particles(self):
        data = self.folder / "nbody"
        subprocess.run([BUILD / "bin" / "weyl", "data", "make", "nbody", "--out", data, "train=40", "valid=20", "test=20", "--quiet"],
                       check=True, stdout=subprocess.DEVNULL)
        self.trains(["11", "12", "13", "ours"], data)
        # What is there is not done again, and is not shown as what it is not.
        again = self.run_script("11", data, WEYL="/bin/false")
        self.assertEqual(again.returncode, 0, again.stderr)
        other = self.run_script("11", data, "train.batch=4")
        self.assertEqual((other.returncode, other.stdout), (1, ""))
        self.assertIn("was trained as", other.stderr)
        self.assertIn("WEYL_RUNS", other.stderr)

    def test_of_molecules(self):
        rng = random.Random(1)
        frames = self.folder / "frames.xyz"
        with frames.open("w") as out:
            for _ in range(12):
                out.write(f"9\nProperties=species:S:1:pos:R:3:forces:R:3 energy={rng.gauss(0, 1)}\n")
                for i, element in enumerate("CCOHHHHHH"):
                    numbers = [1.2 * i + rng.gauss(0, 0.1), *(rng.gauss(0, 1) for _ in range(5))]
                    out.write(" ".join([element, *map(str, numbers)]) + "\n")
        self.trains(["9"], frames, "data.molecules.train=6", "data.molecules.valid=3")


if __name__ == "__main__":
    if "--build" in sys.argv:
        at = sys.argv.index("--build")
        BUILD = pathlib.Path(sys.argv[at + 1]).resolve()
        del sys.argv[at:at + 2]
    unittest.main()
