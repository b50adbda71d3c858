#!/usr/bin/env python3
"""The Python package: predictions equal those of the program for every carrier, what is wrong is one line, the library is
found where it is, and the program is called with its progress. See suite.py for how it is run."""
import suite

suite.start()

import contextlib
import copy
import gc
import io
import json
import os
import pickle
import re
import shutil
import signal
import subprocess
import sys
import threading
import unittest
import warnings
import unittest.mock
from pathlib import Path

import numpy as np
import weyl
import weyl.library

WATER = {"numbers": [8, 1, 1], "positions": [[0, 0, 0], [0.96, 0, 0], [-0.24, 0.93, 0]]}
CELL = np.array([[4.0, 0, 0], [0.4, 4.5, 0], [-0.3, 0.5, 5.0]])  # so small that the images feel one another
SAFETENSORS_TYPES = {"F64": np.float64, "F32": np.float32, "I64": np.int64, "BOOL": np.bool_}


def write_tensors(path, tensors, metadata):
    names = {kind: name for name, kind in SAFETENSORS_TYPES.items()}
    header, blocks, end = {"__metadata__": metadata}, [], 0
    for name, array in tensors.items():
        blocks.append(array.tobytes())
        header[name] = {"dtype": names[array.dtype.type], "shape": array.shape, "data_offsets": [end, end + array.nbytes]}
        end += array.nbytes
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + b"".join(blocks))


def read_tensors(path):
    data = path.read_bytes()
    begin = 8 + int.from_bytes(data[:8], "little")
    result = {}
    for name, entry in json.loads(data[8:begin]).items():
        if name != "__metadata__":
            block = data[begin + entry["data_offsets"][0]:begin + entry["data_offsets"][1]]
            result[name] = np.frombuffer(block, SAFETENSORS_TYPES[entry["dtype"]]).reshape(entry["shape"])
    return result


