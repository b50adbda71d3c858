"""The rows of scripts/completion_table: median and worst of each, goals that are missed marked."""

import contextlib
import io
import json
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import completion_rows  # noqa: E402


def write(folder, name, pose, flanking=1.0, square=1e-12, passed=True, seconds=50):
    metrics = {"pose_error": pose, "flanking_accuracy": flanking, "relative_error": 10 * pose}
    train = {"parameters": 33384, "seconds": seconds}
    train["test"] = {"metrics": {name: {"value": value} for name, value in metrics.items()}}
    audit = {"passed": passed, "prediction_equivariance": {"mean_square": square, "flips": 2}}
    (folder / f"{name}.train").write_text(json.dumps(train))
    (folder / f"{name}.json").write_text(json.dumps(audit))


class Rows(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def printed(self, *arguments):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            code = completion_rows.main([str(self.folder), *arguments])
        return code, out.getvalue()

    def nine(self, recipe="paper", pose=None, **figures):
        for seed in range(9):
            error = (pose or [1e-4 + 1e-5 * s for s in range(9)])[seed]
            write(self.folder, f"{recipe}-se2-G-{seed}", error, **figures)

    def test_median_and_worst(self):
        self.nine()
        code, text = self.printed()
        self.assertEqual(code, 0)
        self.assertIn("| SE(2) | G | 33,384 | 9 | 1.4e-04 | 1.8e-04 | 1.000 | 1.000 | 1.4e-03 | ", text)
        self.assertIn("| 18 | 9/9 | 50 | 3e-3, 1.000, 4.0e-10 |", text)
        self.assertNotIn("**", text)

    def test_a_missed_goal_is_marked_where_it_is_missed(self):
        self.nine("ours", [1e-4] * 8 + [2.1e-3])
        code, text = self.printed()
        self.assertEqual(code, 1)
        self.assertIn("| 1.0e-04 | **2.1e-03** † (≤ 0.0002) |", text)
        code, text = self.printed("--recipes", "paper")  # nothing of it was trained
        self.assertEqual(code, 0)
        self.assertNotIn("SE(2)", text)

    def test_the_paper_is_held_to_its_own_figures(self):
        self.nine("paper", [1e-4] * 8 + [2.1e-3])
        self.assertEqual(self.printed()[0], 0)
        self.nine("paper", [1e-4] * 8 + [3.1e-3])
        code, text = self.printed()
        self.assertEqual(code, 1)
        self.assertIn("**3.1e-03** † (≤ 0.003)", text)

    def test_each_figure_has_its_goal(self):
        for figures, mark in [
            ({"flanking": 0.9973}, "**0.997** † (≥ 0.998)"),
            ({"square": 5e-10}, "**5.0e-10** † (≤ 4e-10)"),
            ({"passed": False}, "**0/9** † (≥ 9)"),
            ({"seconds": 91}, "**91** † (≤ 90)"),
        ]:
            self.nine(**figures)
            code, text = self.printed()
            self.assertEqual(code, 1, mark)
            self.assertIn(mark, text)

    def test_the_control_must_be_far_behind(self):
        self.nine()
        write(self.folder, "paper-se2-A-0", 1e-2, square=0.1, passed=False)
        code, text = self.printed()
        self.assertEqual(code, 0, text)
        self.assertIn("| SE(2) | A | 33,384 | 1 | 1.0e-02 |", text)
        write(self.folder, "paper-se2-A-0", 1e-3, square=1e-5, passed=False)
        code, text = self.printed()
        self.assertEqual(code, 1)
        self.assertIn("**1.0e-03** † (≥ 0.0014)", text)
        self.assertIn("**1.0e-05** † (≥ 0.001)", text)

    def test_a_part_of_the_rows(self):
        self.nine()
        write(self.folder, "paper-so3-G-0", 1e-5, square=1e-15)
        text = self.printed("--groups", "so3")[1]
        self.assertIn("SO(3)", text)
        self.assertNotIn("SE(2)", text)
        self.assertIn("| 3 |", self.printed("--groups", "se2", "--seeds", "0", "1", "2")[1])

    def test_a_training_without_its_audit_is_left_out(self):
        self.nine()
        (self.folder / "paper-se2-G-8.json").unlink()
        self.assertIn("| SE(2) | G | 33,384 | 8 |", self.printed()[1])


if __name__ == "__main__":
    unittest.main()
