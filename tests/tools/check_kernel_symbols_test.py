"""The symbol check itself: a good object passes, and every symbol that could be linked for another set fails."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

TOOL = pathlib.Path(__file__).resolve().parents[2] / "tools" / "check_kernel_symbols.py"

TABLE = "_ZN4weyl7kernels8compiledINS0_10VectorNormIfEELNS0_14InstructionSetE{}EEERKT_v"
GOOD = [
    "0000000000000000 T " + TABLE.format(1),
    "0000000000000000 W _ZN4weyl7kernels2v33lie3SO33logIfEENS2_6VectorIT_Li3EEERKNS4_IS5_Li4EEE",
    "0000000000000000 W _ZNK4weyl7kernels2v36PackedIfE1fEv",
    "0000000000000000 u _ZN4weyl7kernels2v33lie11norm_tablesE",
    "0000000000000000 u _ZZN4weyl7kernels2v33lie16factorial_seriesILi1ELi5EfEET1_RKS3_E5table",
    "0000000000000000 V _ZGVZN4weyl7kernels2v31fEvE1x",
    "0000000000000010 t _ZN4weyl7kernels2v312_GLOBAL__N_17forwardIfEEvv",
    "0000000000000000 r .LC0",
    "                 U " + TABLE.replace("10VectorNorm", "8LieTiles").format(1),
    "                 U memcpy",
    "                 U logf",
    "                 w __gmon_start__",
]

# What is added to the good object, and what the message must hold.
FAULTS = [
    ("a template of the standard library", "0000000000000000 W _ZSt3maxIfERKT_S2_S2_", "_ZSt3maxIfERKT_S2_S2_"),
    ("a member of a class of the standard library", "0000000000000000 W _ZNSt6vectorIfSaIfEED2Ev", "outside"),
    ("a function of another set", "0000000000000000 W _ZN4weyl7kernels2v43lie3SO33logIfEEvv", "outside"),
    ("a function of a namespace that begins alike", "0000000000000000 W _ZN4weyl7kernels3v331fEv", "outside"),
    ("a function of all sets", "0000000000000000 W _ZNK4weyl7kernels8HeadRowsIfE2atEll", "outside"),
    ("a shared table of numbers", "0000000000000000 u _ZN4weyl10lie_tables4aff2E", "outside"),
    ("a function that is no table", "0000000000000000 T _ZN4weyl7kernels2v39fill_tileIfEEvv", "no table of v3"),
    ("a table of another set", "0000000000000000 T " + TABLE.format(2), "no table of v3"),
    ("a variable", "0000000000000000 B _ZN4weyl7kernels2v35countE", "no table of v3"),
    ("a call of another file's function", "                 U _ZN4weyl7kernels15instruction_setEv", "takes"),
    ("a call of another set's table", "                 U " + TABLE.format(0), "takes"),
]


def check(symbols, isa="v3", nm=None):
    """The tool on one object whose symbols a made-up nm prints."""
    with tempfile.TemporaryDirectory() as folder:
        made_up = pathlib.Path(folder) / "nm"
        made_up.write_text(f"#!{sys.executable}\nprint({chr(10).join(symbols)!r})\n")
        made_up.chmod(0o755)
        done = subprocess.run([sys.executable, str(TOOL), "--nm", nm or str(made_up), isa, "norm.o"],
                              capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


class CheckKernelSymbols(unittest.TestCase):
    def test_a_good_object_passes(self):
        code, said = check(GOOD)
        self.assertEqual(code, 0, said)

    def test_every_fault_fails(self):
        for what, symbol, message in FAULTS:
            with self.subTest(what):
                code, said = check(GOOD + [symbol])
                self.assertEqual(code, 1, said)
                self.assertIn(message, said)
                self.assertEqual(len(said.splitlines()), 1, said)

    def test_the_object_of_another_set_fails(self):
        self.assertEqual(check(GOOD, isa="v4")[0], 1)

    def test_an_object_without_a_table_fails(self):
        code, said = check(GOOD[1:])
        self.assertEqual(code, 1, said)
        self.assertIn("defines no table", said)

    def test_a_missing_nm_is_an_error(self):
        code, said = check(GOOD, nm="/nowhere/nm")
        self.assertEqual(code, 2, said)
        self.assertIn("/nowhere/nm must run", said)


if __name__ == "__main__":
    unittest.main()
