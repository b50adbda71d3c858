"""The check of RUNPATHs itself: a good file passes, and every fault fails."""

import importlib.util
import pathlib
import subprocess
import sys
import tempfile
import unittest

TOOL = pathlib.Path(__file__).resolve().parents[2] / "tools" / "check_elf.py"
SPEC = importlib.util.spec_from_file_location("check_elf", TOOL)
check_elf = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(check_elf)

GOOD = """
Elf file type is DYN (Position-Independent Executable file)
  GNU_STACK      0x000000 0x0000000000000000 0x0000000000000000 0x000000 0x000000 RW  0x10
  GNU_RELRO      0x00a988 0x000000000000a988 0x000000000000a988 0x000678 0x000678 R   0x1
      [Requesting program interpreter: /lib64/ld-linux-x86-64.so.2]
 0x0000000000000001 (NEEDED)             Shared library: [libweyl_base.so]
 0x000000000000001d (RUNPATH)            Library runpath: [$ORIGIN/../lib:$ORIGIN:/opt/torch/lib]
 0x000000006ffffffb (FLAGS_1)            Flags: NOW PIE
     6: 0000000000000000     0 FUNC    GLOBAL DEFAULT  UND __stack_chk_fail@GLIBC_2.4 (4)
     7: 0000000000000000     0 FUNC    GLOBAL DEFAULT  UND __snprintf_chk@GLIBC_2.3.4 (5)
     8: 0000000000000000     0 FUNC    GLOBAL DEFAULT  UND vsnprintf@GLIBC_2.2.5 (6)
     9: 0000000000004010    40 FUNC    GLOBAL DEFAULT   14 own_chk
"""

# What is put in the place of what, and what the message must hold.
RUNPATH = "$ORIGIN/../lib:$ORIGIN:/opt/torch/lib"
FAULTS = [
    ("no entry", RUNPATH, "", "empty entry"),
    ("an empty entry at the end", RUNPATH, "$ORIGIN/../lib:", "empty entry"),
    ("an empty entry at the beginning", RUNPATH, ":/opt/torch/lib", "empty entry"),
    ("an empty entry between", RUNPATH, "$ORIGIN::/opt/torch/lib", "empty entry"),
    ("the current folder", RUNPATH, "$ORIGIN:.", "entry . is relative"),
    ("a folder below it", RUNPATH, "lib:$ORIGIN", "entry lib is relative"),
    ("a folder above it", RUNPATH, "../lib:$ORIGIN", "entry ../lib is relative"),
    ("a word that begins like $ORIGIN", RUNPATH, "$ORIGINAL/lib", "entry $ORIGINAL/lib is relative"),
    ("RPATH, RUNPATH's older name", "(RUNPATH)            Library runpath: [" + RUNPATH,
     "(RPATH)              Library rpath: [lib", "RPATH entry lib is relative"),
    ("a library by a path", "[libweyl_base.so]", "[lib/libweyl_base.so]", "needs lib/libweyl_base.so"),
    ("a loader by a path", "/lib64/ld-linux", "ld-linux", "is loaded by ld-linux"),
    ("a folder of a checkout", "/opt/torch/lib", "/home/me/weyl/lib", "may be moved"),
    ("the checkout itself", "/opt/torch/lib", "/home/me/x/../weyl", "may be moved"),
    ("a fixed place", "DYN (Pos", "EXEC (Exe", "position-independent"),
    ("no RELRO", "GNU_RELRO", "LOAD", "RELRO"),
    ("partial RELRO", "NOW PIE", "PIE", "RELRO"),
    ("an executable stack", "RW  0x10", "RWE 0x10", "executable stack"),
    ("no guard on the stack", "__stack_chk_fail@", "__stack_chk_fails@", "no guard on its stack"),
    ("no checked call", "__snprintf_chk@", "snprintf@", "calls the C library unchecked"),
]


def check(said, *options, readelf=None):
    """The tool on one file of which a made-up readelf says this."""
    with tempfile.TemporaryDirectory() as folder:
        made_up = pathlib.Path(folder) / "readelf"
        made_up.write_text(f"#!{sys.executable}\nprint({said!r})\n")
        made_up.chmod(0o755)
        file = pathlib.Path(folder) / "files" / "libx.so"
        file.parent.mkdir()
        file.write_bytes(b"\x7fELF")
        done = subprocess.run([sys.executable, str(TOOL), "--readelf", readelf or str(made_up), *options, str(file.parent)],
                              capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


class CheckElf(unittest.TestCase):
    options = ("--hardened", "--fortified", "--outside", "/home/me/weyl")

    def test_a_good_file_passes(self):
        code, said = check(GOOD, *self.options)
        self.assertEqual(code, 0, said)

    def test_a_bad_file_is_one_line(self):
        code, said = check(GOOD.replace(RUNPATH, "$ORIGIN::::"), *self.options)
        self.assertEqual(code, 1, said)
        self.assertEqual(len(said.splitlines()), 1, said)

    def test_every_fault_fails(self):
        for what, before, after, message in FAULTS:
            with self.subTest(what):
                self.assertIn(before, GOOD)
                found = set(check_elf.faults(GOOD.replace(before, after), ["/home/me/weyl"], [],
                                             hardened=True, fortified=True))
                self.assertEqual(len(found), 1, found)
                self.assertIn(message, found.pop())

    def test_a_file_that_formats_nothing_needs_no_checked_call(self):
        code, said = check(GOOD.replace("__snprintf_chk", "memcpy").replace("vsnprintf", "memmove"), *self.options)
        self.assertEqual(code, 0, said)

    def test_a_folder_that_the_install_was_told_passes(self):
        said = GOOD.replace("/opt/torch/lib", "/home/me/weyl/torch/lib")
        self.assertEqual(check(said, *self.options, "--but", "/home/me/weyl/torch/lib")[0], 0)
        self.assertEqual(check(said, *self.options, "--but", "/home/me/weyl/torch")[0], 1)

    def test_a_folder_without_programs_is_an_error(self):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "notes.txt").write_text("no program")
            done = subprocess.run([sys.executable, str(TOOL), folder], capture_output=True, text=True)
        self.assertEqual(done.returncode, 2, done.stderr)

    def test_a_missing_readelf_is_an_error(self):
        code, said = check(GOOD, readelf="/nowhere/readelf")
        self.assertEqual(code, 2, said)
        self.assertIn("/nowhere/readelf must run", said)


if __name__ == "__main__":
    unittest.main()
