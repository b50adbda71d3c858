"""scripts/kill_test --ranks N KILLS: processes of a training or a prediction are killed, one at a time, at random instants."""

import os
import pathlib
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import cases
import whole
from table import Table

WITHIN = 5  # seconds from a kill to the end of the others


def ranks_of(process):
    """The process and its children, which are the other ranks."""
    found = []
    for status in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = status.read_text().rpartition(")")[2].split()[1]
        except OSError:
            continue
        if int(parent) == process.pid:
            found.append(int(status.parent.name))
    return [process.pid, *sorted(found)]


def is_alive(process):
    try:
        return pathlib.Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


class Test:
    def __init__(self, weyl, ranks, table):
        self.weyl, self.ranks, self.table = weyl, ranks, table
        self.environment = dict(os.environ, TMPDIR=str(pathlib.Path("tmp").absolute()))
        pathlib.Path("tmp").mkdir()
        pathlib.Path("config.toml").write_text(cases.DATA.format(every=3))
        pathlib.Path("every.toml").write_text(cases.DATA.format(every=1))
        subprocess.run([weyl, "data", "make", "nbody", "--out", "data", "train=60", "valid=20", "test=20", "--quiet"], check=True,
                       stdout=subprocess.DEVNULL)
        pathlib.Path("through").mkdir()
        start = time.monotonic()
        subprocess.run(self.command(pathlib.Path("through/run")), check=True, env=self.environment, stdout=subprocess.DEVNULL)
        self.seconds = time.monotonic() - start
        start = time.monotonic()
        subprocess.run(self.predict(pathlib.Path("through")), check=True, env=self.environment, stdout=subprocess.DEVNULL)
        self.seconds_of_prediction = time.monotonic() - start
        self.predicted = pathlib.Path("through/out.safetensors").read_bytes()
        self.reference = whole.Reference(pathlib.Path("through/run"), lambda run: subprocess.Popen(
            self.command(run, "every.toml"), env=self.environment, stdout=subprocess.DEVNULL))

    def command(self, run, config="config.toml"):
        what = ["--resume", str(run)] if (run / "config.toml").exists() else [config, "--out", str(run)]
        return [self.weyl, "train", *what, "--ranks", str(self.ranks), "--threads", "1", "--quiet", "--no-pictures"]

    def kill(self, folder, draw, command, seconds, begun, is_over):
        """Kills one rank of a command that takes so many seconds; the row, whether it was done, the faults. `begun`: whether it is at
        its work; `is_over`: whether ranks may already end as they should."""
        log = folder / "stderr.log"
        with open(log, "wb") as out:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=out, env=self.environment)
        at = f"{1000 * self.wait(process, seconds, begun, draw):.0f} ms"
        there, faults = [one for one in ranks_of(process) if is_alive(one)], []
        done = process.poll() is not None or not there
        victim = draw.randrange(len(there)) if there else 0
        if not done:
            try:
                os.kill(there[victim], signal.SIGKILL)
            except ProcessLookupError:
                pass
        start = time.monotonic()
        process_ended = False
        while time.monotonic() < start + 2 * WITHIN:
            process_ended = process.poll() is not None
            if process_ended and not any(is_alive(other) for other in there):
                break
            time.sleep(0.01)
        took = time.monotonic() - start
        if not done and took > WITHIN:
            faults.append(f"the others ended {took:.1f} s after the kill")
        for other in there:
            if is_alive(other):
                if shutil.which("gdb"):  # what it waits for
                    with open(folder / f"stack-{other}.txt", "wb") as out:
                        subprocess.run(["gdb", "-p", str(other), "-batch", "-ex", "thread apply all backtrace"], stdout=out,
                                       stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
                os.kill(other, signal.SIGKILL)
        code = process.wait()
        lines = [line for line in log.read_text(errors="replace").splitlines() if line]
        survivors = len(there) > 1 and code != 0 and not is_over()
        if len(lines) > 1 or (survivors and len(lines) != 1) or any(not line.startswith("weyl: ") for line in lines):
            faults.append(f"must end with one line, got {lines}")
        faults += [f"litter: {name}" for name in pathlib.Path("tmp").iterdir()]
        row = {"kind": "kill", "what": f"SIGKILL of rank {victim} of {len(there)}", "at": "after its end" if done else at,
               "exit": code, "seconds": f"{took:.2f}"}
        return row, code == 0, faults

    @staticmethod
    def wait(process, seconds, begun, draw):
        """Until an instant anywhere, or one after the work has begun; the seconds."""
        start = time.monotonic()
        if draw.random() < 0.3:
            end = start + draw.uniform(0, seconds)
        else:
            while process.poll() is None and not begun(process):
                time.sleep(0.002)
            end = time.monotonic() + draw.uniform(0, 0.25 * seconds)
        while time.monotonic() < end and process.poll() is None:
            time.sleep(0.002)
        return time.monotonic() - start

    @staticmethod
    def step_of(run):
        try:
            return whole.print_of(run / "last" / whole.PAIR[0]).step
        except FileNotFoundError:
            return -1

    def predict(self, folder):
        return [self.weyl, "predict", "through/run", "data/train.safetensors", "--out", str(folder / "out.safetensors"), "--batch", "1",
                "--ranks", str(self.ranks), "--threads", "1", "--quiet"]

    def trial(self, seed, kills):
        """Kills a training again and again, resumes it each time, and compares its end; or a prediction. How many kills were made."""
        draw, folder = random.Random(seed), pathlib.Path(f"ranks-{seed}")
        folder.mkdir()
        made = self.trial_of_prediction(seed, draw, folder) if seed % 4 == 0 else self.trial_of_training(seed, draw, folder, kills)
        shutil.rmtree(folder)
        return made

    def trial_of_prediction(self, seed, draw, folder):
        out = folder / "out.safetensors"
        row, done, faults = self.kill(folder, draw, self.predict(folder), self.seconds_of_prediction,
                                      lambda process: len(ranks_of(process)) == self.ranks, out.exists)
        if out.exists() and out.read_bytes() != self.predicted:
            faults.append("the file is not the undisturbed one's")
        if "rank 0" not in row["what"]:
            faults += [f"litter: {name}" for name in whole.unfinished(folder)]
        end = subprocess.run([*self.predict(folder), "--force"], capture_output=True, text=True, env=self.environment)
        if end.returncode != 0 or out.read_bytes() != self.predicted:
            faults.append(f"the same again is not the undisturbed one's: {end.stderr.strip()}")
        self.table.add(folder, faults, "one line, whole, and whole again", seed=seed, case=f"predict, {self.ranks} ranks", **row)
        return 0 if done else 1

    def trial_of_training(self, seed, draw, folder, kills):
        run, made, done = folder / "run", 0, False
        log = run / "log.txt"
        while made < min(4, kills) and not done:
            had_previous, before = (run / "previous").exists(), log.stat().st_size if log.exists() else 0
            row, done, faults = self.kill(folder, draw, self.command(run), self.seconds,
                                          lambda _: log.exists() and log.stat().st_size > before,
                                          lambda: self.step_of(run) >= self.reference.steps)
            if run.exists():
                faults += self.reference.faults_between(run, had_previous, self.weyl)
            self.table.add(folder, faults, "one line, whole", seed=seed, case=f"train, {self.ranks} ranks", **row)
            made += 0 if row["at"] == "after its end" else 1
        start = time.monotonic()
        end = subprocess.run(self.command(run), capture_output=True, text=True, env=self.environment)
        faults = [f"going on ended with exit code {end.returncode}: {end.stderr.strip()}"] if end.returncode != 0 else []
        faults += [] if faults else self.reference.faults_at_end(run, end.stderr)
        self.table.add(folder, faults, "same bits, no litter", kind="end", seed=seed, case=f"train, {self.ranks} ranks",
                       seconds=f"{time.monotonic() - start:.2f}")
        return made


def main():
    ranks, kills = int(sys.argv[1]), int(sys.argv[2])
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    root = pathlib.Path(__file__).resolve().parents[2]
    table = Table(root / "build/kill-test.csv", root / "build/kill-test-failures")
    seed = int(os.environ["SEED"]) if os.environ.get("SEED") else table.last_seed() + 1
    with tempfile.TemporaryDirectory(prefix="weyl-kill-") as folder:
        os.chdir(folder)
        test = Test(os.environ["WEYL"], ranks, table)
        made = 0
        while made < kills:
            made += test.trial(seed, kills - made)
            seed += 1
        os.chdir(root)
    new = table.new
    print(f"{ranks} ranks: {made} kills, {new['end']} ends compared, {new['failed']} failed (build/kill-test.csv)")
    return 1 if new["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
