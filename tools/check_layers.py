#!/usr/bin/env python3
"""Checks the floors of src/weyl: which folder may include which, and where third-party headers may stand.

    tools/check_layers.py [ROOT]      one line for each fault, exit 1 when there is any

The edges are explicit: a new folder, or a new edge, is added here on purpose or not at all, and one that no file
uses any more is taken out.
"""

import pathlib
import re
import sys

# Folder -> the folders of which its files may include headers, besides its own.
BELOW = {
    "core": [],
    "parallel": ["core"],
    "config": ["core"],
    "algebra": ["core"],
    "kernels": ["core", "algebra"],
    "carriers": ["core", "config", "algebra"],
    "dynamics": ["core", "algebra"],
    "ops": ["core", "parallel", "algebra", "kernels"],
    "nn": ["core", "parallel", "ops"],
    "models": ["core", "config", "algebra", "kernels", "carriers", "ops", "nn"],
    "tasks": ["core", "parallel", "config", "algebra", "carriers", "ops", "nn", "models"],
    "saved": ["core", "parallel", "config", "carriers", "models", "tasks"],
    "engine": ["core", "carriers", "saved"],
    "data": ["core", "config", "algebra", "carriers"],
    "makers": ["core", "config", "algebra", "carriers", "data", "dynamics"],
    "train": ["core", "parallel", "config", "carriers", "data", "ops", "nn", "models", "tasks", "saved"],
    "predict": ["core", "parallel", "config", "carriers", "data", "tasks", "saved", "train"],
    "study": ["core", "parallel", "config", "carriers", "data", "ops", "models", "tasks", "saved", "train", "predict"],
    "app": ["core", "parallel", "config", "algebra", "carriers", "data", "makers", "models", "tasks", "saved", "train", "predict", "study"],
}

# Folders of data/ -> the folders of data/ that they may include, besides their own. Files of data/ itself, the list over
# the kinds, may include all. A kind is a folder; what joins two of them is said here.
KINDS = {
    "containers": [],
    "base": [],
    "atoms": ["base", "containers"],
    "bodies": ["base", "clouds"],  # meshes
    "clouds": ["base", "containers", "atoms", "images"],  # .npz files that are no frames and no digits
    "images": ["base", "containers", "volumes"],  # predictions, which are written as either
    "particles": ["base", "containers"],
    "poses": ["base"],
    "tensors": ["base", "containers", "poses"],  # sequences with a missing pose are tensor files
    "volumes": ["base", "containers"],
}

# A system of models/ is a folder of its own; only these files of models/ know all systems.
KNOW_ALL_SYSTEMS = ["models/options.h", "models/options.cpp", "models/systems.h", "models/systems.cpp"]

# Nothing here may reach torch, not even through another header: these files go to the library without torch.
TORCH_FREE_FOLDERS = ["kernels", "config", "data/containers", "makers"]
TORCH_FREE_NAMES = ["options.h", "options.cpp", "files.h"]
TORCH = re.compile(r"^(torch|ATen|c10|caffe2)/")

# Kernel files that are compiled once for each instruction set, by the list `vector_kernels` of this file. Nothing of the
# standard library may run in them: the linker keeps one copy of a template, whichever set it was compiled for. Besides
# headers of the project, which may reach no others either, they include what holds types and constants alone.
KERNEL_LIST = "kernels/CMakeLists.txt"
KERNEL_HEADERS = {"cstddef", "cstdint", "immintrin.h", "type_traits"}

# Headers that cost too much, or that hide what a file uses (see docs/adr): nowhere in the tree.
BANNED = re.compile(r"^(torch/(torch|all)\.h|torch/nn[/.].*|torch/extension\.h)$")
# In src/ operators come one by one.
BANNED_IN_SRC = re.compile(r"^(ATen/(ATen|Functions|NativeFunctions)\.h)$")

