"""What the tests of this folder share: the interpreter that has the engines, models at work, boxes of water."""
import argparse
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SKIPPED = 77


def in_venv():
    """Runs the test again by the interpreter of .venv-engines. Without it the test is skipped, but not where
    WEYL_NEEDS_ENGINES is set, as it is in CI: there that is a failure."""
    python = ROOT / ".venv-engines" / "bin" / "python"
    if Path(sys.prefix).resolve() == python.parents[1].resolve():
        return
    if not python.exists():
        required = bool(os.environ.get("WEYL_NEEDS_ENGINES"))
        print(f"{'failed' if required else 'skipped'}: there is no {python.parents[1]}; run scripts/setup --with engines")
        sys.exit(1 if required else SKIPPED)
    os.execv(python, [str(python), *sys.argv])


def main(module="__main__"):
    """--build BUILD (bin/ and lib/ of weyl) --models DIR (the run folders painn, painn_2 and et); the rest is unittest's."""
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--models", type=Path, required=True)
    given, rest = parser.parse_known_args()
    global BUILD, MODELS, WEYL
    BUILD, MODELS = given.build.resolve(), given.models.resolve()
    WEYL = BUILD / "bin" / "weyl"
    unittest.main(module=module, argv=[sys.argv[0], *rest])


def model(name):
    return str(MODELS / name)


class Test(unittest.TestCase):
    """Each test in a folder of its own, self.folder."""

    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="weyl-engines-")
        self.addCleanup(scratch.cleanup)
        self.folder = Path(scratch.name)

    def run_weyl(self, *words):
        run = subprocess.run([WEYL, *map(str, words)], cwd=self.folder, capture_output=True, text=True,
                             env={**os.environ, "OMP_NUM_THREADS": "1"})
        self.assertEqual(run.returncode, 0, run.stderr)
        return run


def water_box(molecules=8):
    """`molecules` of water on a grid in a triclinic periodic cell, each turned another way."""
    import numpy as np
    from ase import Atoms
    from ase.build import molecule

    side = round(molecules ** (1 / 3))
    assert side ** 3 == molecules
    random = np.random.default_rng(0)
    box = Atoms()
    for place in np.ndindex(side, side, side):
        one = molecule("H2O")
        one.rotate(random.uniform(0, 360), random.normal(size=3))
        one.translate(3.2 * np.array(place) - one.get_center_of_mass())
        box += one
    box.set_cell(3.2 * side * np.array([[1, 0, 0], [0.05, 1, 0], [-0.03, 0.08, 1]]))
    box.pbc = True
    return box
