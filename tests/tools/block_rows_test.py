"""The rows of scripts/block_table: paired ratios with their intervals, weights of blocks, rows that say nothing."""

import contextlib
import io
import json
import math
import pathlib
import struct
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import block_rows  # noqa: E402


class Rows(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def write(self, name, pose, flanking=1.0, weights=None):
        metrics = {"pose_error": {"value": pose}, "flanking_accuracy": {"value": flanking}}
        (self.folder / f"{name}.train").write_text(json.dumps({"parameters": 33384, "test": {"metrics": metrics}}))
        if weights is not None:  # (1, H, K)
            best = self.folder / name / "best"
            best.mkdir(parents=True, exist_ok=True)
            numbers = [x for head in weights for x in head]
            entry = {"dtype": "F32", "shape": [1, len(weights), len(weights[0])], "data_offsets": [0, 4 * len(numbers)]}
            header = json.dumps({"score.weight": entry}).encode()
            data = struct.pack("<Q", len(header)) + header + struct.pack(f"<{len(numbers)}f", *numbers)
            (best / "model.safetensors").write_bytes(data)

    def printed(self, *arguments):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            self.assertEqual(block_rows.main([str(self.folder), *arguments]), 0)
        return out.getvalue()

    def test_ratios_are_paired_by_seed(self):
        # Errors that vary a lot from seed to seed, ratios that do not: 2, 2.2, 1.8.
        for seed, (pose, ratio) in enumerate([(1e-4, 2.0), (1e-2, 2.2), (1e-6, 1.8)]):
            self.write(f"se2-noise-G-{seed}", pose, weights=[[0, 0]])
            self.write(f"se2-noise-isotropic-{seed}", pose * ratio)
        logs = [math.log(r) for r in (2.0, 2.2, 1.8)]
        mean = sum(logs) / 3
        half = 4.303 * math.sqrt(sum((x - mean) ** 2 for x in logs) / 2 / 3)
        wanted = f"{math.exp(mean):.2f} ({math.exp(mean - half):.2f} to {math.exp(mean + half):.2f})"
        self.assertEqual(wanted, "1.99 (1.55 to 2.56)")
        text = self.printed()
        self.assertIn(f"| SE(2) | noise | isotropic | 33,384 | 3 | 2.0e-04 | 1.000 | 1.000 | {wanted} |", text)

    def test_a_seed_that_one_lacks_is_not_compared(self):
        self.write("se2-blocks-G-0", 1e-4, weights=[[0, 0]])
        self.write("se2-blocks-C-0", 3e-4)
        self.write("se2-blocks-C-1", 9.0)
        self.assertIn("| 3.00 |", self.printed())  # of one seed, without an interval
        self.assertIn("no training of G", self.printed("--seeds", "1"))

    def test_rows_where_gaps_are_not_found_say_nothing(self):
        self.write("se2-blocks-G-0", 1e-4, flanking=0.979, weights=[[0, 0]])
        self.write("se2-blocks-full-0", 1e-5, flanking=1.0)
        self.assertIn("| says nothing |", self.printed())
        self.write("se2-blocks-G-0", 1e-4, flanking=0.98, weights=[[0, 0]])
        self.assertNotIn("| says nothing |", self.printed())

    def test_weights_are_those_beside_the_first_block(self):
        inverse = lambda x: math.log(math.expm1(x - 1e-3))  # noqa: E731
        self.write("se2-noise-G-0", 1e-4, weights=[[inverse(1.0), inverse(0.1)], [inverse(2.0), inverse(0.8)]])
        self.assertIn("| rotation 0.2 (0.1 to 0.4) |", self.printed())

    def test_a_part_of_the_rows(self):
        self.write("se2-noise-G-0", 1e-4, weights=[[0, 0]])
        self.write("aff2-noise-G-0", 1e-4, weights=[[0, 0, 0, 0]])
        text = self.printed("--groups", "aff2")
        self.assertIn("Aff(2)", text)
        self.assertNotIn("SE(2)", text)


if __name__ == "__main__":
    unittest.main()
