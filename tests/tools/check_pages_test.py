"""The check of pages itself: what is right passes, each kind of fault is found, and what is no claim is left alone."""

import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

TOOL = pathlib.Path(__file__).resolve().parents[2] / "tools" / "check_pages.py"

OWNER = """# Owner

## First, table of `losses`

| a | 0.00465 |

### Below it

1,534 parameters, -1.3 %

## Second

0.5

<a id="third"></a>
Here 7 stands.
"""


class CheckPages(unittest.TestCase):
    def setUp(self):
        self.root = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.root)
        (self.root / "docs").mkdir()
        (self.root / "docs" / "owner.md").write_text(OWNER)
        source = self.root / "src" / "weyl" / "core" / "check.h"
        source.parent.mkdir(parents=True)
        source.write_text("")
        test = self.root / "tests" / "core" / "check_test.cpp"
        test.parent.mkdir(parents=True)
        test.write_text("TEST(Check, SaysWhereAndWhat) {\n}\n")

    def faults(self, text):
        (self.root / "README.md").write_text(text)
        done = subprocess.run([sys.executable, str(TOOL), "--root", str(self.root)], capture_output=True, text=True)
        self.assertEqual(done.stderr, "")
        lines = done.stdout.splitlines()
        self.assertEqual(done.returncode, 1 if len(lines) > 1 else 0)
        return lines[:-1]

    def test_links_files_and_figures_that_are_right(self):
        self.assertEqual(self.faults(
            "[page](docs/owner.md) [section](docs/owner.md#first-table-of-losses) [folder](docs) [web](https://a.b/c#d)\n"
            "[0.00465](docs/owner.md#first-table-of-losses) [1,534 and -1.3 %][o] [7](docs/owner.md#third) [up](#top)\n"
            "`core/check.h` `src/weyl/core/{check}.h` `data/mine.xyz` `runs/<name>.h` `torch/torch.h`\n\n# Top\n\n"
            "[o]: docs/owner.md#first-table-of-losses\n"), [])

    def test_a_page_that_is_not_there(self):
        self.assertEqual(self.faults("[page](docs/other.md)\n"), ["README.md:1: there is no docs/other.md"])

    def test_a_section_that_is_not_there(self):
        self.assertEqual(self.faults("\n[page](docs/owner.md#fourth)\n"),
                         ["README.md:2: docs/owner.md has no section #fourth"])

    def test_a_figure_that_its_owner_does_not_have(self):
        for text in ("0.00466", "0.00465 and 8"):
            found = self.faults(f"[{text}](docs/owner.md#first-table-of-losses)\n")
            self.assertEqual(len(found), 1, text)
            self.assertIn("must stand in docs/owner.md#first-table-of-losses", found[0])

    def test_a_figure_of_another_section(self):
        self.assertEqual(len(self.faults("[0.5](docs/owner.md#first-table-of-losses)\n")), 1)
        self.assertEqual(len(self.faults("[1,534][o]\n\n[o]: docs/owner.md#second\n")), 1)

    def test_a_reference_without_a_definition(self):
        self.assertEqual(self.faults("[0.5][o]\n"), ["README.md:1: [o] is defined nowhere on the page"])

    def test_a_file_that_is_not_there(self):
        self.assertEqual(self.faults("`core/chalk.h`, `core/{check,cheque}.h` and `scripts/none`\n"),
                         ["README.md:1: there is no file core/chalk.h", "README.md:1: there is no file core/cheque.h",
                          "README.md:1: there is no file scripts/none"])

    def test_names_of_tests(self):
        table = "| promise | test |\n|---|---|\n| `none.such` | %s |\n"
        good = ("`Check.SaysWhereAndWhat`", "`Check.*`, `SaysWhere...`", "`core.check`", "`tests/core/check_test.cpp`", "`weyl audit`")
        for cell in good:
            self.assertEqual(self.faults(table % cell), [], cell)
        for cell in ("`Check.SaysWhere`", "`Chek.*`", "`core.chek`", "`...Nothing`"):
            self.assertEqual(self.faults(table % cell), [f"README.md:3: there is no test {cell[1:-1]}"])
        self.assertEqual(self.faults("| a | b |\n|---|---|\n| `core.chek` | `Chek.No` |\n"), [])

    def test_what_stands_in_a_block_is_left(self):
        self.assertEqual(self.faults("```sh\n[a](b.md) `core/chalk.h`\n```\n"), [])


if __name__ == "__main__":
    unittest.main()
