#!/usr/bin/env python3
"""Checks what the pages (*.md, of git's files) say of one another and of the tree.

    tools/check_pages.py [--root DIR]

    links     a file that a page links to is there, and so is the heading or `<a id>` behind #
    figures   a link whose text begins with a number, [0.0047](page.md#section), quotes the page that owns it:
              every number of the text stands in that section
    files     a file of the tree that is named in `code` (.h, .cpp, .py, .cmake, scripts/..., configs/...) is there,
              whole or as the end of a path; {a,b} are both, and torch/... is LibTorch's
    tests     in a table's column `test` a name is that of a test: Suite.Name, Name or Suite, * or ... for a part of it,
              or CTest's, train.resume for tests/train/resume_test.cpp

Exit 1 when something is wrong, a line each. The words of a page are nobody's to check.
"""

import argparse
import pathlib
import re
import subprocess
import sys
import urllib.parse

LINK = re.compile(r"!?\[([^\]\[]+)\](?:\(([^)\s]+)\)|\[([\w-]+)\])")
DEFINITION = re.compile(r"^\[([\w-]+)\]:\s+(\S+)\s*$", re.M)
HEADING = re.compile(r"^(#{1,6})\s+(.*?)\s*$")
ANCHOR = re.compile(r'^<a id="([^"]+)"></a>')
FENCE = re.compile(r"^\s*```")
NUMBER = re.compile(r"[+-]?[\d.,]*\d(?:e[+-]?\d+)?")
CODE = re.compile(r"`([^`\n]+)`")
FILE = re.compile(r"(?<![\w/.:<>*-])(?!torch/)(?:(?:scripts|configs|tools|cmake)/[\w./{},-]*\w|[\w./{},-]+\.(?:h|cpp|py|cmake))(?![\w/<>*(])")


def prose(text):
    """The lines outside of fenced blocks; a line inside is empty."""
    inside, lines = False, []
    for line in text.splitlines():
        fence = bool(FENCE.match(line))
        lines.append("" if inside or fence else line)
        inside ^= fence
    return lines


def slug(heading):
    words = re.sub(r"[`*]|\[([^\]]*)\]\([^)]*\)", lambda m: m.group(1) or "", heading).lower()
    return re.sub(r"[^\w\- ]", "", words).replace(" ", "-")


def sections(text):
    """{anchor: text} of a page; "" is the whole. A section ends at the next heading of its level or above."""
    lines, starts, waiting = prose(text), [], []
    for number, line in enumerate(lines):
        anchor, heading = ANCHOR.match(line), HEADING.match(line)
        if anchor:
            waiting.append(anchor.group(1))
            if not line[anchor.end():].strip():
                continue
        if heading:
            starts.append((number, len(heading.group(1)), [slug(heading.group(2)), *waiting]))
            waiting = []
        elif line.strip() and waiting:      # an anchor in the middle of a section: to the next heading
            starts.append((number, 7, waiting))
            waiting = []
    found = {"": text}
    for index, (number, level, anchors) in enumerate(starts):
        end = next((n for n, other, _ in starts[index + 1:] if other <= level), len(lines))
        for anchor in anchors:
            found[anchor] = "\n".join(text.splitlines()[number:end])
    return found


def numbers_missing(quoted, owner):
    owned = set(NUMBER.findall(owner))
    return [number for number in NUMBER.findall(quoted) if number not in owned and number.lstrip("+-") not in owned]


def tests_of(root, files):
    """Names of all tests, as pages write them."""
    names = set()
    for file in files:
        if file.startswith("tests/") and re.search(r"\.(cpp|txt|cmake)$", file):
            text = (root / file).read_text(encoding="utf-8")
            for suite, name in re.findall(r"^(?:TYPED_)?TEST(?:_[FP])?\((\w+), (\w+)", text, re.M):
                names |= {suite, name, f"{suite}.{name}"}
            names |= set(re.findall(r"add_test\(NAME ([\w.]+)", text))
            names.add(re.sub(r"_test\.cpp$", "", file)[len("tests/"):].replace("/", "."))
    return names


