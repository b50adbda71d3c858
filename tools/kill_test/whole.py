"""What must be true of the files of a run and of a verb's outputs at any instant, and at the end."""

import collections
import csv
import hashlib
import io
import json
import os
import pathlib
import shutil
import struct
import subprocess
import time

PAIR = ("model.safetensors", "state.safetensors")
SAME_BITS = ("last/model.safetensors", "last/state.safetensors", "best/model.safetensors", "metrics.csv", "config.toml")

Print = collections.namedtuple("Print", "step digest tensors unvalidated")


def print_of(path):
    """Step, digest of all, digest of the tensors alone, and whether a validation is still to be made.

    Left out of the first digest is what depends on how often checkpoints are saved: that key of the recipe, and the
    checksum of the header."""
    contents = path.read_bytes()
    length = struct.unpack("<Q", contents[:8])[0]
    header = json.loads(contents[8 : 8 + length])
    metadata = header.pop("__metadata__")
    metadata.pop("weyl.xxh3_64.header", None)
    metadata["recipe"] = [line for line in metadata["recipe"].splitlines() if not line.startswith("save_every_steps")]
    tensors = json.dumps(header, sort_keys=True).encode() + contents[8 + length :]
    digest = hashlib.sha256(json.dumps(metadata, sort_keys=True).encode() + tensors).hexdigest()
    unvalidated = json.loads(metadata.get("state", "{}")).get("unvalidated")
    return Print(json.loads(metadata["training"])["step"], digest, hashlib.sha256(tensors).hexdigest(), unvalidated)


def metrics_aside(run):
    """Whether metrics.csv could not be read and was set aside: a new one has the rows from then on."""
    return (run / "metrics.csv.damaged").exists()


def is_unfinished(name):
    return name.endswith(".tmp")


