"""The layer check itself: a good tree passes, and every kind of fault fails."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

TOOL = pathlib.Path(__file__).resolve().parents[2] / "tools" / "check_layers.py"
sys.path.insert(0, str(TOOL.parent))
from check_layers import BELOW, KINDS  # noqa: E402

GOOD = {
    "src/weyl/core/check.h": "#pragma once\n#include <string>\n",
    "src/weyl/core/segments.h": '#include <ATen/core/Tensor.h>\n#include "weyl/core/check.h"\n',
    "src/weyl/config/fields.h": '#include "weyl/core/check.h"\n',
    "src/weyl/config/toml.cpp": "#include <toml++/toml.h>\n",
    "src/weyl/kernels/CMakeLists.txt": "set(vector_kernels\n  attend.cpp frames/norm.cpp)\n",
    "src/weyl/kernels/attend.cpp": '#include "weyl/kernels/attend.h"\n#include <type_traits>\n',
    "src/weyl/kernels/attend.h": "#include <cstdint>\n",
    "src/weyl/kernels/frames/norm.cpp": "#include <immintrin.h>\n",
    "src/weyl/kernels/plan.cpp": "#include <vector>\n",
    "src/weyl/ops/autograd/differentiable.cpp": "#include <torch/csrc/autograd/custom_function.h>\n",
    "src/weyl/data/containers/npy.cpp": '#include "weyl/core/check.h"\n',
    "src/weyl/models/options.h": '#include "weyl/models/platonic/options.h"\n#include "weyl/models/gatr/options.h"\n',
    "src/weyl/models/platonic/options.h": '#include "weyl/config/fields.h"\n',
    "src/weyl/models/gatr/options.h": '#include "weyl/config/fields.h"\n',
    "src/weyl/models/platonic/block.h": '#include "weyl/models/platonic/options.h"\n#include <ATen/ops/cat.h>\n',
    "src/weyl/app/terminal/log.cpp": "#include <spdlog/spdlog.h>\n",
    "src/weyl/app/cli/command_line.cpp": "#include <CLI/CLI.hpp>\n",
    "src/weyl/app/cli/verb_tree.cpp": "#include <CLI/CLI.hpp>\n",
    "src/weyl/torch_headers.h": "#include <ATen/core/Tensor.h>\n",
}

# Every edge is used.
for folder, below in BELOW.items():
    GOOD[f"src/weyl/{folder}/floor.h"] = "".join(f'#include "weyl/{other}/floor.h"\n' for other in below)

for kind, others in KINDS.items():
    GOOD[f"src/weyl/data/{kind}/kind.h"] = "".join(f'#include "weyl/data/{other}/kind.h"\n' for other in others)

# What is added or replaced, and what the message must hold.
FAULTS = [
    ("an upward include", {"src/weyl/core/bad.h": '\n#include "weyl/config/fields.h"\n'},
     "src/weyl/core/bad.h:2: core may include nothing else, got weyl/config/fields.h"),
    ("a model that opens data", {"src/weyl/models/bad.cpp": '#include "weyl/data/floor.h"\n'}, "models may include"),
    ("a task that opens data", {"src/weyl/tasks/bad.cpp": '#include "weyl/data/floor.h"\n'}, "tasks may include"),
    ("an edge that nobody uses", {"src/weyl/config/floor.h": "#pragma once\n", "src/weyl/config/fields.h": "#pragma once\n"},
     "no file of config includes core: take the edge out"),
    ("a missing header", {"src/weyl/core/bad.h": '#include "weyl/core/absent.h"\n'}, "does not exist"),
    ("torch in a kernel", {"src/weyl/kernels/bad.cpp": "#include <ATen/core/Tensor.h>\n"}, "must not reach torch"),
    ("torch in a kernel, through a header", {"src/weyl/kernels/bad.cpp": '#include "weyl/core/segments.h"\n'},
     "weyl/core/segments.h -> ATen/core/Tensor.h"),
    ("<cmath> for an instruction set", {"src/weyl/kernels/attend.cpp": "#include <cmath>\n"},
     "src/weyl/kernels/attend.cpp:1: is compiled once for each instruction set"),
    ("<cmath> for an instruction set, through a header",
     {"src/weyl/kernels/frames/norm.cpp": '#include "weyl/kernels/attend.h"\n',
      "src/weyl/kernels/attend.cpp": "", "src/weyl/kernels/attend.h": '#include "weyl/algebra/exact.h"\n',
      "src/weyl/algebra/exact.h": "#include <cmath>\n"},
     "got: weyl/kernels/attend.h -> weyl/algebra/exact.h -> cmath"),
    ("a listed kernel that does not exist", {"src/weyl/kernels/CMakeLists.txt": "set(vector_kernels absent.cpp)\n"},
     "lists kernels/absent.cpp, which does not exist"),
    ("no list of kernels", {"src/weyl/kernels/CMakeLists.txt": "\n"}, "must hold the list vector_kernels"),
    ("a local name twice in a folder",
     {"src/weyl/core/bad.cpp": "namespace weyl {\nnamespace {\n\nint64_t rows(int x) {\n  return x;\n}\n\n}  // namespace\n}\n",
      "src/weyl/core/worse.cpp": "namespace weyl {\nnamespace {\n\nconstexpr int rows = 3;\n\n}  // namespace\n}\n"},
     "src/weyl/core/worse.cpp:1: defines rows for itself as bad.cpp does"),
    ("torch in config", {"src/weyl/config/bad.cpp": "#include <c10/util/Half.h>\n"}, "must not reach torch"),
    ("torch in a container", {"src/weyl/data/containers/bad.cpp": "#include <torch/script.h>\n"}, "must not reach torch"),
    ("torch in options", {"src/weyl/tasks/options.h": '#include "weyl/core/segments.h"\n'}, "must not reach torch"),
    ("a kind of data that knows another", {"src/weyl/data/poses/bad.cpp": '#include "weyl/data/atoms/kind.h"\n'},
     "data/poses may include base, got weyl/data/atoms/kind.h"),
    ("a kind of data that knows the list", {"src/weyl/data/poses/bad.cpp": '#include "weyl/data/floor.h"\n'},
     "data/poses may include base, got weyl/data/floor.h"),
    ("a container that knows a kind", {"src/weyl/data/containers/bad.cpp": '#include "weyl/data/atoms/kind.h"\n'},
     "data/containers may include no other folder of data"),
    ("an edge between kinds that nobody uses", {"src/weyl/data/poses/kind.h": "#pragma once\n"},
     "no file of data/poses includes data/base: take the edge out"),
    ("a system that knows another", {"src/weyl/models/gatr/gatr.h": '#include "weyl/models/platonic/block.h"\n'},
     "know all systems"),
    ("a model that knows the app", {"src/weyl/models/bad.cpp": '#include "weyl/app/terminal/log.h"\n',
                                    "src/weyl/app/terminal/log.h": ""}, "models may include"),
    ("torch/torch.h", {"src/weyl/ops/bad.cpp": "#include <torch/torch.h>\n"}, "may stand nowhere"),
    ("torch/nn", {"src/weyl/ops/bad.cpp": "#include <torch/nn/module.h>\n"}, "may stand nowhere"),
    ("ATen/Functions.h", {"src/weyl/ops/bad.cpp": "#include <ATen/Functions.h>\n"}, "may stand nowhere"),
    ("torch/torch.h in a test", {"tests/bad_test.cpp": "#include <torch/torch.h>\n"}, "tests/bad_test.cpp:1"),
    ("a second reader of TOML", {"src/weyl/config/bad.cpp": "#include <toml++/toml.h>\n"}, "may stand in config/toml.cpp"),
    ("a second custom Function", {"src/weyl/ops/bad.cpp": "#include <torch/csrc/autograd/custom_function.h>\n"},
     "may stand in ops/autograd/differentiable.cpp"),
    ("a second command line", {"src/weyl/app/bad.cpp": "#include <CLI/CLI.hpp>\n"}, "may stand in app/cli/arguments.cpp"),
    ("CLI11 in a header", {"src/weyl/app/cli/verb_tree.h": "#include <CLI/CLI.hpp>\n"}, "may stand in app/cli/arguments.cpp"),
    ("spdlog in a header", {"src/weyl/app/bad.h": "#include <spdlog/spdlog.h>\n"}, "may stand in .cpp files only"),
    ("spdlog beside torch", {"src/weyl/app/bad.cpp": '#include <spdlog/spdlog.h>\n#include "weyl/core/segments.h"\n'},
     "reaches torch"),
    ("a circle", {"src/weyl/core/a.h": '#include "weyl/core/b.h"\n', "src/weyl/core/b.h": '#include "weyl/core/a.h"\n'},
     "in a circle: core/a.h -> core/b.h -> core/a.h"),
    ("a header by a relative path", {"src/weyl/core/bad.cpp": '#include "../data/floor.h"\n'},
     'src/weyl/core/bad.cpp:1: headers of the project are included as weyl/..., got "../data/floor.h"'),
    ("a vague name", {"src/weyl/core/string_utils.h": ""}, "says nothing"),
    ("a vague folder", {"src/weyl/app/common/x.h": ""}, "says nothing"),
    ("a folder without a floor", {"src/weyl/attic/x.h": ""}, "has no floor"),
    ("a long file", {"src/weyl/core/long.cpp": "int x;\n" * 801}, "at most 800 lines"),
]


def check(files):
    with tempfile.TemporaryDirectory() as root:
        for name, content in files.items():
            path = pathlib.Path(root) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)
        done = subprocess.run([sys.executable, str(TOOL), root], capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


class CheckLayers(unittest.TestCase):
    def test_a_good_tree_passes(self):
        code, said = check(GOOD)
        self.assertEqual(code, 0, said)

    def test_every_fault_fails(self):
        for what, change, message in FAULTS:
            with self.subTest(what):
                code, said = check({**GOOD, **change})
                self.assertEqual(code, 1, said)
                self.assertIn(message, said)
                self.assertEqual(len([line for line in said.splitlines() if line.strip()]), 1, said)

    def test_long_functions_are_listed_and_no_fault(self):
        body = "  f();\n" * 80
        for what, code in [("a function", "int f() {\n" + body + "}\n"),
                           ("a function in a namespace", "namespace weyl {\nint f(\n    int x) {\n" + body + "}\n}\n"),
                           ("a member of a class", "namespace weyl {\nclass A {\n  int f() const {\n" + body + "  }\n};\n}\n")]:
            with self.subTest(what):
                status, said = check({**GOOD, "src/weyl/core/long.cpp": code})
                self.assertEqual(status, 0, said)
                self.assertRegex(said, r"src/weyl/core/long.cpp:\d: a function of 8\d lines")
        self.assertNotIn("a function of", check({**GOOD, "src/weyl/core/list.cpp": "int a[] = {\n" + "  1,\n" * 90 + "};\n"})[1])

    def test_an_empty_tree_fails(self):
        self.assertEqual(check({})[0], 1)


if __name__ == "__main__":
    unittest.main()