# Headers that stand in one file each, or in the files of one concept.
ONE_HOME = [
    (re.compile(r"^CLI/"), ["app/cli/arguments.cpp", "app/cli/command_line.cpp", "app/cli/verb_tree.cpp", "app/verbs/completion.cpp"]),
    (re.compile(r"^toml\+\+/|^toml\.hpp$"), ["config/toml.cpp"]),
    (re.compile(r"^dlfcn\.h$"), ["core/module.cpp", "makers/molecules/xtb.cpp", "parallel/device.cpp", "app/engine.cpp", "engine/loaded_torch.cpp"]),
    (re.compile(r"^(hdf5|hdf5_hl|H5\w+)\.h$"), ["data/clouds/hdf5_module.cpp"]),
    (re.compile(r"^(zip|archive|archive_entry)\.h$"), ["data/containers/archives_module.cpp"]),
    (re.compile(r"^ft2build\.h$|^freetype/"), ["makers/images/glyphs.cpp"]),
    (re.compile(r"^(GraphMol|ForceField|DistGeom|RDGeneral)/"), ["makers/molecules/rdkit_module.cpp"]),
    (re.compile(r"^Bullet(Collision|Dynamics)/|^btBullet|^LinearMath/"), ["makers/bodies/bullet_module.cpp"]),
    (re.compile(r"^torch/csrc/autograd/(custom_function|function)\.h$"), ["ops/autograd/differentiable.cpp", "ops/autograd/recompute.cpp"]),
]
# Only in .cpp files that do not reach torch.
QUIET = re.compile(r"^(spdlog|fmt)/")

# What opens a block that functions stand in.
CONTAINER = re.compile(r"^(template\s*<.*>\s*)?(inline\s+)?(namespace|class|struct|union|enum|extern \"C\")\b")
# Texts and comments, whose brackets are none of the code.
NO_CODE = re.compile(r'R"\w*\(.*?\)\w*"|"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])\'|//[^\n]*', re.DOTALL)

VAGUE = {"utils", "util", "common", "misc", "helpers", "helper"}
LONGEST = 800
LONGEST_FUNCTION = 80

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def includes_of(path):
    """(line number, header) of each include; one in quotes that is none of the project's keeps its first quote."""
    found = []
    for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
        match = INCLUDE.match(line)
        if match:
            quoted = match.group(1) == '"' and not match.group(2).startswith("weyl/")
            found.append((number, ('"' if quoted else "") + match.group(2)))
    return found


def system_of(name):
    """models/platonic/position_encoding.h -> platonic; models/model.h -> None."""
    parts = name.split("/")
    return parts[1] if len(parts) > 2 and parts[0] == "models" else None


def is_torch_free(name):
    return any(name.startswith(folder + "/") for folder in TORCH_FREE_FOLDERS) or name.split("/")[-1] in TORCH_FREE_NAMES


# What a file defines for itself, at the first column inside `namespace {`: types, functions, constants.
LOCAL_SPACE = re.compile(r"^namespace \{$(.*?)^\}  // namespace$", re.MULTILINE | re.DOTALL)
LOCAL_NAMES = [
    re.compile(r"^(?:class|struct|enum class|enum|using) (\w+)(?: =|;| :| \{|$)", re.MULTILINE),
    re.compile(r"^(?!class |struct |enum |using |template |return |namespace |}|#|/|static_assert)\w[^(=;{\n]*?[\s&*](\w+)(?:\(|\[|\{| =|;|$)", re.MULTILINE),
]


def local_names(text):
    """Names that the unnamed namespace of a file defines."""
    names = set()
    for space in LOCAL_SPACE.findall(text):
        for pattern in LOCAL_NAMES:
            names.update(pattern.findall(space))
    return names


