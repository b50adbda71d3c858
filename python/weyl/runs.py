"""What a training wrote into its run folder, as numpy arrays."""
import csv
import io
import json
from pathlib import Path

import numpy as np

from .errors import DataError, Error


def read(path):
    """A run folder, also one that is still being trained."""
    return Run(path)


class Table(dict):
    """Columns by name, as arrays; a cell without a number is NaN."""

    def frame(self):
        """The same as a DataFrame of pandas."""
        import pandas

        return pandas.DataFrame(self)


class Run:
    """metrics and timing: tables with a row for each validation. result: what the training reported at its end, None
    before. predictions: of each output that was measured on the test split a table of labels and predictions."""

    def __init__(self, path):
        self.path = Path(path)
        if not (self.path / "config.toml").is_file():
            raise DataError(f"{path}: must be a run folder, but has no config.toml")
        self.metrics = table(self.path / "metrics.csv")
        self.timing = table(self.path / "timing.csv")
        result = self.path / "result.json"
        self.result = json.loads(result.read_text(encoding="utf-8")) if result.exists() else None
        parities = sorted(self.path.glob("plots/parity_*.csv"))
        self.predictions = {file.stem[len("parity_"):]: table(file) for file in parities}

    @property
    def config(self):
        """The resolved config as a dict (Python 3.11 and later; before, with the package tomli)."""
        try:
            import tomllib
        except ImportError:
            try:
                import tomli as tomllib
            except ImportError:
                raise Error("weyl.runs: to read a config Python must be 3.11 or later, or have the package tomli") from None
        return tomllib.loads((self.path / "config.toml").read_text(encoding="utf-8"))

    def curve(self, name):
        """Steps and values of a metric, where it has one."""
        if name not in self.metrics:
            raise DataError(f"{self.path}: must have the metric {name!r}, has {', '.join(self.metrics)}")
        values = self.metrics[name]
        return self.metrics["step"][np.isfinite(values)], values[np.isfinite(values)]


def table(path):
    """The table of a CSV file; none where there is no file. A last line without its end is still being written."""
    if not path.exists():
        return Table()
    text = path.read_text(encoding="utf-8")
    header, *rows = csv.reader(io.StringIO(text[:text.rfind("\n") + 1])) or [[]]
    for number, row in enumerate(rows, 2):
        if len(row) != len(header):
            raise DataError(f"{path}: line {number} must have {len(header)} columns, has {len(row)}")
    return Table({name: column([row[k] for row in rows]) for k, name in enumerate(header)})


def column(cells):
    for kind in (int, lambda cell: float(cell or "nan"), str):
        try:
            return np.array([kind(cell) for cell in cells], dtype=float if not cells else None)
        except ValueError:
            continue
