"""scripts/kill_test without its header: KILLS ERRORS, and the environment's SEED, JOBS, THREADS, WEYL."""

import collections
import concurrent.futures
import csv
import os
import pathlib
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

import calls
import cases
import whole

SAVING = {signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1}
PASSED_OVER = {signal.SIGPIPE, signal.SIGXFSZ}  # the program goes on; a kill follows
ENDING = [signal.SIGQUIT, signal.SIGABRT, signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGALRM,
          signal.SIGVTALRM, signal.SIGPROF, signal.SIGUSR2, signal.SIGXCPU, signal.SIGSYS, signal.SIGTRAP, signal.SIGPOLL]
STOPPING = {signal.SIGSTOP, signal.SIGTSTP}
COLUMNS = ["number", "kind", "seed", "case", "what", "at", "exit", "seconds", "result"]
LONGEST = 60  # seconds of any call


class Table:
    """build/kill-test.csv: what was done so far. One line each, appended whole."""

    def __init__(self, path, failures):
        self.path, self.failures, self.lock = path, failures, threading.Lock()
        self.new = collections.Counter()
        self.rows = []
        if path.exists():
            with open(path, newline="") as table:
                self.rows = list(csv.DictReader(table))
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(",".join(COLUMNS) + "\n")

    def add(self, folder=None, **row):
        """A row, and when it failed, what was in the folder of the trial."""
        with self.lock:
            row = {**row, "number": len(self.rows) + 1}
            self.rows.append(row)
            with open(self.path, "a", newline="") as table:
                csv.DictWriter(table, COLUMNS, lineterminator="\n").writerow(row)
            failed = row["result"].startswith("FAILED")
            self.new[row["kind"]] += 1
            self.new["failed"] += failed
            if failed:
                print(f"row {row['number']}: {row['case']}, {row['what']} {row['at']}: {row['result']}", flush=True)
                if folder and folder.exists():
                    shutil.copytree(folder, self.failures / str(row["number"]), symlinks=True, dirs_exist_ok=True)

    def count(self, kind):
        return sum(row["kind"] == kind for row in self.rows)


def result_of(faults, otherwise):
    return "FAILED: " + "; ".join(faults) if faults else otherwise


class Killer:
    """One process that gets a signal at a random instant."""

    def __init__(self, place, draw):
        self.place, self.draw = place, draw

    def signal(self):
        chance = self.draw.random()
        if chance < 0.5:
            return [signal.SIGKILL]
        if chance < 0.75:
            first = self.draw.choice(sorted(SAVING))
            return [first] + self.draw.choice([[], [], [signal.SIGINT], [signal.SIGKILL]])
        return [self.draw.choice(ENDING + sorted(PASSED_OVER | STOPPING))]

    def instant(self, seconds, appeared):
        """Waits: within the first 150 ms, or a little after `appeared`, or anywhere. Returns what it was."""
        chance = self.draw.random()
        if chance < 0.3:
            wait, kind = self.draw.uniform(0, 0.15), "ms"
        elif chance < 0.55 and appeared:
            end = time.monotonic() + seconds
            while not appeared() and time.monotonic() < end:
                time.sleep(0.0005)
            wait, kind = self.draw.uniform(0, 0.05), "ms after its first file"
        else:
            wait, kind = self.draw.uniform(0.15, max(1.1 * seconds, 0.2)), "ms"
        time.sleep(wait)
        return f"{1000 * wait:.0f} {kind}"

    def kill(self, command, folder, seconds, appeared):
        """Row of the table, exit code, stderr, and the faults of the exit code."""
        signals, log = self.signal(), folder / "stderr.log"
        start = time.monotonic()
        with open(log, "wb") as out:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=out,
                                       env=self.place.environment)
        at = self.instant(seconds, appeared)
        ended = process.poll() is not None
        for i, number in enumerate(signals):
            if i > 0:
                time.sleep(self.draw.uniform(0, 0.02))
            process.send_signal(number)
        if signals[-1] in STOPPING | PASSED_OVER:
            time.sleep(self.draw.uniform(0, 0.2))
            process.send_signal(signal.SIGCONT)
            time.sleep(self.draw.uniform(0, 0.2))
            process.send_signal(signal.SIGKILL)
            signals.append(signal.SIGKILL)
        faults = []
        try:
            code = process.wait(LONGEST)
        except subprocess.TimeoutExpired:
            process.kill()
            code = process.wait()
            faults.append(f"still ran {LONGEST} s after its signal")
        allowed = {0} | {-number for number in signals}
        if signals[0] in SAVING:
            allowed |= {5, 128 + signal.SIGINT} if signal.SIGINT in signals[1:] else {5}
        if code not in allowed:
            faults.append(f"exit code {code} after {'+'.join(s.name for s in signals)}")
        row = {"kind": "kill", "what": "+".join(s.name for s in signals), "at": "after its end" if ended else at, "exit": code,
               "seconds": f"{time.monotonic() - start:.2f}"}
        return row, code, log.read_text(errors="replace"), faults

    def kill_at_call(self, call, command, folder):
        start, log = time.monotonic(), folder / "strace.log"
        done = self.place.run(calls.fatal(call, log) + command, timeout=LONGEST)
        faults = [] if done.returncode in (0, -9, 137) else [f"exit code {done.returncode}"]
        row = {"kind": "kill", "what": "SIGKILL", "at": f"{call.name} {call.number}", "exit": done.returncode,
               "seconds": f"{time.monotonic() - start:.2f}"}
        return row, done.returncode, done.stderr, faults


