"""A calculator of ASE: atoms.calc = weyl.ase.Calculator("runs/water")."""
import json
import os
import subprocess
import tempfile
import uuid
import warnings
import weakref
from pathlib import Path

import ase.calculators.calculator
import ase.io
import numpy as np
from ase import Atoms
from ase.calculators.socketio import SocketServer
from ase.outputs import Properties, all_outputs
from ase.stress import full_3x3_to_voigt_6_stress
from ase.units import Bohr, Ha

from .errors import Error, UsageError, error
from .library import program_path
from .model import Model, found, load
from .program import run

STATES = ("charge", "spin")


class Calculator(ase.calculators.calculator.Calculator):
    """Energy, forces and stress in eV and Angstrom.

    model: what weyl.load takes, a committee too. charge, spin: of the whole, where the model has learned with them; None
    for those of atoms.info. process: the model computes in a process of its own, `weyl serve`, as it must where another
    LibTorch is in this one; it starts with the first atoms, and again where their elements, pbc, charge or spin are
    others, and has no energies of atoms."""

    name = "weyl"

    def __init__(self, model, dtype=None, threads=1, charge=None, spin=None, process=False):
        super().__init__()
        if process and isinstance(model, Model):
            raise UsageError("weyl.ase.Calculator: model must be paths where process is True, got a model of this process")
        self._potential = Served(found(model), dtype, threads) if process else InProcess(load(model, dtype, threads))
        self._states = {"charge": charge, "spin": spin}
        for name, value in self._states.items():
            if value is not None and name not in self._potential.states:
                raise UsageError(f"weyl.ase.Calculator: {name} is {value}, but the model reads none")
        self.implemented_properties = self._potential.properties
        if "stress" not in self.implemented_properties:
            warnings.warn("weyl.ase.Calculator: the forces of this model are not derivatives of its energy: they do not "
                          "conserve it, and there is no stress", stacklevel=2)

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
        return {name: atoms.info.get(name) if value is None else value
                for name, value in self._states.items() if name in self._potential.states}


def properties_of(committee, gradient_forces, more=()):
    stress = ["stress"] if gradient_forces else []
    deviations = ["energy_std", "forces_std", "max_force_std"] if committee else []
    return ["energy", "free_energy", "forces", *stress, *more, *deviations]


class InProcess:
    """A model in this process."""

    def __init__(self, model):
        self.model = model
        self.states = [name for name in STATES if model.reads(name)]
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
    """A model behind `weyl serve`, which talks to a server of ASE over a unix socket."""

    def __init__(self, paths, dtype, threads):
        self._arguments = ([os.path.abspath(path) for path in paths], dtype, threads)
        info = run("info", paths[0], quiet=True)
        self.states = [name for name in STATES if any(name == quantity["name"] for quantity in info["inputs"])]
        # Forces that are derivatives are none of the model's own outputs.
        gradient_forces = all(quantity["name"] != "forces" for quantity in info["outputs"])
        self.properties = properties_of(len(paths) > 1, gradient_forces)
        self._started = None  # for which atoms
        self._end = self._server = self._process = self._folder = None

    def compute(self, atoms, states, _):
        what = (atoms.numbers.tolist(), atoms.pbc.tolist(), states)
        if self._started != what:
            self.start(atoms, states)
            self._started = what
        try:
            found = self._server.calculate(atoms)
        except OSError:  # the process has ended
            code = self._process.wait()
            line = (Path(self._folder.name) / "messages").read_text(encoding="utf-8").strip().split("\n")[-1]
            self.close()
            raise error(code, line or f"weyl serve: ended with exit code {code}") from None
        except BaseException as fault:  # the conversation was left in its middle
            self.close()
            if isinstance(fault, AssertionError):
                raise Error("weyl.ase.Calculator: the model gives no virial of such atoms (its forces are no derivatives of "
                            "its energy, say), without which ASE takes no forces from a process") from None
            raise
        results = {"energy": float(found["energy"]), "forces": found["forces"]}
        if "stress" in self.properties and fills_space(atoms):
            results["stress"] = -full_3x3_to_voigt_6_stress(found["virial"]) / atoms.get_volume()
        if "energy_std" in self.properties:
            members = json.loads(found["morebytes"].tobytes())  # in the protocol's units
            results["energy_std"] = float(np.std(members["committee_pot"])) * Ha
            results["forces_std"] = np.std(members["committee_force"], axis=0).reshape(-1, 3) * (Ha / Bohr)
        return results

    def start(self, atoms, states):
        self.close()
        paths, dtype, threads = self._arguments
        self._folder = tempfile.TemporaryDirectory(prefix="weyl-serve-")
        template = Path(self._folder.name) / "template.xyz"
        given = {name: value for name, value in states.items() if value is not None}
        ase.io.write(template, Atoms(atoms.numbers, atoms.positions, cell=atoms.cell, pbc=atoms.pbc, info=given),
                     format="extxyz")
        socket = f"weyl-{uuid.uuid4().hex}"
        self._server = SocketServer(unixsocket=socket)
        options = {"template": template, "ipi": f"unix:{socket}", "dtype": dtype, "threads": threads or None}
        words = [f"--{name}={value}" for name, value in options.items() if value is not None]
        with open(template.with_name("messages"), "wb") as messages:
            self._process = subprocess.Popen([program_path(), "serve", *paths, *words], stdin=subprocess.DEVNULL,
                                             stdout=subprocess.DEVNULL, stderr=messages, start_new_session=True)
        self._server.proc = self._process  # while it waits for the process, it sees whether it has ended
        self._end = weakref.finalize(self, end, self._server, self._process, self._folder)

    def close(self):
        self._started = None
        if self._end is not None:
            self._end()

    def __reduce__(self):
        return Served, self._arguments


def end(server, process, folder):
    if server.protocol is None:  # the process has not come
        process.terminate()
    server.proc = None  # it would warn of an exit code that has been raised already
    server.close()  # at which the process ends
    process.wait()
    folder.cleanup()


def fills_space(atoms):
    return bool(atoms.pbc.all()) and atoms.cell.rank == 3
