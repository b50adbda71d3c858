"""scripts/kill_test without its header: KILLS ERRORS, and the environment's SEED, JOBS, THREADS, WEYL."""

import collections
import concurrent.futures
import os
import pathlib
import random
import resource
import shutil
import signal
import sys
import tempfile
import threading
import time

import calls
import cases
import whole
from killer import Killer
from table import Table

# Exit codes that leave nothing unfinished; minus a signal's number for a process that it ended.
TIDY = (0, 5, 128 + signal.SIGINT, -signal.SIGINT, -signal.SIGTERM, -signal.SIGHUP)
REMOVING = ("unlink", "unlinkat", "rmdir")  # when these fail, something stays until the next call


class Test:
    def __init__(self, place, table, kills, errors, seed):
        self.place, self.table, self.lock = place, table, threading.Lock()
        self.kills_left, self.errors_left = kills, errors
        self.next_seed = table.last_seed() + 1 if seed is None else seed
        self.next_error = table.count("error") + table.count("missed") if seed is None else seed
        self.calls = {}  # to disturb, of each case in their order
        for case in ["train", "resume", place.sweep, *place.verbs]:
            folder = place.new_folder("trial", case == "resume")
            self.calls[case] = calls.calls_on("trial", "profile.log", self.command(case, folder), env=place.environment_in(folder))
            shutil.rmtree(folder)
        self.errors = self._in_turn([(case, call) for case, some in self.calls.items() for call in some])

    @staticmethod
    def _in_turn(errors):
        """The order of the errors: each case in turn, of each its kinds of calls in turn, and of one kind first some that lie far
        from one another, from the first to the last."""
        groups = collections.defaultdict(lambda: collections.defaultdict(list))
        for case, call in errors:
            groups[case][call.name, call.error].append((case, call))
        ranked = []
        for kinds in groups.values():
            for kind, group in enumerate(kinds.values()):
                places = sorted(range(len(group)), key=lambda i: i * 0.6180339887498949 % 1)
                ranked += [((rank, kind), error) for rank, error in zip(places, group)]
        return [error for _, error in sorted(ranked, key=lambda one: one[0])]

    def command(self, case, folder):
        """Of a trial in a folder: a training in run/, a sweep in sweep/, a verb into out/."""
        if isinstance(case, cases.Verb):
            return self.place.command_of(case, folder / "out")
        if isinstance(case, cases.Sweep):
            return case.command(folder)
        return self.place.command_of_training(folder / "run")

    def take(self, what):
        """A number for the next seed or the next error; None when there are enough."""
        with self.lock:
            if what == "seed" and self.kills_left > 0:
                self.next_seed += 1
                return self.next_seed - 1
            if what == "error" and self.errors_left > 0:
                self.errors_left -= 1
                self.next_error += 1
                return self.next_error - 1
            return None

    def stop(self):
        with self.lock:
            self.kills_left = self.errors_left = 0

    def killed(self):
        """Counts a kill; whether more are asked for."""
        with self.lock:
            self.kills_left -= 1
            return self.kills_left > 0

    def work(self):
        """Kills and errors in turn, until there are enough of both."""
        while True:
            seed, error = self.take("seed"), self.take("error")
            if seed is None and error is None:
                return
            if seed is not None:
                draw = random.Random(seed)
                chance = draw.random()
                (self.kill_verb if chance < 0.4 else self.kill_training if chance < 0.8 else self.kill_sweep)(seed, draw)
            for number in [] if error is None else [error] + [n for n in [self.take("error")] if n is not None]:
                self.one_error(number)

    def kill_training(self, seed, draw):
        """Kills a training again and again, resumes it each time, and compares its end."""
        folder = self.place.new_folder(f"kill-{seed}")
        run, log, killer = folder / "run", folder / "run" / "log.txt", Killer(self.place, folder, draw)
        had_previous = False
        for _ in range(8):
            case = "resume" if (run / "config.toml").exists() else "train"
            command = self.place.command_of_training(run)
            before = log.stat().st_size if log.exists() else 0
            if draw.random() < 0.25:
                row, code, said, faults = killer.kill_at(draw.choice(self.calls[case]), command)
            else:
                appeared = (lambda: log.exists() and log.stat().st_size > before) if case == "resume" else run.exists
                row, code, said, faults = killer.kill(command, self.place.seconds["train"], appeared)
            if run.exists():
                faults += self.place.reference.faults_between(run, had_previous, self.place.weyl)
            if code == 5 and "saved at step" not in said:
                faults.append("exit code 5 without a word of what was saved")
            if code in (0, 5):
                faults += self.place.faults_of_temporary(folder)
            shutil.rmtree(folder / "tmp")
            (folder / "tmp").mkdir()
            self.table.add(folder, faults, "whole", seed=seed, case=case, **row)
            had_previous = (run / "previous").exists()
            if not self.killed() or code == 0:
                break
        start = time.monotonic()
        faults = self.place.finish_training(folder, "")
        self.table.add(folder, faults, "same bits, no litter", kind="end", seed=seed, case="train",
                       seconds=f"{time.monotonic() - start:.2f}")
        shutil.rmtree(folder)

    def kill_verb(self, seed, draw):
        verb = draw.choice(self.place.verbs)
        folder = self.place.new_folder(f"kill-{seed}")
        out, killer, command = folder / "out", Killer(self.place, folder, draw), self.command(verb, folder)
        if draw.random() < 0.4:
            row, code, _, faults = killer.kill_at(draw.choice(self.calls[verb]), command)
        else:
            row, code, _, faults = killer.kill(command, self.place.seconds[verb.name], lambda: any(out.iterdir()))
        faults += self.place.faults_of_outputs(verb, out)
        litter = whole.unfinished(out)
        if litter and code in TIDY:
            faults.append("litter: " + " ".join(litter))
        found, remarks = self.place.finish_verb(verb, folder)
        remarks += ["a file in the making is left"] if litter else []
        self.killed()
        self.table.add(folder, faults + found, "; ".join(["whole, and whole again", *remarks]), seed=seed, case=verb.name, **row)
        shutil.rmtree(folder)

    def kill_sweep(self, seed, draw):
        """Kills a sweep, or one of three shards that are started together in a new folder, and lets it go on to its end."""
        sweep, folder = self.place.sweep, self.place.new_folder(f"kill-{seed}")
        killer, shards = Killer(self.place, folder, draw), 3 if draw.random() < 0.5 else 1
        others = [self.place.start(sweep.command(folder, f"{i}/{shards}")[1:], folder / f"shard-{i}.log") for i in range(2, shards + 1)]
        command = sweep.command(folder, f"1/{shards}")
        if draw.random() < 0.4:
            row, _, _, faults = killer.kill_at(draw.choice(self.calls[sweep]), command)
        else:
            row, _, _, faults = killer.kill(command, self.place.seconds[sweep.name], (folder / "sweep").exists)
        for i, other in enumerate(others, 2):
            code = other.wait()
            if code != 0:
                said = (folder / f"shard-{i}.log").read_text(errors="replace")
                faults.append(f"shard {i} of {shards} ended with exit code {code}: {cases.last_line(said)}")
        faults += sweep.faults_between(folder) + sweep.finish(folder)
        self.killed()
        case = sweep.name if shards == 1 else f"{sweep.name}, {shards} shards"
        self.table.add(folder, faults, "same table, no litter", seed=seed, case=case, **row)
        shutil.rmtree(folder)

    def one_error(self, number):
        """One call that fails."""
        case, call = self.errors[number % len(self.errors)]
        training = not isinstance(case, (cases.Verb, cases.Sweep))
        folder = self.place.new_folder(f"error-{number}", case == "resume")
        log, start = folder / "strace.log", time.monotonic()
        done = self.place.run(calls.failing(call, log) + self.command(case, folder), folder)
        (folder / "stderr.log").write_text(done.stderr)
        at, faults, remarks = calls.was_injected(log), [], []
        if at is not None:
            if done.returncode not in (0, 3):
                faults.append(f"exit code {done.returncode}")
            lines = [line for line in done.stderr.splitlines() if line.startswith("weyl: ")]
            if done.returncode != 0 and len(lines) != 1:
                faults.append(f"must end with one line, got {done.stderr.strip()!r}")
            if call.name not in REMOVING and f"{folder.name}/tmp" not in at:  # that one may not be able to remove itself
                faults += self.place.faults_of_temporary(folder)
            check = (self._training_after_error if training else self._sweep_after_error if case is self.place.sweep
                     else self._verb_after_error)
            found, remarks = check(case, call, folder, done)
            faults += found
        self.table.add(folder, faults, "; ".join(["whole, then the undisturbed one's bits", *remarks]),
                       kind="missed" if at is None else "error", case=case if training else case.name,
                       what=f"{call.name} {call.error}", at=f"{call.number}: {(at or call.path).partition(folder.name)[2].strip('/') or '.'}",
                       exit=done.returncode, seconds=f"{time.monotonic() - start:.2f}")
        shutil.rmtree(folder)

    def _training_after_error(self, case, call, folder, done):
        run, faults = folder / "run", []
        if run.exists():
            faults += self.place.reference.faults_between(run, False, self.place.weyl, empty=False)
            if case == "resume" and not ((run / "last").exists() or (run / "previous").exists()):
                faults.append("no checkpoint is left")
            litter = whole.unfinished(run) + [name for name in ("last.new",) if (run / name).exists()]
            if case == "train" and litter and call.name not in REMOVING:  # the other one begins with litter
                faults.append("litter: " + " ".join(litter))
        return faults + self.place.finish_training(folder, done.stderr), []

    @staticmethod
    def _sweep_after_error(sweep, call, folder, done):
        return sweep.faults_between(folder) + sweep.finish(folder), []

    def _verb_after_error(self, verb, call, folder, done):
        out = folder / "out"
        faults, litter = self.place.faults_of_outputs(verb, out), whole.unfinished(out)
        if litter and call.name not in REMOVING:
            faults.append("litter: " + " ".join(litter))
        if done.returncode == 0 and whole.digests(out) != self.place.outputs[verb.name]:
            faults.append("exit code 0, but not all files are there")
        found, remarks = self.place.finish_verb(verb, folder)
        return faults + found, remarks


