"""tools/nbody_floor.py: nothing is left where no particle pulls, something where they do; `--build DIR` replays real data."""

import contextlib
import io
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
sys.dont_write_bytecode = True
try:
    import numpy as np
    import nbody_floor
except ImportError:
    np = None

BUILD = None


@unittest.skipIf(np is None, "no NumPy")
class Floor(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.rng = np.random.default_rng(3)

    def write(self, charge, every=5, off=0.0):
        """Twelve systems of four particles, of which frames 30 and 40 are right; `off`: their targets are not."""
        shape = (12, 41, 4, 3)
        tensors = {"positions": np.zeros(shape), "velocities": np.zeros(shape), "charges": charge * self.rng.choice([-1.0, 1.0], (12, 4))}
        x, v = self.rng.normal(size=(12, 4, 3)), self.rng.normal(size=(12, 4, 3))
        tensors["positions"][:, 30], tensors["velocities"][:, 30] = x, v
        tensors["positions"][:, 40] = off + nbody_floor.advance(x, v, tensors["charges"], 10 * every, 0.01)
        header = {"__metadata__": {"format": "weyl.nbody", "time_step": "0.01", "every": str(every)}}
        raw = b""
        for name, tensor in tensors.items():
            header[name] = {"dtype": "F64", "shape": tensor.shape, "data_offsets": [len(raw), len(raw) + tensor.nbytes]}
            raw += tensor.tobytes()
        head = json.dumps(header).encode()
        (self.folder / "test.safetensors").write_bytes(len(head).to_bytes(8, "little") + head + raw)

    def printed(self, data, *arguments):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            nbody_floor.main([str(data), *arguments])
        return [float(re.split(r" {2,}", line)[1].split()[0]) for line in out.getvalue().splitlines()[2:6]]

    def test_nothing_is_left_where_no_particle_pulls(self):
        self.write(0)
        still, straight, fitted, other = self.printed(self.folder)
        self.assertGreater(still, 0.1)
        self.assertEqual([straight, fitted, other], [0, 0, 0])

    def test_something_is_left_where_particles_pull(self):
        self.write(1)
        still, straight, fitted, other = self.printed(self.folder)
        self.assertTrue(0.0005 < fitted < other < straight, (still, straight, fitted, other))

    def test_the_fit_finds_its_own_form(self):
        turns = nbody_floor.random_turns(3 * 24, self.rng).reshape(3, 24, 3, 3)
        self.assertLess(np.abs(turns @ turns.transpose(0, 1, 3, 2) - np.eye(3)).max(), 1e-14)
        self.assertLess(np.abs(nbody_floor.random_turns(1000, self.rng).mean(0)).max(), 0.1)
        p, q = self.rng.normal(size=(2, 3, 1, 4, 3))
        moved = p + q @ turns.transpose(0, 1, 3, 2)
        noise = 0.1 * self.rng.normal(size=moved.shape)
        self.assertLess(max(r.max() for r in nbody_floor.residuals(moved, turns)), 1e-25)
        fitted, other = nbody_floor.residuals(moved + noise, turns)
        # 24 turns have 72 numbers a coordinate for six free ones.
        self.assertTrue(0.008 < fitted.mean() < 0.01 < other.mean() < 0.016, (fitted, other))

    def test_data_that_are_not_replayed_are_refused(self):
        self.write(1, off=1e-3)
        with self.assertRaisesRegex(SystemExit, "the replay of frame 40 must be that of the data"):
            nbody_floor.main([str(self.folder)])

    def test_data_of_the_program_are_replayed(self):
        if BUILD is None:
            self.skipTest("no --build DIR")
        data = self.folder / "nbody"
        subprocess.run([BUILD / "bin" / "weyl", "data", "make", "nbody", "--out", data, "train=1", "valid=1", "test=8", "--quiet"],
                       check=True, stdout=subprocess.DEVNULL)
        still, straight, fitted, other = self.printed(data, "--systems", "8", "--turns", "16")
        self.assertTrue(0.001 < fitted < other < still, (still, straight, fitted, other))


if __name__ == "__main__":
    if "--build" in sys.argv:
        at = sys.argv.index("--build")
        BUILD = pathlib.Path(sys.argv[at + 1]).resolve()
        del sys.argv[at:at + 2]
    unittest.main()
