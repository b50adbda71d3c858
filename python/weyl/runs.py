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


class Named(dict):
    """A dict that says what it holds where something else is asked for."""

    def __init__(self, where, named=()):
        super().__init__(named)
        self.where = where

    def __missing__(self, name):
        raise DataError(f"{self.where}: must have {name!r}, has {', '.join(self) or 'nothing yet'}")


class Table(Named):
    """Columns by name, as arrays; a cell without a number is NaN."""

    def frame(self):
        """The same as a DataFrame of pandas."""
        import pandas

        return pandas.DataFrame(self)


class Run:
    """metrics and timing: tables with a row for each validation. result: what the training reported at its end, None
    before. predictions: for the pictures, of each output that was measured on the test split a table of labels and
    predictions: of a large split 4,000 pairs drawn at random, and none where the training had no_pictures. All of them
    are those of weyl.load(run).predict on the data."""

    def __init__(self, path):
        self.path = Path(path)
        if not (self.path / "config.toml").is_file():
            raise DataError(f"{path}: must be a run folder, but has no config.toml")
        self.metrics = table(self.path / "metrics.csv")
        self.timing = table(self.path / "timing.csv")
        result = self.path / "result.json"
        try:
            self.result = json.loads(result.read_text(encoding="utf-8")) if result.exists() else None
        except ValueError as fault:
            raise DataError(f"{result}: must be JSON: {fault}") from None
        parities = sorted(self.path.glob("plots/parity_*.csv"))
        self.predictions = Named(self.path / "plots", {file.stem[len("parity_"):]: table(file) for file in parities})

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
        values = self.metrics[name]
        return self.metrics["step"][np.isfinite(values)], values[np.isfinite(values)]


def table(path):
    """The table of a CSV file; none where there is no file. A last line without its end is still being written."""
    data = path.read_bytes() if path.exists() else b""
    header, *rows = list(csv.reader(io.StringIO(data[:data.rfind(b"\n") + 1].decode()))) or [[]]
    for number, row in enumerate(rows, 2):
        if len(row) != len(header):
            raise DataError(f"{path}: line {number} must have {len(header)} columns, has {len(row)}")
    return Table(path, {name: column([row[k] for row in rows]) for k, name in enumerate(header)})


def column(cells):
    for kind in (int, lambda cell: float(cell or "nan"), str):
        try:
            return np.array([kind(cell) for cell in cells], dtype=float if not cells else None)
        except ValueError:
            continue