def main():
    kills, errors = int(sys.argv[1]), int(sys.argv[2])
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for number in (signal.SIGHUP, signal.SIGQUIT):  # in the background, and under nohup, they would be ignored
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    root = pathlib.Path(__file__).resolve().parents[2]
    jobs, threads = int(os.environ.get("JOBS", os.cpu_count())), int(os.environ.get("THREADS", 1))
    seed = int(os.environ["SEED"]) if os.environ.get("SEED") else None
    table = Table(root / "build/kill-test.csv", root / "build/kill-test-failures")
    with tempfile.TemporaryDirectory(prefix="weyl-kill-") as folder:
        test = Test(cases.Place(folder, os.environ["WEYL"], threads), table, kills, errors, seed)
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            try:
                for work in [pool.submit(test.work) for _ in range(jobs)]:
                    work.result()
            except BaseException:  # Ctrl-C, or a fault of this script: what has begun ends first
                test.stop()
                raise
        os.chdir(root)
    new = table.new
    print(f"now: {new['kill']} kills, {new['end']} ends compared, {new['error']} injected errors, {new['failed']} failed")
    print(f"in all: {table.count('kill')} kills, {table.count('end')} ends compared, {table.count('error')} injected errors, "
          f"{table.failed()} failed (build/kill-test.csv; {len(test.errors)} errors can be injected)")
    return 1 if new["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
