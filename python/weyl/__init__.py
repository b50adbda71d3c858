"""Trained weyl models in Python.

    model = weyl.load("runs/water")             # predictions of any model: model.predict, model.compute
    atoms.calc = weyl.ase.Calculator(model)     # import weyl.ase
    system.addForce(weyl.openmm.force(...))     # import weyl.openmm
    weyl.train("water.toml", out="runs/water")  # the program, with its progress
    weyl.runs.read("runs/water").metrics        # what a training wrote
"""
from . import runs
from .errors import DataError, Error, OutOfMemory, UsageError
from .model import Model, load
from .program import audit, compare, config_new, train

__all__ = ["DataError", "Error", "Model", "OutOfMemory", "UsageError", "audit", "compare", "config_new", "load", "runs",
           "train"]
__version__ = "0.2.0"