class Test:
    def __init__(self, place, table, kills, errors, seed):
        self.place, self.table = place, table
        self.lock = threading.Lock()
        self.kills_left, self.errors_left = kills, errors
        self.chain = seed if seed is not None else max([int(row["seed"]) for row in table.rows if row["seed"]], default=0) + 1
        self.error = table.count("error") if seed is None else seed
        self.of_training = {}

    def profile(self):
        """The calls to disturb, of each case in their order."""
        self.of_training = {"train": self.calls_of("train"), "resume": self.calls_of("resume")}
        self.all_errors = [("train", call) for call in self.of_training["train"]]
        self.all_errors += [("resume", call) for call in self.of_training["resume"]]
        self.of_verb = {}
        for verb in self.place.verbs:
            self.of_verb[verb.name] = self.calls_of(verb)
            self.all_errors += [(verb, call) for call in self.of_verb[verb.name]]

    def calls_of(self, case):
        folder = self.place.new_folder("trial-0", case == "resume")
        found = calls.calls_on("trial-0", "profile.log", self.command_of(case, folder), env=self.place.environment)
        shutil.rmtree(folder)
        return found

    def command_of(self, case, folder):
        return self.place.command_of(case, folder) if isinstance(case, cases.Verb) else self.place.command_of_training(folder / "run")

    def take(self, what):
        """A number for the next chain of kills or the next error; None when there are enough."""
        with self.lock:
            if what == "kill":
                if self.kills_left <= 0:
                    return None
                self.chain += 1
                return self.chain - 1
            if self.errors_left <= 0:
                return None
            self.errors_left -= 1
            self.error += 1
            return self.error - 1

    def killed(self):
        with self.lock:
            self.kills_left -= 1
            return self.kills_left > 0

    def work(self):
        """Kills and errors in turn, until there are enough of both."""
        while True:
            chain, error = self.take("kill"), self.take("error")
            if chain is None and error is None:
                return
            if chain is not None:
                self.kills(chain)
            if error is not None:
                self.one_error(error)

    def kills(self, chain):
        draw = random.Random(chain)
        if draw.random() < 0.5:
            self.kill_verb(chain, draw)
        else:
            self.kill_training(chain, draw)

    def kill_training(self, chain, draw):
        """Kills a training again and again, resumes it each time, and compares its end."""
        folder = self.place.new_folder(f"trial-{chain}")
        run, killer, had_previous, more, code = folder / "run", Killer(self.place, draw), False, True, -9
        for _ in range(8):
            resumed = (run / "config.toml").exists()
            command = self.place.command_of_training(run)
            log = run / "log.txt"
            before = log.stat().st_size if log.exists() else 0
            if draw.random() < 0.25:
                call = draw.choice(self.of_training["resume" if resumed else "train"])
                row, code, said, faults = killer.kill_at_call(call, command, folder)
            else:
                appeared = (lambda: log.exists() and log.stat().st_size > before) if resumed else run.exists
                row, code, said, faults = killer.kill(command, folder, self.place.seconds["train"], appeared)
            if run.exists():
                faults += self.place.reference.faults_between(run, had_previous, self.place.weyl)
            if code == 5 and "saved at step" not in said:
                faults.append("exit code 5 without a word of what was saved")
            self.table.add(folder, seed=chain, case="resume" if resumed else "train", result=result_of(faults, "whole"), **row)
            had_previous = (run / "previous").exists()
            more = self.killed()
            if code == 0 or not more:
                break
        start = time.monotonic()
        faults = self.place.finish_training(run, "")
        self.table.add(folder, kind="end", seed=chain, case="train", what="", at="", exit="",
                       seconds=f"{time.monotonic() - start:.2f}", result=result_of(faults, "same bits, no litter"))
        shutil.rmtree(folder)

    def kill_verb(self, chain, draw):
        verb = draw.choice(self.place.verbs)
        folder, killer = self.place.new_folder(f"trial-{chain}"), Killer(self.place, draw)
        out = folder / "out"
        out.mkdir()
        command = self.place.command_of(verb, out)
        if draw.random() < 0.4:
            row, code, said, faults = killer.kill_at_call(draw.choice(self.of_verb[verb.name]), command, folder)
        else:
            row, code, said, faults = killer.kill(command, folder, self.place.seconds[verb.name], lambda: any(out.iterdir()))
        faults += self.place.faults_of_outputs(verb, out)
        litter = whole.unfinished(out)
        if litter and code in (0, 5):
            faults.append("litter: " + " ".join(litter))
        found, remark = self.place.finish_verb(verb, out)
        faults += found
        if litter:
            remark += ("; " if remark else "") + f"left {len(litter)} file in the making"
        self.killed()
        self.table.add(folder, seed=chain, case=verb.name, result=result_of(faults, "whole, and whole again" + (f" ({remark})" if remark else "")), **row)
        shutil.rmtree(folder)

    def one_error(self, number):
        """One call that fails; the numbers go through all calls, from the first to the last and evenly all along."""
        size = len(self.all_errors)
        stride = next(s for s in range(int(0.618 * size), 2 * size) if all(s % p or size % p for p in range(2, size + 1)))
        case, call = self.all_errors[number * stride % size]
        training = not isinstance(case, cases.Verb)
        folder = self.place.new_folder(f"error-{number}", case == "resume")
        out, log = folder / "out", folder / "strace.log"
        if not training:
            out.mkdir()
        target = folder if training else out
        had_previous = case == "resume"
        start = time.monotonic()
        done = self.place.run(calls.failing(call, log) + self.command_of(case, target), timeout=LONGEST)
        at = calls.was_injected(log)
        faults, result = [], "whole, then same bits"
        if at is None:
            result = "not reached"
        else:
            if done.returncode not in (0, 3):
                faults.append(f"exit code {done.returncode}")
            lines = done.stderr.strip().splitlines()
            if done.returncode != 0 and not (lines and lines[-1].startswith("weyl: ") and sum(l.startswith("weyl: ") for l in lines) == 1):
                faults.append(f"must end with one line, got {done.stderr.strip()!r}")
            if training:
                run = folder / "run"
                if run.exists():
                    faults += self.place.reference.faults_between(run, False, self.place.weyl, empty=False)
                    if had_previous and not ((run / "last").exists() or (run / "previous").exists()):
                        faults.append("no checkpoint is left")
                    if call.name not in ("unlink", "unlinkat", "rmdir") and done.returncode == 3 and case == "train":
                        litter = whole.unfinished(run) + (["last.new"] if (run / "last.new").exists() else [])
                        if litter:
                            faults.append("litter: " + " ".join(litter))
                faults += self.place.finish_training(run, done.stderr)
            else:
                faults += self.place.faults_of_outputs(case, out)
                if call.name not in ("unlink", "unlinkat", "rmdir") and whole.unfinished(out):
                    faults.append("litter: " + " ".join(whole.unfinished(out)))
                if done.returncode == 0 and whole.digests(out) != self.place.outputs[case.name]:
                    faults.append("exit code 0, but not all files are there")
                found, remark = self.place.finish_verb(case, out)
                faults += found
                result = "whole, and whole again" + (f" ({remark})" if remark else "")
            (folder / "stderr.log").write_text(done.stderr)
        self.table.add(folder, kind="error" if at else "missed", seed="", case=case if training else case.name,
                       what=f"{call.name} {call.error}", at=f"{call.number}: {strip(at or call.path)}", exit=done.returncode,
                       seconds=f"{time.monotonic() - start:.2f}", result=result_of(faults, result))
        shutil.rmtree(folder)


