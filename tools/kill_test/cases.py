"""What is disturbed: trainings from their start and from the middle, sweeps, and the verbs that write files."""

import csv
import os
import pathlib
import random
import shutil
import subprocess
import time

import calls
import whole

LONGEST = 60  # seconds of a call

DATA = """[data]
set = "nbody"
[data.nbody]
path = "data"
train = 60
valid = 20
test = 20
[task]
name = "trajectory"
[model]
system = "platonic"
[model.platonic]
group = "tetrahedron"
width = 48
heads = 12
blocks = 1
dropout = 0.1
[train]
epochs = 4
batch = 10
augment = "rotations"
average = 0.99
evaluate_every = 1.5
save_every_steps = {every}
log_every_steps = 2
[train.optimiser]
clip = 1.0
weight_decay = 1e-4
"""
ATOMS = """[data]
set = "molecules"
[data.molecules]
path = "atoms.xyz"
elements = ["H", "O"]
train = 32
valid = 8
[task]
name = "force_field"
[model]
system = "geomformer"
[model.geomformer]
preset = "et"
width = 16
heads = 2
blocks = 1
kernels = 8
[train]
steps = 2
batch = 4
"""
MASKS = """[data]
set = "ph2"
[data.ph2]
path = "pictures"
height = 64
width = 64
[task]
name = "segmentation"
[model]
system = "steerable"
[model.steerable]
orders = 4
stages = [{ middle = 2, channels = 2, kernel = 5, pool = 4 }]
attention = false
encoder = { depth = 1 }
[train]
steps = 1
batch = 4
"""


SWEEP = """base = "config.toml"
set = ["train.average=false"]
budgets = [2e8]
rates = [1e-3, 3e-3]
epochs = "repeat"
validations = 2
[[systems]]
name = "one"
points = [{ name = "a" }]
"""


class Verb:
    """A command that writes below a folder; `again` is how a second call is told to replace what is there."""

    def __init__(self, name, command, again=()):
        self.name, self.command, self.again = name, command, list(again)


class Sweep:
    """`weyl scale run` in a folder: its undisturbed table, files and bits, and what differs from them. Its trainings end with
    it, whatever ends it; so it is disturbed as one process is."""

    name = "sweep"

    def __init__(self, place):
        self.place = place
        pathlib.Path("sweep.toml").write_text(SWEEP)
        start = time.monotonic()
        place.quiet(*self.command(pathlib.Path("through"))[1:])
        place.seconds[self.name] = time.monotonic() - start
        self.folder = pathlib.Path("through/sweep")

    def command(self, folder, shard="1/1"):
        return [self.place.weyl, "scale", "run", "sweep.toml", "--out", str(folder / "sweep"), "--shard", shard, "--jobs", "2",
                "--threads", "1", "--quiet"]

    @staticmethod
    def _rows(folder):
        with open(folder / "runs.csv", newline="") as table:
            return [{key: cell for key, cell in row.items() if key != "seconds"} for row in csv.DictReader(table)]

    def faults_between(self, folder):
        """Of the table, which is whole at any instant."""
        there = (folder / "sweep/runs.csv").exists()
        return ["runs.csv is not whole"] if there and self._rows(folder / "sweep") not in ([], self._rows(self.folder)) else []

    def finish(self, folder):
        """Lets a sweep go on to its end, undisturbed; the faults then."""
        done = self.place.run(self.command(folder), folder)
        if done.returncode != 0:
            return [f"going on ended with exit code {done.returncode}: {last_line(done.stderr)}"]
        sweep, faults = folder / "sweep", []
        if self._rows(sweep) != self._rows(self.folder):
            faults.append("runs.csv differs from the undisturbed sweep's")
        for run in (file for file in (self.folder / "runs").iterdir() if file.is_dir()):
            faults += [f"{run.name}/{name} differs from the undisturbed run's" for name in whole.SAME_BITS
                       if (sweep / "runs" / run.name / name).read_bytes() != (run / name).read_bytes()]
        names, expected = ({str(file.relative_to(at)) for file in at.rglob("*")} for at in (sweep, self.folder))
        faults += [f"litter: {name}" for name in sorted(names - expected)]
        return faults + [f"{name} is missing" for name in sorted(expected - names)]