def braces(word):
    match = re.search(r"\{([^{}]*)\}", word)
    if not match:
        return [word]
    return [whole for part in match.group(1).split(",") for whole in braces(word[:match.start()] + part + word[match.end():])]


class Checker:
    def __init__(self, root):
        self.root, self.faults, self.read = root, [], {}
        listed = subprocess.run(["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                                capture_output=True, text=True)
        if listed.returncode == 0:
            self.files = [name for name in listed.stdout.split("\0") if name and (root / name).exists()]
        else:
            self.files = [p.relative_to(root).as_posix() for p in root.rglob("*")
                          if p.is_file() and p.relative_to(root).parts[0] not in ("build", ".git", ".venv")]
        self.ends = {name[i:] for name in self.files for i in (0, *(m.end() for m in re.finditer("/", name)))}
        self.tests = tests_of(root, self.files)
        self.folders = {parent.as_posix() for name in self.files for parent in pathlib.PurePosixPath(name).parents}

    def sections_of(self, path):
        if path not in self.read:
            self.read[path] = sections((self.root / path).read_text(encoding="utf-8"))
        return self.read[path]

    def link(self, where, page, text, target):
        if re.match(r"[a-z]+:", target):
            return
        file, _, anchor = urllib.parse.unquote(target).partition("#")
        path = page if not file else pathlib.PurePosixPath(self.root.joinpath(page).parent.joinpath(file).resolve()
                                                           .relative_to(self.root)).as_posix()
        if path not in self.files and path not in self.folders:
            return self.faults.append(f"{where}: there is no {target}")
        if not path.endswith(".md") or path in self.folders:
            return
        found = self.sections_of(path)
        if anchor not in found:
            return self.faults.append(f"{where}: {path} has no section #{anchor}")
        if re.match(r"[+-]?\d", text):
            for number in numbers_missing(text, found[anchor]):
                self.faults.append(f"{where}: {number} must stand in {target}, which it quotes; it does not")

    def named_test(self, where, name):
        if not name.endswith((".cpp", ".h")) and re.fullmatch(r"[\w*]+(\.[\w*]+)*|[\w*.]*\.\.\.[\w*.]*", name):
            law = re.compile(re.escape(name).replace(re.escape("..."), ".*").replace(r"\*", ".*"))
            if not any(law.fullmatch(test) for test in self.tests):
                self.faults.append(f"{where}: there is no test {name}")

    def page(self, page):
        text = (self.root / page).read_text(encoding="utf-8")
        targets, column = dict(DEFINITION.findall(text)), None
        for number, line in enumerate(prose(text), 1):
            where = f"{page}:{number}"
            cells = [cell.strip() for cell in line.split("|")] if line.startswith("|") else []
            column = None if not cells else cells.index("test") if "test" in cells else column
            if column is not None and column < len(cells):
                for code in CODE.findall(cells[column]):
                    self.named_test(where, code)
            for match in LINK.finditer(line):
                target = match.group(2) or targets.get(match.group(3))
                if target:
                    self.link(where, page, match.group(1), target)
                elif not CODE.search(line):
                    self.faults.append(f"{where}: [{match.group(3)}] is defined nowhere on the page")
            for code in CODE.findall(line):
                for name in FILE.findall(code):
                    for file in braces(name):
                        if file not in self.ends and file not in self.folders:
                            self.faults.append(f"{where}: there is no file {file}")


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    checker = Checker(parser.parse_args(arguments).root.resolve())
    pages = [name for name in checker.files if name.endswith(".md") and not name.startswith("tests/") and name != "CHANGELOG.md"]
    for page in pages:
        checker.page(page)
    for line in checker.faults:
        print(line)
    print(f"check_pages: {len(pages)} pages, {len(checker.faults)} faults")
    return 1 if checker.faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
