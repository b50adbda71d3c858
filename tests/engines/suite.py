"""What the tests of engines share.

    tests/engines/NAME_test.py --build build/release --models DIR

DIR has the run folders painn, painn_2 and et, potentials of water. `scripts/setup --with engines` installs the engines in
.venv-engines/. Without that folder the tests are skipped (exit code 77), but not where WEYL_NEEDS_ENGINES is set, as it is
in CI: there that is a failure.
"""
import argparse
import os
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SKIPPED = 77
BUILD = MODELS = None


def start():
    """Before the engines are imported: the interpreter that has them, the package weyl of this checkout, the library and
    the program of the build."""
    global BUILD, MODELS
    python = ROOT / ".venv-engines" / "bin" / "python"
    if Path(sys.prefix).resolve() != python.parents[1].resolve():
        if not python.exists():
            required = bool(os.environ.get("WEYL_NEEDS_ENGINES"))
            print(f"{'failed' if required else 'skipped'}: there is no {python.parents[1]}; "
                  "run scripts/setup --with engines")
            sys.exit(1 if required else SKIPPED)
        os.execv(python, [str(python), *sys.argv])
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, type=Path, help="build folder")
    parser.add_argument("--models", required=True, type=Path, help="folder with the runs painn, painn_2 and et")
    given, rest = parser.parse_known_args()
    sys.argv[1:] = rest
    BUILD, MODELS = given.build.resolve(), given.models.resolve()
    os.environ.update(WEYL_LIBRARY=str(BUILD / "lib" / "libweyl_potential.so"), OMP_NUM_THREADS="1")
    sys.path.insert(0, str(ROOT / "python"))


class Test(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="weyl-engines-")
        self.addCleanup(scratch.cleanup)
        self.folder = Path(scratch.name)

    def below(self, found, limit, what=""):
        """Not NaN either."""
        self.assertTrue(abs(found) < limit, f"{what}: {found} must be below {limit}")
