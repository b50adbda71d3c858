"""build/kill-test.csv: what was done so far, and the folders of what failed."""

import collections
import csv
import shutil
import threading

COLUMNS = ["number", "kind", "seed", "case", "what", "at", "exit", "seconds", "result"]


class Table:
    """One line for each trial, appended whole. `kind`: kill; end (a training that was killed, resumed to its end);
    error; missed (an error that the command did not come to)."""

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

    def add(self, folder, faults, otherwise, **row):
        """A row; of a trial with faults also what its folder holds. `otherwise`: the result when there are none."""
        with self.lock:
            row = {**row, "number": len(self.rows) + 1, "result": "FAILED: " + "; ".join(faults) if faults else otherwise}
            self.rows.append(row)
            with open(self.path, "a", newline="") as table:
                csv.DictWriter(table, COLUMNS, lineterminator="\n").writerow(row)
            self.new[row["kind"]] += 1
            if faults:
                self.new["failed"] += 1
                print(f"row {row['number']}: {row['case']}, {row['what']} {row['at']}: {row['result']}", flush=True)
                shutil.copytree(folder, self.failures / str(row["number"]), symlinks=True, dirs_exist_ok=True)

    def count(self, kind):
        return sum(row["kind"] == kind for row in self.rows)

    def failed(self):
        return sum(row["result"].startswith("FAILED") for row in self.rows)

    def last_seed(self):
        return max((int(row["seed"]) for row in self.rows if row["seed"]), default=0)