class Reference:
    """An undisturbed run: its end, and its checkpoints at every step."""

    def __init__(self, through, at_every_step):
        """`through`: the run. `at_every_step`: the same, which saves after each step; called until all were seen."""
        self.run = through
        self.metrics = (through / "metrics.csv").read_bytes()
        self.steps = print_of(through / "last" / PAIR[0]).step
        self.saved = {name: {} for name in PAIR}  # the step's Print
        self.best = {}
        for _ in range(20):
            self._watch(at_every_step)
            if all(len(prints) == self.steps + 1 for prints in self.saved.values()):
                return
        raise SystemExit("scripts/kill_test: not every checkpoint of the undisturbed run was seen")

    def _watch(self, at_every_step):
        run, kept = self.run.parent / "every", self.run.parent / "kept"
        shutil.rmtree(run, ignore_errors=True)
        kept.mkdir()
        places = [run / folder / name for folder in ("last", "previous", "best") for name in PAIR]
        seen = set()
        process = at_every_step(run)
        while True:
            ended = process.poll() is not None
            for place in places:
                try:  # a link keeps the file, whatever becomes of its name
                    number = os.stat(place).st_ino
                    if number not in seen:
                        link = kept / f"{place.parent.name}-{len(seen)}-{place.name}"
                        os.link(place, link)
                        seen.add(os.stat(link).st_ino)
                except FileNotFoundError:
                    pass
            if ended:
                break
            time.sleep(0.0005)
        if process.returncode != 0 or (run / "metrics.csv").read_bytes() != self.metrics:
            raise SystemExit("scripts/kill_test: the undisturbed run must end well and be the same twice")
        for link in kept.iterdir():
            found = print_of(link)
            prints = self.best if link.name.startswith("best") else self.saved[link.name.rsplit("-", 1)[1]]
            if prints.setdefault(found.step, found) != found:
                raise SystemExit(f"scripts/kill_test: two undisturbed runs differ at step {found.step}")
        shutil.rmtree(kept)
        shutil.rmtree(run)

    def _check_checkpoint(self, folder, faults):
        steps = []
        for name in PAIR:
            try:
                found = print_of(folder / name)
            except (OSError, ValueError, KeyError, struct.error) as error:
                faults.append(f"{folder.name}/{name} is not whole ({error})")
                return
            expected = self.saved[name].get(found.step)
            steps.append(found.step)
            alike = found.unvalidated or metrics_aside(folder.parent)  # the state counts the bytes of metrics.csv
            same = expected and (found.tensors == expected.tensors if alike else found == expected)
            if not same:
                faults.append(f"{folder.name}/{name} differs from the undisturbed run's at step {found.step}")
        if len(set(steps)) > 1:
            faults.append(f"{folder.name}: steps {steps} in one checkpoint")

    def faults_between(self, run, had_previous, weyl, empty=True):
        """After any end of a training: what is wrong in the folder of a run. `empty`: empty files may be there."""
        faults = []
        for place in ("last", "previous"):
            if (run / place).exists():
                self._check_checkpoint(run / place, faults)
        if had_previous and not ((run / "previous").exists() and (run / "last").exists()):
            faults.append("last/ or previous/ was there and is gone")
        best = run / "best" / PAIR[0]
        if best.exists():
            found = print_of(best)
            if self.best.get(found.step) != found:
                faults.append(f"best/ differs from the undisturbed run's at step {found.step}")
        metrics = run / ("metrics.csv.damaged" if metrics_aside(run) else "metrics.csv")
        if metrics.exists() and not self.metrics.startswith(metrics.read_bytes()):
            faults.append(f"{metrics.name} is not the beginning of the undisturbed run's")
        if (run / "config.toml").exists() and (run / "config.toml").read_bytes() != (self.run / "config.toml").read_bytes():
            faults.append("config.toml differs")
        if (run / "environment.json").exists():
            json.loads((run / "environment.json").read_text())
        for file in run.rglob("*"):
            if file.is_file() and file.stat().st_size == 0 and not is_unfinished(file.name):
                if not empty or file.suffix not in (".csv", ".txt", ".weyl"):  # those grow from nothing
                    faults.append(f"{file.relative_to(run)} is empty")
        if (run / "last").exists():
            verified = subprocess.run([weyl, "info", "--verify", str(run)], capture_output=True, text=True)
            if verified.returncode != 0:
                faults.append(f"info --verify: {verified.stderr.strip()}")
        return faults

    def faults_at_end(self, run, said=""):
        """After a resume that ended well. `said`: what all calls said on stderr; a file that was set aside, and a
        picture that is not there, must have been told of."""
        faults = []
        for name in SAME_BITS:
            if metrics_aside(run) and name == "metrics.csv":
                if not self.metrics.endswith((run / name).read_bytes().partition(b"\n")[2]):
                    faults.append("metrics.csv is not the end of the undisturbed run's")
            elif metrics_aside(run) and name.startswith("last"):
                if print_of(run / name).tensors != print_of(self.run / name).tensors:
                    faults.append(f"{name} differs from the undisturbed run's")
            elif not (run / name).exists() or (run / name).read_bytes() != (self.run / name).read_bytes():
                faults.append(f"{name} differs from the undisturbed run's")
        names = {str(f.relative_to(run)) for f in run.rglob("*")}
        for name in sorted({str(f.relative_to(self.run)) for f in self.run.rglob("*")} - names):
            if not (name.startswith("plots") and "no pictures" in said):
                faults.append(f"{name} is missing")
        for name in sorted(names):
            if is_unfinished(name) or name.startswith("last.new") or (".damaged" in name and "set aside" not in said):
                faults.append(f"litter: {name}")
            if (run / name).is_file() and (run / name).stat().st_size == 0:
                faults.append(f"{name} is empty")
        rows = list(csv.reader(io.StringIO((run / "timing.csv").read_text())))
        steps = [float(row[0]) for row in rows[1:]]
        if any(len(row) != len(rows[0]) for row in rows) or steps != sorted(steps) or max(steps, default=0) > self.steps:
            faults.append("timing.csv has torn rows or steps out of order")
        if "set aside" not in said:  # the history of other calls is kept
            if min(steps, default=0) > 3:
                faults.append("timing.csv has lost its first rows")
            events = "events.out.tfevents.0.weyl"
            if (run / events).stat().st_size != (self.run / events).stat().st_size:
                faults.append(f"{events} has lost events")
        return faults


def digests(folder):
    """The files below a folder by their names; those in the making, and what `data make` goes on from, are left out."""
    found = {}
    for file in sorted(pathlib.Path(folder).rglob("*")):
        name = str(file.relative_to(folder))
        if file.is_file() and not is_unfinished(name) and ".partial" not in name:
            found[name] = hashlib.sha256(file.read_bytes()).hexdigest()
    return found


def unfinished(folder):
    return sorted(str(f.relative_to(folder)) for f in pathlib.Path(folder).rglob("*") if is_unfinished(f.name))