def strip(path):
    """A path as it is below the trial's folder."""
    return path.split("/", path.count("/"))[-1] if "error-" not in path else path[path.index("error-"):].partition("/")[2] or "."


def main():
    kills, errors = int(sys.argv[1]), int(sys.argv[2])
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    root = pathlib.Path.cwd()
    jobs, threads = int(os.environ.get("JOBS", os.cpu_count())), int(os.environ.get("THREADS", 1))
    table = Table(root / "build/kill-test.csv", root / "build/kill-test-failures")
    with tempfile.TemporaryDirectory(prefix="weyl-kill-") as folder:
        place = cases.Place(folder, os.environ["WEYL"], threads)
        seed = int(os.environ["SEED"]) if os.environ.get("SEED") else None
        test = Test(place, table, kills, errors, seed)
        test.profile()
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            for work in [pool.submit(test.work) for _ in range(jobs)]:
                work.result()
        os.chdir(root)
    new, failed = table.new, sum(row["result"].startswith("FAILED") for row in table.rows)
    print(f"now: {new['kill']} kills, {new['end']} ends compared, {new['error']} injected errors, {new['failed']} failed")
    print(f"in all: {table.count('kill')} kills, {table.count('end')} ends compared, {table.count('error')} injected errors, "
          f"{failed} failed (build/kill-test.csv)")
    return 1 if new["failed"] else 0


sys.exit(main())
