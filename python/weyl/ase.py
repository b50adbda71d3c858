"""A calculator of ASE: atoms.calc = weyl.ase.Calculator("runs/water")."""
import contextlib
import json
import os
import subprocess
import tempfile
import warnings
import weakref
from socket import AF_UNIX, SHUT_RDWR, socket, timeout

import ase.calculators.calculator
import ase.io
import numpy as np
from ase import Atoms
from ase.calculators.socketio import IPIProtocol
from ase.outputs import Properties, all_outputs
from ase.stress import full_3x3_to_voigt_6_stress
from ase.units import Bohr, Ha

from .errors import DataError, Error, UsageError
from .library import program_path
from .model import Model, found, load, number, number_of_threads, warn_of_no_effect
from .program import failure, flags, run

STATES = ("charge", "spin")


class Calculator(ase.calculators.calculator.Calculator):
    """Energy, forces and stress in eV and Angstrom.

    model: what weyl.load takes, a committee too. charge, spin: of the whole, where the model has learned with them; None
    for those of atoms.info; set(charge=1) changes them. process: the model computes in a process of its own, `weyl serve`,
    as it must where another LibTorch is in this one; it starts with the first atoms, and again where their elements, pbc,
    charge or spin are others, and in a child of fork(); it has no energies of atoms."""

    name = "weyl"

    def __init__(self, model, dtype=None, threads=1, charge=None, spin=None, process=False):
        if process and isinstance(model, Model):
            raise UsageError("weyl.ase.Calculator: model must be paths where process is True, got a model of this process")
        self._potential = Served(found(model), dtype, threads) if process else InProcess(load(model, dtype, threads))
        super().__init__(charge=charge, spin=spin)
        self.parameters.update(self._potential.parameters, process=process)
        self.implemented_properties = self._potential.properties
        if "stress" not in self.implemented_properties:
            warnings.warn("weyl.ase.Calculator: the forces of this model are not derivatives of its energy: they do not "
                          "conserve it, and there is no stress", stacklevel=2)

    def set(self, **parameters):
        """Changes charge and spin; another model needs another calculator."""
        for name, value in parameters.items():
            if name not in STATES:
                raise UsageError(f"weyl.ase.Calculator: charge and spin can be set, not {name}")
        numbers = {name: None if value is None else number(name, value) for name, value in parameters.items()}
        for name, value in numbers.items():
            if value is not None and name not in self._potential.states:
                warn_of_no_effect(name, value)
        changed = super().set(**numbers)
        if changed:
            self.reset()
        return changed

    def check_state(self, atoms, tol=1e-15):
        changes = super().check_state(atoms, tol)
        if self.atoms is not None and self._states_of(self.atoms) != self._states_of(atoms):
            changes.append("info")
        return changes

    def calculate(self, atoms=None, properties=("energy",), system_changes=ase.calculators.calculator.all_changes):
        super().calculate(atoms, properties, system_changes)
        results = self._potential.compute(self.atoms, self._states_of(self.atoms), properties)
        results["free_energy"] = results["energy"]
        if "forces_std" in results:
            results["max_force_std"] = float(np.linalg.norm(results["forces_std"], axis=1).max())
        self.results = results

    def export_properties(self):
        """ASE's own alone: it refuses others."""
        return Properties({name: value for name, value in self.results.items() if name in all_outputs})

    def close(self):
        """Ends the process, where there is one; it starts again with the next atoms."""
        self._potential.close()

    def _states_of(self, atoms):
        """Charge and spin, as far as the model reads them."""
        given = {name: atoms.info.get(name) if self.parameters[name] is None else self.parameters[name]
                 for name in self._potential.states}
        return {name: None if value is None else number(name, value) for name, value in given.items()}


def properties_of(committee, gradient_forces, more=()):
    stress = ["stress"] if gradient_forces else []
    deviations = ["energy_std", "forces_std", "max_force_std"] if committee else []
    return ["energy", "free_energy", "forces", *stress, *more, *deviations]


class InProcess:
    """A model in this process."""

    def __init__(self, model):
        self.model = model
        self.states = [name for name in STATES if model.reads(name)]
        self.parameters = {"model": model.info["models"], "dtype": model.info["dtype"], "threads": model.threads}
        self.properties = properties_of(len(model.info["models"]) > 1, model.info["gradient_forces"], ["energies"])

    def compute(self, atoms, states, properties):
        want = ["energy", "forces"]
        if "stress" in self.properties and fills_space(atoms):
            want.append("stress")
        if "energies" in properties:  # not every model has them
            want.append("energies")
        results = self.model.compute(atoms.numbers, atoms.positions, atoms.cell.array, atoms.pbc, **states, want=want)
        if "stress" in results:
            results["stress"] = full_3x3_to_voigt_6_stress(results["stress"])
        return results

    def close(self):
        pass