class Place:
    """A folder with data, models, an undisturbed training and each verb's undisturbed outputs."""

    def __init__(self, folder, weyl, threads):
        self.folder, self.weyl, self.threads = pathlib.Path(folder), weyl, threads
        self.environment = dict(os.environ, OMP_NUM_THREADS=str(threads))
        os.chdir(folder)
        pathlib.Path("tmp").mkdir()
        self._make_data()
        start = time.monotonic()
        self.quiet("train", "config.toml", "--out", "through/run", "--threads", threads)
        self.seconds = {"train": time.monotonic() - start}
        self.reference = whole.Reference(pathlib.Path("through/run"), lambda run: self.start(
            ["train", "every.toml", "--out", str(run), "--threads", str(threads)], "every.log"))
        self._make_middle()
        self.sweep = Sweep(self)
        self.verbs = [
            Verb("predict tensors", ["predict", "through/run", "data/test.safetensors", "--out", "{}/out.safetensors"], ["--force"]),
            Verb("predict frames", ["predict", "atoms-run", "atoms.xyz", "--out", "{}/out.xyz"], ["--force"]),
            Verb("predict masks", ["predict", "masks-run", "pictures", "--out", "{}/masks"], ["--force"]),
            Verb("plot", ["plot", "through/run", "--out", "{}/plots"]),
            Verb("data split", ["data", "split", "atoms.xyz", "--out", "{}/parts"]),
            Verb("data convert", ["data", "convert", "atoms.xyz", "{}/out.xyz.gz", "to=Hartree"]),
            Verb("data make nbody", ["data", "make", "nbody", "--out", "{}/data", "train=60", "valid=20", "test=20", "threads=1"]),
            Verb("data make lesions", ["data", "make", "lesions", "--out", "{}/data", "count=12", "height=64", "width=64", "threads=1"]),
            Verb("data make molecules", ["data", "make", "molecules", "--out", "{}/data", "molecule=water", "frames=120",
                                         "train=60", "valid=20", "equilibration=50", "walkers=2", "threads=1"]),
        ]
        self.outputs = {}
        for verb in list(self.verbs):
            out = pathlib.Path("through") / verb.name.replace(" ", "-")
            out.mkdir()
            start = time.monotonic()
            done = self.run(self.command_of(verb, out), pathlib.Path("."))
            if done.returncode == 2 and "xtb" in done.stderr:  # an optional part that is not here
                self.verbs.remove(verb)
                continue
            if done.returncode != 0:
                raise SystemExit(f"scripts/kill_test: {verb.name}: {done.stderr}")
            self.seconds[verb.name] = time.monotonic() - start
            self.outputs[verb.name] = whole.digests(out)

    def _make_data(self):
        pathlib.Path("config.toml").write_text(DATA.format(every=3))
        pathlib.Path("every.toml").write_text(DATA.format(every=1))
        pathlib.Path("atoms.toml").write_text(ATOMS)
        pathlib.Path("masks.toml").write_text(MASKS)
        draw = random.Random(1)
        with open("atoms.xyz", "w") as out:
            for _ in range(200):
                out.write(f"3\nProperties=species:S:1:pos:R:3:forces:R:3 energy={-76 + draw.random():.6f} energy_unit=eV\n")
                for s, at in zip("OHH", [(0, 0, 0), (0.96, 0, 0), (-0.24, 0.93, 0)]):
                    numbers = [x + draw.gauss(0, 0.05) for x in at] + [draw.gauss(0, 1) for _ in range(3)]
                    out.write(f"{s} " + " ".join(f"{x:.6f}" for x in numbers) + "\n")
        self.quiet("data", "make", "nbody", "--out", "data", "train=60", "valid=20", "test=20")
        self.quiet("data", "make", "lesions", "--out", "pictures", "count=12", "height=64", "width=64")
        self.quiet("train", "atoms.toml", "--out", "atoms-run")
        self.quiet("train", "masks.toml", "--out", "masks-run")
        pathlib.Path("through").mkdir()

    def _make_middle(self):
        """A run that was killed between the two names of a checkpoint, with what else may lie there."""
        call = calls.Call("renameat2", 8, "", "")
        subprocess.run(calls.fatal(call, "middle.log") + self.command_of_training("middle/run"), stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, env=self.environment)
        run = pathlib.Path("middle/run")
        if not (run / "last.new").exists():
            raise SystemExit("scripts/kill_test: a kill within a checkpoint's exchange must leave last.new")
        (run / "plots").mkdir(exist_ok=True)
        for name in ("config.toml", "best/model.safetensors", "plots/learning_curve.svg"):
            (run / f"{name}.4194305-0.tmp").write_text("half")  # no process has this number

    def environment_in(self, folder):
        """Temporary files of a trial are kept in its folder, to be looked at."""
        return dict(self.environment, TMPDIR=str((folder / "tmp").absolute()))

    def run(self, command, folder):
        """A call in a trial's folder; one that does not end has no exit code of ours."""
        try:
            return subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, errors="replace",
                                  env=self.environment_in(folder), timeout=LONGEST)
        except subprocess.TimeoutExpired:
            return subprocess.CompletedProcess(command, 124, "", f"ran longer than {LONGEST} s")

    def quiet(self, *arguments):
        done = self.run([self.weyl, *map(str, arguments), "--quiet"], pathlib.Path("."))
        if done.returncode != 0:
            raise SystemExit(f"scripts/kill_test: weyl {' '.join(map(str, arguments))}: {done.stderr}")

    def start(self, arguments, log):
        with open(log, "ab") as out:
            return subprocess.Popen([self.weyl, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=out,
                                    env=self.environment)

    def command_of_training(self, run):
        """How the training in a run folder begins or goes on."""
        if (pathlib.Path(run) / "config.toml").exists():
            return [self.weyl, "train", "--resume", str(run)]
        return [self.weyl, "train", "config.toml", "--out", str(run), "--threads", str(self.threads)]

    def command_of(self, verb, folder, again=False):
        return [self.weyl] + [word.format(folder) for word in verb.command] + (verb.again if again else [])

    def new_folder(self, name, middle=False):
        """A folder for one trial; `middle`: with the run that was killed in its middle."""
        folder = pathlib.Path(name)
        for part in ("tmp", "out"):
            (folder / part).mkdir(parents=True)
        if middle:
            shutil.copytree("middle/run", folder / "run")
        return folder

    def faults_of_temporary(self, folder):
        """A call that ended in its own way leaves nothing among the temporary files."""
        left = [str(file.relative_to(folder)) for file in (folder / "tmp").iterdir()]
        return ["litter: " + " ".join(left)] if left else []

    def finish_training(self, folder, said):
        """Lets a training go on to its end, undisturbed; the faults then."""
        run = folder / "run"
        done = self.run(self.command_of_training(run), folder)
        if done.returncode != 0:
            return [f"going on ended with exit code {done.returncode}: {last_line(done.stderr)}"]
        return self.reference.faults_at_end(run, said + done.stderr)

    def faults_of_outputs(self, verb, folder):
        """Whatever has a final name must be what an undisturbed call writes."""
        expected, found = self.outputs[verb.name], whole.digests(folder)
        return [f"{name} is half-written" for name in found if found[name] != expected.get(name)]

    def finish_verb(self, verb, folder):
        """Calls a verb again; the faults then, and remarks."""
        out, remarks = folder / "out", []
        done = self.run(self.command_of(verb, out), folder)
        there = whole.digests(out)
        if done.returncode == 2 and there == self.outputs[verb.name]:
            return [], []  # it had been done
        if done.returncode == 2 and there and "exists already" in done.stderr:
            remarks = [f"refused while {len(there)} of {len(self.outputs[verb.name])} files were there"]
            if not verb.again:
                for name in there:
                    (out / name).unlink()
            done = self.run(self.command_of(verb, out, again=True), folder)
        if done.returncode != 0:
            return [f"a second call ended with exit code {done.returncode}: {last_line(done.stderr)}"], remarks
        if whole.digests(out) != self.outputs[verb.name]:
            return ["a second call writes other files than an undisturbed one"], remarks
        return [], remarks


def last_line(text):
    lines = text.strip().splitlines()
    return lines[-1] if lines else "(nothing on stderr)"