class Models(suite.Test):
    def weyl(self, *words):
        done = subprocess.run([weyl.library.program_path(), *map(str, words)], cwd=self.folder, capture_output=True,
                              text=True)
        self.assertEqual(done.returncode, 0, done.stderr)

    def trained(self, maker, *options):
        """A run of one step on what a maker makes."""
        self.weyl("data", "make", maker, "--out", "data", *options)
        weyl.config_new(self.folder / "data", out=self.folder / "c.toml", quiet=True)
        train = {"steps": 1, "epochs": False, "batch": 1}
        return weyl.train(self.folder / "c.toml", out=self.folder / "run", train=train, quiet=True)["run"]

    def as_the_program(self, run, tensors, metadata=None, gradient=False):
        tensors = {name: np.asarray(array) for name, array in tensors.items()}
        write_tensors(self.folder / "in.safetensors", tensors, metadata or {})
        paths = run if isinstance(run, list) else [run]
        self.weyl("predict", *paths, "in.safetensors", "--out", "out.safetensors", "--threads", "1", "--force",
                  *["--gradient"][:int(gradient)])
        wanted = read_tensors(self.folder / "out.safetensors")
        found = weyl.load(run).predict(**tensors, gradient=gradient)
        self.assertEqual(sorted(found), sorted(wanted))
        for name in wanted:
            self.assertEqual(found[name].dtype, wanted[name].dtype, name)
            np.testing.assert_array_equal(found[name], wanted[name], name)
        return found

    def test_atoms(self):
        stream = np.random.default_rng(0)
        tensors = {"positions": stream.uniform(0, 6, (9, 3)), "offsets": np.array([0, 3, 9]),
                   "types": np.array([1, 0, 0, 1, 0, 0, 1, 0, 0]), "cell": np.stack([CELL, CELL]),
                   "pbc": np.array([[True] * 3, [False] * 3])}
        found = self.as_the_program(suite.MODELS / "et", tensors, gradient=True)
        scale = np.linalg.norm(found["forces"]) / np.linalg.norm(found["gradient"])  # of the model's own energies
        np.testing.assert_allclose(-scale * found["gradient"], found["forces"][:, 0], atol=1e-5)
        both = self.as_the_program([suite.MODELS / "painn", suite.MODELS / "painn_2"], tensors)
        self.assertGreater(both["energy_std"].min(), 0)
        # Other types of numbers that mean the same.
        model = weyl.load(suite.MODELS / "painn")
        wanted = model.predict(**tensors)
        for name, kind in (("types", np.int32), ("offsets", np.uint8), ("types", np.dtype(">i8"))):
            again = model.predict(**{**tensors, name: tensors[name].astype(kind)})
            np.testing.assert_array_equal(again["energy"], wanted["energy"], name)
        again = model.predict(**{**tensors, "positions": np.asfortranarray(tensors["positions"])})
        np.testing.assert_array_equal(again["forces"], wanted["forces"])
        again = model.predict(**tensors, energy=[[1.0], [2.0]])  # a label
        np.testing.assert_array_equal(again["energy"], wanted["energy"])
        moved = model.predict(**{**tensors, "positions": tensors["positions"] * 1.01})
        self.assertTrue((moved["energy"] != wanted["energy"]).all())

    def test_particles(self):
        run = self.trained("nbody", "train=8", "valid=4", "test=4")
        stream = np.random.default_rng(1)
        self.as_the_program(run, {"positions": stream.normal(0, 1, (10, 3)), "offsets": np.array([0, 5, 10]),
                                  "scalars": stream.normal(0, 1, (10, 2)), "vectors": stream.normal(0, 1, (10, 1, 3))})
        self.assertEqual(weyl.load(run).units["velocity"], "length/time")

    def test_poses(self):
        run = self.trained("pose_sequences", "group=se3", "train=8", "valid=4", "test=4")
        elements = np.tile(np.eye(4), (6, 1, 1))
        elements[:, :3, 3] = np.cumsum(np.full((6, 3), 0.1), axis=0)
        self.as_the_program(run, {"elements": elements, "offsets": np.array([0, 6])}, {"group": "se3"})

    def test_grids(self):
        run = self.trained("glyphs", "train=20", "test=4")
        stream = np.random.default_rng(2)
        self.as_the_program(run, {"values": stream.uniform(0, 1, (2, 1, 28, 28)).astype(np.float32)})
        self.assertEqual(weyl.load(run).interface["carrier"], "grid")
        self.assertEqual(weyl.load(run).info["task"], "classification")

    def test_fields_of_carriers_are_those_of_the_page(self):
        page = (suite.ROOT / "docs/cli.md").read_text().split("\n## Tensor files\n")[1]
        for carrier, fields in weyl.model.FIELDS.items():
            cell = page.split(f"\n| {carrier} | ")[1].split(" | ")[0]
            named = re.findall("`([a-z_]+)(?: \\(|`)", cell.split("metadata")[0])
            self.assertEqual(sorted(fields), sorted(named))

    def test_atoms_compute(self):
        model = weyl.load(suite.MODELS / "painn", dtype="float64")
        periodic = {**WATER, "cell": CELL}
        found = model.compute(**periodic, want=iter(("energy", "forces", "stress", "energies", "virials")))
        self.below(found["energies"].sum() - found["energy"], 1e-9)
        np.testing.assert_allclose(found["virials"].sum(0), -np.linalg.det(CELL) * found["stress"], atol=1e-9)
        open_ = model.compute(**WATER)
        self.assertNotEqual(open_["energy"], found["energy"])
        self.assertEqual(open_["energy"], model.compute(**periodic, pbc=False, want="energy")["energy"])
        together = model.compute_batch([WATER, periodic])
        self.below(together[0]["energy"] - open_["energy"], 1e-9)
        self.below(together[1]["energy"] - found["energy"], 1e-9)
        self.assertEqual(model.compute_batch([]), [])
        pair = weyl.load(str(suite.MODELS / "painn*"), dtype="float64")
        means = pair.compute(**WATER)
        other = weyl.load(suite.MODELS / "painn_2", dtype="float64").compute(**WATER)
        self.below(means["energy"] - (open_["energy"] + other["energy"]) / 2, 1e-9)
        np.testing.assert_allclose(means["forces_std"], abs(open_["forces"] - other["forces"]) / 2, atol=1e-9)

    def test_copies_pickles_and_threads(self):
        model = weyl.load(os.path.relpath(suite.MODELS / "painn"))
        wanted = model.compute(**WATER)
        self.assertIs(copy.deepcopy(model), model)
        pickled = pickle.dumps(model)
        here = os.getcwd()
        self.addCleanup(os.chdir, here)
        os.chdir(self.folder)  # a pickle of a relative path is opened anywhere
        self.assertEqual(pickle.loads(pickled).compute(**WATER)["energy"], wanted["energy"])
        found = []
        threads = [threading.Thread(target=lambda: found.append(model.compute(**WATER))) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual([each["energy"] for each in found], [wanted["energy"]] * 4)

    def test_a_child_of_fork_computes_with_one_thread(self):
        """With more it would wait for threads that it has not."""
        code = f"""if True:
            import os, numpy, weyl
            model = weyl.load({str(suite.MODELS / "painn")!r}, threads=2)
            positions = numpy.random.default_rng(0).uniform(0, 20, (900, 3))  # enough for two
            compute = lambda: model.compute([8, 1, 1] * 300, positions)["energy"]
            wanted = compute()
            child = os.fork()
            if child == 0:
                os._exit(int(abs(compute() - wanted) > 1e-6 * abs(wanted)))
            print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))"""
        with subprocess.Popen([sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": str(suite.ROOT / "python")},
                              stdout=subprocess.PIPE, start_new_session=True) as done:
            try:
                self.assertEqual(done.communicate(timeout=40)[0], b"0\n")
            finally:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(done.pid, signal.SIGKILL)

    def test_want_of_memory_is_an_error_of_its_own(self):
        code = f"""if True:
            import resource, numpy, weyl
            model = weyl.load({str(suite.MODELS / "painn")!r})
            positions = numpy.random.default_rng(0).uniform(0, 12, (6000, 3))
            pages = int(open("/proc/self/statm").read().split()[0])
            resource.setrlimit(resource.RLIMIT_AS, [pages * resource.getpagesize() + 2**28] * 2)
            try: model.compute([8, 1, 1] * 2000, positions)
            except MemoryError as e: print(type(e).__name__, e)"""
        done = subprocess.run([sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": str(suite.ROOT / "python")},
                              capture_output=True, text=True)
        self.assertRegex(done.stdout, "^OutOfMemory .* memory.*\n$", done.stderr)

    def test_models_are_freed(self):
        class Counted:
            freed = 0

            def __call__(self, _):
                Counted.freed += 1

        library = weyl.library.library()
        free, library.weyl_free = library.weyl_free, Counted()
        self.addCleanup(setattr, library, "weyl_free", free)
        model = weyl.load(suite.MODELS / "painn")
        again = copy.copy(model)
        del model
        gc.collect()
        self.assertEqual(Counted.freed, 0)
        del again
        gc.collect()
        self.assertEqual(Counted.freed, 1)

    def test_what_is_wrong_is_a_line(self):
        painn = str(suite.MODELS / "painn")
        model = weyl.load(painn)
        arrays = {"positions": np.zeros((1, 3)), "offsets": [0, 1], "types": [0]}
        for wrong, kind, line in (
                (lambda: weyl.load("nowhere"), weyl.DataError, "nowhere: must be a model file or a run folder"),
                (lambda: weyl.load("nowhere/*"), weyl.DataError, "weyl: nowhere/* must match"),
                (lambda: weyl.load([]), weyl.UsageError, "weyl_load: a path must be given"),
                (lambda: weyl.load(painn, dtype="float16"), weyl.UsageError, "weyl_load: dtype must be"),
                (lambda: weyl.load([model, model]), weyl.UsageError, "weyl.load: a path, a pattern or a list of them must be"),
                *[(lambda threads=threads: weyl.load(painn, threads=threads), weyl.UsageError,
                   f"weyl.load: threads must be a whole number, 0 or more, got {threads!r}") for threads in ("4", -1, 1.5)],
                (lambda: weyl.load(model, threads=4), weyl.UsageError, "weyl.load: threads must be 1, with which"),
                (lambda: model.predict(**arrays, cel=[CELL]), weyl.UsageError, "weyl.predict: a tensor must be one of posi"),
                (lambda: model.predict(**{**arrays, "positions": [[0, 0, 0], [0]]}), weyl.UsageError,
                 "weyl: positions must be an array, got rows of several lengths"),
                (lambda: model.predict(), weyl.UsageError, "weyl_predict: inputs must be given"),
                (lambda: model.predict(**{**arrays, "positions": np.zeros((1, 3), complex)}), weyl.UsageError,
                 "weyl_predict: positions: must be of float64, float32, int64 or bool, or become it without loss, got"),
                (lambda: model.predict(**{**arrays, "types": np.zeros(1, np.uint64)}), weyl.UsageError,
                 "weyl_predict: types: must be"),
                (lambda: model.predict(**{**arrays, "offsets": [0, 2]}), weyl.DataError, "weyl_predict: offsets: must end"),
                (lambda: model.compute([8, 1], [[0, 0, 0]]), weyl.UsageError, "weyl: positions must be (2, 3) numbers, got"),
                (lambda: model.compute([8, 1], [[0, 0, 0], [0]]), weyl.UsageError, "weyl: positions must be an array, got rows"),
                *[(lambda pbc=pbc: model.compute(**WATER, cell=CELL, pbc=pbc), weyl.UsageError, "weyl: pbc must be one or")
                  for pbc in (["F", "F", "F"], "F F F", "TTF", np.nan, [1.0, 1.0, 1.0], [1, 1], [[1, 1, 1]])],
                (lambda: model.compute(["O"], [[0, 0, 0]]), weyl.UsageError, "weyl: numbers must be (N) integers, got"),
                (lambda: model.compute([92], [[0, 0, 0]]), weyl.DataError, "energy_and_forces: the model knows no element"),
                (lambda: model.compute([2**32 + 8], [[0, 0, 0]]), weyl.DataError, "weyl_compute_batch: there is no element"),
                (lambda: model.compute([8], [[0, 0, np.nan]]), weyl.DataError, "energy_and_forces: positions[0][2] must"),
                (lambda: model.compute([], np.zeros((0, 3))), weyl.DataError, "energy_and_forces: there must be atoms"),
                (lambda: model.compute(**WATER, pbc=True), weyl.DataError, "energy_and_forces: pbc needs a cell"),
                (lambda: model.compute(**WATER, want=["dipole"]), weyl.UsageError, "weyl: want must be of energy"),
        ):
            with self.assertRaises(kind) as caught:
                wrong()
            self.assertTrue(str(caught.exception).startswith(line), caught.exception)
            self.assertNotIn("\n", str(caught.exception))
            self.assertIsInstance(caught.exception, ValueError)

    def test_a_charge_that_the_model_does_not_read_is_a_warning(self):
        model = weyl.load(suite.MODELS / "painn")
        with self.assertWarnsRegex(UserWarning, "^weyl: charge is 1, but the model reads none: it changes nothing$"):
            charged = model.compute(**WATER, charge=1)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            self.assertEqual(model.compute(**WATER, charge=0)["energy"], charged["energy"])

    def test_a_model_that_has_learned_with_the_charge_must_be_told_it(self):
        frames = (suite.ROOT / "examples/potential/water.xyz").read_text().replace("energy=", "charge=0 energy=")
        (self.folder / "charged.xyz").write_text(frames.replace("charge=0", "charge=1", 12))
        potential = suite.ROOT / "examples/potential/potential.toml"
        data = {"path": str(self.folder / "charged.xyz"), "features": ["charge"]}
        run = weyl.train(potential, out=self.folder / "run", quiet=True, data={"molecules": data},
                         train={"steps": 1, "epochs": False})["run"]
        model = weyl.load(run)
        with self.assertRaisesRegex(weyl.UsageError, "^weyl: charge must be given: the model reads it$"):
            model.compute(**WATER)
        self.assertNotEqual(model.compute(**WATER, charge=0)["energy"], model.compute(**WATER, charge=1)["energy"])
        for charge in ("x", [0], True):
            with self.assertRaisesRegex(weyl.UsageError, "^weyl: charge must be a number, got "):
                model.compute(**WATER, charge=charge)


class Library(suite.Test):
    def found(self, package, **environment):
        """Library and program that a package finds, or its complaint."""
        code = "import weyl.library as l\ntry: print(l.library_path(), l.program_path())\nexcept Exception as e: print(e)"
        bare = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(package), **environment}
        done = subprocess.run([sys.executable, "-c", code], env=bare, capture_output=True, text=True)
        return done.stdout.strip()

    def test_is_found_in_a_prefix_a_checkout_beside_the_program_or_by_name(self):
        def put(prefix, lib):
            for file in (prefix / lib / "libweyl_potential.so", prefix / "bin/weyl"):
                file.parent.mkdir(parents=True, exist_ok=True)
                file.touch()
                file.chmod(0o755)
            return f"{prefix / lib / 'libweyl_potential.so'} {prefix / 'bin/weyl'}"

        package = suite.ROOT / "python/weyl"
        alone = self.folder / "site-packages"
        shutil.copytree(package, alone / "weyl")
        self.assertTrue(self.found(alone).startswith("weyl: there is no libweyl_potential.so in the prefix"))
        note = alone / "weyl-0.dist-info/direct_url.json"  # pip's
        note.parent.mkdir()
        (note.parent / "METADATA").write_text("Metadata-Version: 2.1\nName: weyl\nVersion: 0\n")
        installed = put(self.folder / "prefix", "lib/x86_64-linux-gnu")
        shutil.copytree(package, self.folder / "prefix/share/weyl/python/weyl")
        self.assertEqual(self.found(self.folder / "prefix/share/weyl/python"), installed)
        built = put(self.folder / "checkout/build/release", "lib")
        shutil.copytree(package, self.folder / "checkout/python/weyl")
        self.assertEqual(self.found(self.folder / "checkout/python"), built)
        for source, wanted in (("checkout/python", built), ("prefix/share/weyl/python", installed)):
            note.write_text(json.dumps({"dir_info": {}, "url": (self.folder / source).as_uri()}))
            self.assertEqual(self.found(alone), wanted)
        unbuilt = self.folder / "unbuilt/python"  # a package is not where another one of its name came from
        shutil.copytree(package, unbuilt / "weyl")
        self.assertTrue(self.found(f"{unbuilt}:{alone}").startswith("weyl: there is no "))
        note.write_text(json.dumps({"archive_info": {}, "url": "https://example.org/weyl-0.whl"}))
        self.assertTrue(self.found(alone).startswith("weyl: there is no "))
        self.assertEqual(self.found(alone, PATH=f"/usr/bin:{self.folder / 'prefix/bin'}"), installed)
        named = self.folder / "checkout/build/release/lib/libweyl_potential.so"
        self.assertEqual(self.found(self.folder / "prefix/share/weyl/python", WEYL_LIBRARY=str(named)), built)

    def test_what_is_no_library_of_this_interface_is_refused(self):
        code = "import weyl\ntry: weyl.load('x')\nexcept weyl.Error as e: print(e)"
        bare = {**os.environ, "PYTHONPATH": str(suite.ROOT / "python")}
        for path, line in ((__file__, f"weyl: cannot open {__file__}: "), ("/nowhere.so", "weyl: cannot open /nowhere.so: "),
                           (suite.BUILD / "lib/libweyl_base.so", f"weyl: cannot open {suite.BUILD}/lib/libweyl_base.so: ")):
            done = subprocess.run([sys.executable, "-c", code], env={**bare, "WEYL_LIBRARY": str(path)}, capture_output=True,
                                  text=True)
            self.assertTrue(done.stdout.startswith(line), done.stdout + done.stderr)
        other = code.replace("import weyl\n", "import weyl, weyl.library\nweyl.library.API_VERSION += 1\n")
        done = subprocess.run([sys.executable, "-c", other], env=bare, capture_output=True, text=True)
        self.assertRegex(done.stdout, "^weyl: .*libweyl_potential.so must have the interface version .* this package, got ")

    def test_versions_are_those_of_the_project(self):
        project = (suite.ROOT / "CMakeLists.txt").read_text().split("project(weyl VERSION ")[1].split()[0]
        self.assertEqual(weyl.__version__, project)  # pyproject.toml reads it
        header = (suite.ROOT / "src/weyl/engine/weyl.h").read_text()
        self.assertIn(f"#define WEYL_API_VERSION {weyl.library.API_VERSION}\n", header)


class Program(suite.Test):
    def config(self):
        drafted = weyl.config_new(suite.ROOT / "examples/potential/water.xyz", out=self.folder / "c.toml", quiet=True)
        self.assertEqual(drafted["config"], (self.folder / "c.toml").read_text())
        return self.folder / "c.toml"

    def test_trains_audits_and_compares(self):
        config, messages = self.config(), io.StringIO()
        small = {"width": 16, "heads": 2, "blocks": 1, "kernels": 8}
        with contextlib.redirect_stderr(messages):
            trained = weyl.train(config, out=self.folder / "a", model={"geomformer": small}, **{"model.frames": "none"},
                                 train={"epochs": 2, "max_seconds": False, "evaluate_every": 1})
        self.assertEqual(messages.getvalue().count("epoch "), 2)
        run = weyl.runs.read(trained["run"])
        self.assertEqual(run.result["steps"], trained["steps"])
        self.assertEqual(len(run.metrics["step"]), 2)
        self.assertEqual(run.metrics.frame()["step"].iloc[-1], trained["steps"])
        self.assertEqual(len(run.timing["seconds"]), 2)
        if sys.version_info >= (3, 11):
            self.assertEqual(run.config["model"]["geomformer"]["kernels"], 8)
        steps, values = run.curve("valid_force_mae")
        self.assertEqual(min(values), trained["best"]["value"])
        labels, predictions = run.predictions["energy"].values()
        error = trained["test"]["metrics"]["energy_mae"]
        self.assertEqual(error["unit"], "meV")
        self.assertAlmostEqual(1000 * abs(labels - predictions).mean(), error["value"], places=6)
        weyl.train(resume=trained["run"], quiet=True, **{"train.epochs": 3})
        self.assertEqual(len(weyl.runs.read(trained["run"]).metrics["step"]), 3)
        self.assertTrue(weyl.audit(trained["run"], samples=2, quiet=True)["passed"])
        compared = weyl.compare(trained["run"], suite.MODELS / "painn", quiet=True)
        self.assertEqual(len(compared["runs"]), 2)

    def test_raises_the_line_of_a_failure(self):
        with self.assertRaisesRegex(weyl.UsageError, "epocs.*unknown key"):
            weyl.train(self.config(), quiet=True, train={"epocs": 1})
        with self.assertRaisesRegex(weyl.DataError, "nowhere"):
            weyl.audit(self.folder / "nowhere", quiet=True)
        with self.assertRaisesRegex(weyl.DataError, "must be a run folder, but has no config.toml"):
            weyl.runs.read(self.folder)

    def test_a_signal_is_told_in_place_of_the_last_line(self):
        program = self.folder / "weyl"
        program.write_text("#!/bin/sh\necho epoch 1 >&2\nkill -9 $$\n")
        program.chmod(0o755)
        with unittest.mock.patch("weyl.program.program_path", lambda: program):
            with self.assertRaisesRegex(weyl.Error, "^weyl train: ended by signal 9$"):
                weyl.train("c.toml", quiet=True)

    def test_values_of_python_are_those_of_toml(self):
        given = {"a": np.arange(2), "b": np.float32(0.5), "c": {"d": [True, Path("x"), "é\n"]}, "e": [np.inf, np.nan, 1e22]}
        words = list(weyl.program.keys_of(given))
        self.assertEqual(words, ["a=[0, 1]", "b=0.5", 'c.d=[true, "x", "é\\n"]', "e=[inf, nan, 1e+22]"])
        if sys.version_info >= (3, 11):
            import tomllib

            self.assertEqual(tomllib.loads("\n".join(words))["e"][0], np.inf)
        for value in (None, [None], b"x", object()):
            with self.assertRaisesRegex(weyl.UsageError, "^weyl.train: train.lr: must be a bool, a number, a text, .*, got "):
                weyl.train("c.toml", train={"lr": value})
        with self.assertRaisesRegex(weyl.UsageError, "inf"):
            weyl.train(self.config(), quiet=True, train={"max_seconds": float("inf")})

    def test_an_interrupt_saves(self):
        """A Ctrl-C of Python alone, when the first epoch is done."""
        class Stderr(io.StringIO):
            def write(self, text):
                if text.startswith("epoch"):
                    os.kill(os.getpid(), signal.SIGINT)
                return super().write(text)

        said = Stderr()
        with contextlib.redirect_stderr(said), self.assertRaises(KeyboardInterrupt) as caught:
            potential = {"path": suite.ROOT / "examples/potential/water.xyz"}
            weyl.train(suite.ROOT / "examples/potential/potential.toml", out=self.folder / "run",
                       data={"molecules": potential}, train={"epochs": 1000000})
        self.assertIn("resume", str(caught.exception))
        run = weyl.runs.read(self.folder / "run")
        self.assertIsNone(run.result)
        self.assertTrue((self.folder / "run/last/state.safetensors").exists())

    def test_a_table_that_is_being_written_is_read_to_its_last_whole_line(self):
        (self.folder / "config.toml").touch()
        (self.folder / "metrics.csv").write_text("step,loss,note\n1,0.5,a\n2,,b\n3,0.2")
        metrics = weyl.runs.read(self.folder).metrics
        self.assertEqual(metrics["step"].tolist(), [1, 2])
        self.assertEqual(metrics["note"].tolist(), ["a", "b"])
        np.testing.assert_array_equal(metrics["loss"], [0.5, np.nan])
        (self.folder / "metrics.csv").write_text("step,loss\n1\n")
        with self.assertRaisesRegex(weyl.DataError, "metrics.csv: line 2 must have 2 columns, has 1"):
            weyl.runs.read(self.folder)

    def test_a_young_run_says_what_it_has(self):
        (self.folder / "config.toml").touch()
        none = "nothing yet"
        for text, has in ((None, none), ("", none), ("step,lo", none), ("step,loss\n", "step, loss")):
            if text is not None:
                (self.folder / "metrics.csv").write_text(text)
            run = weyl.runs.read(self.folder)
            for wrong in (lambda: run.curve("mae"), lambda: run.metrics["mae"]):
                with self.assertRaisesRegex(weyl.DataError, f"metrics.csv: must have 'mae', has {has}$"):
                    wrong()
        self.assertEqual([len(values) for values in run.curve("loss")], [0, 0])
        with self.assertRaisesRegex(weyl.DataError, "plots: must have 'energy', has nothing yet$"):
            run.predictions["energy"]
        (self.folder / "result.json").write_text('{"steps": 1')
        with self.assertRaisesRegex(weyl.DataError, "result.json: must be JSON: "):
            weyl.runs.read(self.folder)


if __name__ == "__main__":
    unittest.main()
