"""One process that gets a signal at a random instant, or is killed at a system call."""

import signal
import subprocess
import time

import calls

SAVING = [signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGUSR1]
ENDING = [signal.SIGQUIT, signal.SIGABRT, signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGALRM,
          signal.SIGVTALRM, signal.SIGPROF, signal.SIGUSR2, signal.SIGXCPU, signal.SIGSYS, signal.SIGTRAP, signal.SIGPOLL]
PAUSING = [signal.SIGSTOP, signal.SIGTSTP]  # gone on from, then killed
PASSED_OVER = [signal.SIGPIPE, signal.SIGXFSZ]  # a kill follows
LONGEST = 60  # seconds from a signal to the end


class Killer:
    def __init__(self, place, folder, draw):
        self.place, self.folder, self.draw = place, folder, draw

    def _signals(self):
        chance = self.draw.random()
        if chance < 0.5:
            return [signal.SIGKILL]
        if chance < 0.75:
            return [self.draw.choice(SAVING)] + self.draw.choice([[], [], [], [signal.SIGINT], [signal.SIGKILL]])
        return [self.draw.choice(ENDING + PAUSING + PASSED_OVER)]

    def _wait(self, seconds, appeared):
        """Until an instant in the first 150 ms, or soon after `appeared`, or anywhere; says which."""
        chance = self.draw.random()
        if chance < 0.3:
            wait, after = self.draw.uniform(0, 0.15), ""
        elif chance < 0.55:
            end = time.monotonic() + seconds
            while not appeared() and time.monotonic() < end:
                time.sleep(0.0005)
            wait, after = self.draw.uniform(0, 0.05), " after its first file"
        else:
            wait, after = self.draw.uniform(0.15, max(1.1 * seconds, 0.2)), ""
        time.sleep(wait)
        return f"{1000 * wait:.0f} ms{after}"

    def kill(self, command, seconds, appeared):
        """Row of the table, exit code, stderr, and the faults of the exit code. `seconds`: what the command takes when
        it is not disturbed; `appeared`: whether it has begun to write."""
        signals, log = self._signals(), self.folder / "stderr.log"
        start = time.monotonic()
        with open(log, "wb") as out:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=out,
                                       env=self.place.environment_in(self.folder))
        at = self._wait(seconds, appeared)
        if process.poll() is not None:
            at = "after its end"
        process.send_signal(signals[0])
        if signals[0] in PAUSING + PASSED_OVER:
            time.sleep(self.draw.uniform(0, 0.2))
            process.send_signal(signal.SIGCONT)
            time.sleep(self.draw.uniform(0, 0.2))
            signals.append(signal.SIGKILL)
        for number in signals[1:]:
            time.sleep(self.draw.uniform(0, 0.02))
            process.send_signal(number)
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
        names = "+".join(number.name for number in signals)
        if code not in allowed:
            faults.append(f"exit code {code} after {names}")
        row = {"kind": "kill", "what": names, "at": at, "exit": code, "seconds": f"{time.monotonic() - start:.2f}"}
        return row, code, log.read_text(errors="replace"), faults

    def kill_at(self, call, command):
        """The same of a process that is killed as it enters a call."""
        start = time.monotonic()
        done = self.place.run(calls.fatal(call, self.folder / "strace.log") + command, self.folder)
        faults = [] if done.returncode in (0, -9, 137) else [f"exit code {done.returncode}"]
        row = {"kind": "kill", "what": "SIGKILL", "at": f"{call.name} {call.number}: {call.path}", "exit": done.returncode,
               "seconds": f"{time.monotonic() - start:.2f}"}
        return row, done.returncode, done.stderr, faults