class Tree:
    def __init__(self, root):
        self.root = pathlib.Path(root)
        self.src = self.root / "src" / "weyl"
        self.files = {}
        for path in sorted(self.src.rglob("*")):
            if path.suffix in (".h", ".cpp", ".cu", ".cuh"):
                self.files[path.relative_to(self.src).as_posix()] = includes_of(path)
        self.faults = []

    def fault(self, name, line, text):
        self.faults.append(f"src/weyl/{name}:{line}: {text}")

    def path_to(self, name, wanted, seen=None):
        """The chain of headers from `name` to one outside the project for which `wanted` holds, or None."""
        seen = set() if seen is None else seen
        if name in seen:
            return None
        seen.add(name)
        for _, header in self.files.get(name, []):
            if header.startswith("weyl/"):
                rest = self.path_to(header[5:], wanted, seen)
                if rest:
                    return [header] + rest
            elif wanted(header):
                return [header]
        return None

    def path_to_torch(self, name):
        return self.path_to(name, TORCH.match)

    def vector_kernels(self):
        path = self.src / KERNEL_LIST
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        found = re.search(r"^set\(vector_kernels\s([^)]*)\)", text, re.MULTILINE)
        if not found:
            self.fault(KERNEL_LIST, 1, "must hold the list vector_kernels")
            return []
        return ["kernels/" + name for name in found.group(1).split()]

    def check_vector_kernels(self, vector_kernels):
        for name in vector_kernels:
            if name not in self.files:
                self.fault(KERNEL_LIST, 1, f"lists {name}, which does not exist")
            way = self.path_to(name, lambda header: header not in KERNEL_HEADERS)
            if way:
                allowed = ", ".join(f"<{header}>" for header in sorted(KERNEL_HEADERS))
                self.fault(name, 1, f"is compiled once for each instruction set and may include headers of the project "
                                    f"and {allowed}, got: " + " -> ".join(way))

    def check_edge(self, name, line, target):
        # weyl/program.h, the program as a function, is defined in app/; it is installed, app/ is not.
        folder, other = name.split("/")[0], target.split("/")[0] if "/" in target else "app"
        if target not in self.files:
            self.fault(name, line, f"includes weyl/{target}, which does not exist")
            return
        if folder == other == "data" and name.count("/") > 1:
            kind, wanted = name.split("/")[1], target.split("/")[1] if target.count("/") > 1 else "the list over the kinds"
            if wanted != kind and wanted not in KINDS.get(kind, []):
                allowed = ", ".join(KINDS.get(kind, [])) or "no other folder of data"
                self.fault(name, line, f"data/{kind} may include {allowed}, got weyl/{target}")
        if other != folder and other not in BELOW[folder]:
            allowed = ", ".join(BELOW[folder]) or "nothing else"
            self.fault(name, line, f"{folder} may include {allowed}, got weyl/{target}")
        system = system_of(target)
        if system and folder == "models" and system_of(name) != system and name not in KNOW_ALL_SYSTEMS:
            self.fault(name, line, f"only models/options and models/systems know all systems, got weyl/{target}")

    def check_third_party(self, name, line, header):
        if header.startswith('"'):
            self.fault(name, line, f"headers of the project are included as weyl/..., got {header}\"")
            return
        if BANNED.match(header) or BANNED_IN_SRC.match(header):
            self.fault(name, line, f"<{header}> may stand nowhere in src/: include the operators used one by one")
        for pattern, homes in ONE_HOME:
            if pattern.match(header) and name not in homes:
                self.fault(name, line, f"<{header}> may stand in {', '.join(homes)} only")
        if QUIET.match(header):
            if not name.endswith(".cpp"):
                self.fault(name, line, f"<{header}> may stand in .cpp files only")
            elif self.path_to_torch(name):
                self.fault(name, line, f"<{header}> may not stand in a file that reaches torch: torch ships another fmt")

    def check_local_names(self, vector_kernels):
        """Files of a folder are compiled together, so that a name means one thing in all of them: two functions of one
        name would be overloads of each other. Vector kernels are compiled alone."""
        alone, known = set(vector_kernels), {}
        for name in self.files:
            if name.endswith(".cpp") and name not in alone:
                for local in local_names((self.src / name).read_text(encoding="utf-8", errors="replace")):
                    known.setdefault((name.rpartition("/")[0], local), []).append(name)
        for (_, local), names in sorted(known.items()):
            for name in names[1:]:
                self.fault(name, 1, f"defines {local} for itself as {names[0].split('/')[-1]} does, with which it is compiled: "
                                    "give one another name")

    def long_functions(self):
        """(file, line, lines) of the functions of more than LONGEST_FUNCTION lines, which are listed and no fault."""
        found = []
        for name in self.files:
            text = (self.src / name).read_text(encoding="utf-8", errors="replace")
            code = NO_CODE.sub(lambda match: "\n" * match.group().count("\n"), text)
            code = re.sub(r"^\s*#[^\n]*", "", code, flags=re.MULTILINE)
            blocks, statement, line, begin = [], "", 1, 1  # open blocks: the line of a function, or None
            for c in code:
                if c == "\n":
                    line += 1
                if c == "{":
                    inside = any(block is not None for block in blocks)
                    function = not inside and not CONTAINER.match(statement.strip()) and "(" in statement
                    blocks.append(begin if function else None)
                elif c == "}" and blocks:
                    block = blocks.pop()
                    if block is not None and line - block + 1 > LONGEST_FUNCTION:
                        found.append((name, block, line - block + 1))
                if c in "{};":
                    statement = ""
                else:
                    if not statement.strip() and not c.isspace():
                        begin = line
                    statement += c
        return found

    def check_unused_edges(self):
        used = {(name.split("/")[0], header[5:].split("/")[0])
                for name, includes in self.files.items() for _, header in includes if header.startswith("weyl/")}
        for folder, below in BELOW.items():
            for other in below:
                if (folder, other) not in used:
                    self.faults.append(f"tools/check_layers.py:1: no file of {folder} includes {other}: take the edge out")
        for kind in KINDS:
            reached, todo = set(), list(KINDS[kind])
            while todo:
                other = todo.pop()
                if other not in reached:
                    reached.add(other)
                    todo += KINDS[other]
            if kind in reached:
                self.faults.append(f"tools/check_layers.py:1: folders of data include each other in a circle, by {kind}")
        inside = {(name.split("/")[1], header.split("/")[2]) for name, includes in self.files.items() for _, header in includes
                  if name.startswith("data/") and name.count("/") > 1 and header.startswith("weyl/data/")}
        for kind, others in KINDS.items():
            for other in others:
                if (kind, other) not in inside:
                    self.faults.append(f"tools/check_layers.py:1: no file of data/{kind} includes data/{other}: take the edge out")

    def check_cycles(self):
        state = {}

        def visit(name, trail):
            state[name] = "open"
            for line, header in self.files[name]:
                target = header[5:] if header.startswith("weyl/") else None
                if target not in self.files:
                    continue
                if state.get(target) == "open":
                    circle = " -> ".join(trail[trail.index(target):] + [target])
                    self.fault(name, line, f"headers include each other in a circle: {circle}")
                elif target not in state:
                    visit(target, trail + [target])
            state[name] = "done"

        for name in self.files:
            if name not in state:
                visit(name, [name])

    def check(self):
        if not self.files:
            self.faults.append(f"{self.src}: holds no source files")
        for name, includes in self.files.items():
            folder = name.split("/")[0]
            if "/" in name and folder not in BELOW:
                self.fault(name, 1, f"folder {folder} has no floor: add it to tools/check_layers.py")
                continue
            vague = VAGUE.intersection(re.split(r"[/._]", name))
            if vague and "/declarations/" not in name:  # there another library's names stand
                self.fault(name, 1, f"'{vague.pop()}' says nothing: name it with the field's word")
            lines = len((self.src / name).read_text(encoding="utf-8", errors="replace").splitlines())
            if lines > LONGEST:
                self.fault(name, lines, f"a file has at most {LONGEST} lines, got {lines}")
            for line, header in includes:
                if header.startswith("weyl/"):
                    if "/" in name:  # torch_headers.h itself, the precompiled header, stands on no floor
                        self.check_edge(name, line, header[5:])
                elif "/" in name:
                    self.check_third_party(name, line, header)
            if is_torch_free(name):
                way = self.path_to_torch(name)
                if way:
                    self.fault(name, 1, "must not reach torch, but does: " + " -> ".join(way))
        vector_kernels = self.vector_kernels()
        self.check_vector_kernels(vector_kernels)
        self.check_local_names(vector_kernels)
        self.check_unused_edges()
        self.check_cycles()
        for place in ("tests", "bench", "examples"):
            for path in sorted((self.root / place).rglob("*")):
                if path.suffix in (".h", ".cpp"):
                    for line, header in includes_of(path):
                        if BANNED.match(header):
                            where = path.relative_to(self.root).as_posix()
                            self.faults.append(f"{where}:{line}: <{header}> may stand nowhere in the tree")
        return self.faults


def main(arguments):
    if len(arguments) > 1 or (arguments and arguments[0].startswith("-")):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    root = arguments[0] if arguments else pathlib.Path(__file__).resolve().parent.parent
    tree = Tree(root)
    faults = tree.check()
    for fault in faults:
        print(fault)
    if not faults:
        print(f"check_layers: {len(tree.files)} files keep to their floors")
        for name, line, lines in tree.long_functions():
            print(f"src/weyl/{name}:{line}: a function of {lines} lines; about {LONGEST_FUNCTION} are enough")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