class Served:
    """A model behind `weyl serve`, which talks with ASE's side of the protocol over a unix socket."""

    def __init__(self, paths, dtype, threads):
        if not paths:
            raise UsageError("weyl.ase.Calculator: a path must be given")
        self._arguments = ([os.path.abspath(path) for path in paths], dtype, number_of_threads(threads))
        info = run("info", paths[0], quiet=True)
        self.states = [name for name in STATES if any(name == quantity["name"] for quantity in info["inputs"])]
        # Forces that are derivatives are none of the model's own outputs.
        if any(quantity["name"] == "forces" for quantity in info["outputs"]):
            raise UsageError("weyl.ase.Calculator: process must be False where forces are no derivatives of the energy: ASE "
                             "takes none from a process without a virial")
        self.parameters = {"model": [os.fspath(path) for path in paths], "dtype": dtype or info["dtype"],
                           "threads": self._arguments[2]}
        self.properties = properties_of(len(paths) > 1, gradient_forces=True)
        self._started = None  # for which atoms
        self._end = self._process = self._messages = self._protocol = None

    def compute(self, atoms, states, _):
        if not len(atoms):
            raise DataError("weyl.ase.Calculator: there must be atoms")
        what = (os.getpid(), atoms.numbers.tolist(), atoms.pbc.tolist(), states)  # a child of fork() has its own process
        if self._started != what:
            self.start(atoms, states)
            self._started = what
        try:
            found = self._protocol.calculate(atoms.positions, atoms.cell)
        except OSError:
            raise self.fault() from None
        except BaseException as fault:  # the conversation was left in its middle
            self.close()
            if isinstance(fault, AssertionError):
                raise Error("weyl.ase.Calculator: energy, forces and virial of a process must be finite, those of these "
                            "atoms are not") from None
            raise
        results = {"energy": float(found["energy"]), "forces": found["forces"]}
        if fills_space(atoms):
            results["stress"] = -full_3x3_to_voigt_6_stress(found["virial"]) / atoms.get_volume()
        if "energy_std" in self.properties:
            members = json.loads(found["morebytes"].tobytes())  # in the protocol's units
            results["energy_std"] = float(np.std(members["committee_pot"])) * Ha
            results["forces_std"] = np.std(members["committee_force"], axis=0).reshape(-1, 3) * (Ha / Bohr)
        return results

    def start(self, atoms, states):
        self.close()
        paths, dtype, threads = self._arguments
        self._messages = tempfile.TemporaryFile()
        # In /tmp, since addresses of sockets are short. When the process has come it needs neither of the two files.
        with tempfile.TemporaryDirectory(prefix="weyl-serve-", dir="/tmp") as folder, socket(AF_UNIX) as listener:
            given = {name: value for name, value in states.items() if value is not None}
            ase.io.write(f"{folder}/template.xyz", Atoms(atoms.numbers, atoms.positions, cell=atoms.cell, pbc=atoms.pbc,
                                                         info=given), format="extxyz")
            listener.bind(f"{folder}/socket")
            listener.listen(1)
            listener.settimeout(0.1)
            options = {"template": f"{folder}/template.xyz", "ipi": f"unix:{folder}/socket", "dtype": dtype,
                       "threads": threads or None}
            self._process = subprocess.Popen([program_path(), "serve", *paths, *flags(**options)], stdin=subprocess.DEVNULL,
                                             stdout=subprocess.DEVNULL, stderr=self._messages, start_new_session=True)
            try:
                connection = self.accepted(listener)
            except BaseException:
                self._process.terminate()
                self._process.wait()
                self._messages.close()
                raise
        self._protocol = IPIProtocol(connection)
        self._end = weakref.finalize(self, end, os.getpid(), connection, self._process, self._messages)

    def accepted(self, listener):
        while True:
            try:
                return listener.accept()[0]
            except timeout:
                if self._process.poll() is not None:
                    raise self.fault() from None

    def fault(self):
        """Why the process has ended."""
        code = self._process.wait()
        self._messages.seek(0)
        line = self._messages.read().decode(errors="replace").rstrip().split("\n")[-1]
        self.close()
        return failure("serve", code, line)

    def close(self):
        self._started = None
        if self._end is not None:
            self._end()

    def __reduce__(self):
        return Served, self._arguments


def end(starter, connection, process, messages):
    if os.getpid() == starter:  # else this is a child of fork(), and the process its parent's
        with contextlib.suppress(OSError):  # it has ended already
            connection.shutdown(SHUT_RDWR)  # at which it ends; to close would not do where a child of fork() has a copy
        process.wait()
    connection.close()
    messages.close()


def fills_space(atoms):
    return bool(atoms.pbc.all()) and atoms.cell.rank == 3
