#!/usr/bin/env python3
"""The calculator of ASE: forces and stress are derivatives of the energy; relaxations, bands and phonons run; results
belong to the atoms that are asked about. See suite.py for how it is run."""
import suite

suite.start()

import copy
import gc
import os
import pickle
import signal
import subprocess
import sys
import unittest
import warnings
from pathlib import Path

import ase.db
import ase.io
import numpy as np
import phonopy
import weyl
import weyl.ase
from ase import Atoms
from ase.calculators.calculator import PropertyNotImplementedError
from ase.calculators.fd import calculate_numerical_forces, calculate_numerical_stress
from ase.filters import FrechetCellFilter
from ase.mep import NEB
from ase.optimize import BFGS
from phonopy.structure.atoms import PhonopyAtoms

import waters

STRESS_ORDER = ["xx", "yy", "zz", "yz", "xz", "xy"]


def calculator(name="painn", **options):
    return weyl.ase.Calculator(suite.MODELS / name, dtype="float64", **options)


def trained(folder, text, **task):
    """A run of one step on frames of water."""
    (folder / "water.xyz").write_text(text)
    data = {"path": folder / "water.xyz", **({"features": ["charge"]} if "charge=" in text else {})}
    return weyl.train(suite.ROOT / "examples/potential/potential.toml", out=folder / "run", quiet=True,
                      data={"molecules": data}, train={"steps": 1, "epochs": False}, task={"force_field": task})["run"]


FRAMES = (suite.ROOT / "examples/potential/water.xyz").read_text()


class Derivatives(suite.Test):
    def test_forces(self):
        some = [0, 1, 5]
        for name in ("painn", "et"):
            atoms = waters.box(2, skewed=True)
            atoms.calc = calculator(name)
            forces = atoms.get_forces()[some]
            for step in (1e-4, 5e-5):
                numerical = calculate_numerical_forces(atoms, eps=step, iatoms=some)
                self.below(abs(forces - numerical).max(), 1e-6, f"{name}, {step}")
            moved = atoms.copy()
            moved.positions[1, 0] += 1e-3
            moved.calc = atoms.calc
            self.assertGreater(abs(moved.get_forces()[some] - numerical).max(), 1e-4)

    def test_stress(self):
        for name in ("painn", "et"):
            atoms = waters.box(2, skewed=True)
            atoms.calc = calculator(name)
            stress = atoms.get_stress()
            for step in (1e-5, 5e-6):
                self.below(abs(stress - calculate_numerical_stress(atoms, eps=step)).max(), 1e-8, f"{name}, {step}")
            differences = abs(stress[:, None] - stress)[~np.eye(6, dtype=bool)]
            self.assertGreater(differences.min(), 1e-5, STRESS_ORDER)  # another order of the six would show


class Results(suite.Test):
    def test_are_those_that_ase_knows(self):
        atoms = waters.box(2)
        atoms.calc = calculator()
        energy, forces = atoms.get_potential_energy(), atoms.get_forces()
        self.assertEqual(sorted(atoms.calc.results), ["energy", "forces", "free_energy", "stress"])
        self.assertEqual(atoms.get_potential_energy(force_consistent=True), energy)
        self.below(atoms.get_potential_energies().sum() - energy, 1e-9)
        self.assertEqual(atoms.get_stress().shape, (6,))
        kept = atoms.calc.results["forces"]
        atoms.rattle(0.01, seed=1)
        self.assertGreater(abs(atoms.get_forces() - forces).max(), 1e-3)
        np.testing.assert_array_equal(kept, forces)
        model = weyl.load(suite.MODELS / "painn", dtype="float64")
        found = model.compute(atoms.numbers, atoms.positions, atoms.cell.array)
        np.testing.assert_array_equal(atoms.get_forces(), found["forces"])
        atoms.calc = weyl.ase.Calculator(model)
        self.assertEqual(atoms.get_potential_energy(), found["energy"])

    def test_stress_is_there_where_the_cell_fills_space(self):
        slab = waters.box(2)
        slab.pbc = [True, True, False]
        molecule = waters.MOLECULE.copy()
        for atoms in (slab, molecule):
            atoms.calc = calculator()
            self.assertTrue(np.isfinite(atoms.get_forces()).all())
            with self.assertRaises(PropertyNotImplementedError):
                atoms.get_stress()

    def test_a_committee_says_how_sure_it_is(self):
        atoms = waters.box(2)
        names = ["painn", "painn_2"]
        forces = []
        for name in names:
            atoms.calc = calculator(name)
            forces.append(atoms.get_forces())
        for models in (str(suite.MODELS / "painn*"), [suite.MODELS / name for name in names]):
            atoms.calc = weyl.ase.Calculator(models, dtype="float64")
            np.testing.assert_allclose(atoms.get_forces(), np.mean(forces, axis=0), atol=1e-9)
            deviation = abs(forces[0] - forces[1]) / 2
            np.testing.assert_allclose(atoms.calc.results["forces_std"], deviation, atol=1e-9)
            self.below(atoms.calc.results["max_force_std"] - np.linalg.norm(deviation, axis=1).max(), 1e-9)
            self.assertGreater(atoms.calc.get_property("energy_std", atoms), 0)
            self.assertEqual(atoms.get_properties(["energy"])["energy"], atoms.get_potential_energy())

    def test_say_which_model_gave_them(self):
        wanted = {"model": [str(suite.MODELS / "painn")], "dtype": "float64", "threads": 1, "charge": None, "spin": None}
        for process in (False, True):
            atoms = waters.MOLECULE.copy()
            atoms.calc = calculator(process=process)
            atoms.get_potential_energy()
            ase.io.write(self.folder / "frame.json", atoms)
            row = ase.db.connect(self.folder / "frame.json").get(1)
            self.assertEqual(row.calculator_parameters, {**wanted, "process": process})

    def test_charge_is_that_of_the_atoms(self):
        neutral = FRAMES.replace("energy=", "charge=0 energy=")
        run = trained(self.folder, neutral.replace("charge=0", "charge=1", 12))
        atoms = waters.MOLECULE.copy()
        atoms.calc = weyl.ase.Calculator(run)
        with self.assertRaisesRegex(weyl.UsageError, "charge must be given"):
            atoms.get_potential_energy()
        energies = []
        for charge in (0, 1):
            atoms.info["charge"] = charge  # ASE itself does not look at info
            energies.append(atoms.get_potential_energy())
        self.assertNotEqual(*energies)
        atoms.calc = weyl.ase.Calculator(run, charge=0)
        self.assertEqual(atoms.get_potential_energy(), energies[0])
        changed = atoms.calc.set(charge=1)
        self.assertEqual(changed, {"charge": 1})
        self.assertEqual(atoms.get_potential_energy(), energies[1])
        atoms.calc.set(charge=None)
        atoms.info["charge"] = "x"
        for wrong in (atoms.get_potential_energy, lambda: atoms.calc.set(charge=[0])):
            with self.assertRaisesRegex(weyl.UsageError, "^weyl: charge must be a number, got "):
                wrong()
        with self.assertRaisesRegex(weyl.UsageError, "^weyl.ase.Calculator: charge and spin can be set, not dtype$"):
            atoms.calc.set(dtype="float64")
        with self.assertWarnsRegex(UserWarning, "^weyl: spin is 1, but the model reads none: it changes nothing$"):
            weyl.ase.Calculator(run, spin=1)

    def test_forces_that_are_no_derivatives_are_told_of_once(self):
        run = trained(self.folder, FRAMES, forces="direct")
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            atoms = waters.box(2)
            atoms.calc = weyl.ase.Calculator(run)
            atoms.get_forces()
            atoms.rattle(0.1)
            atoms.get_forces()
        self.assertEqual(len(caught), 1)
        self.assertIn("not derivatives", str(caught[0].message))
        with self.assertRaises(PropertyNotImplementedError):
            atoms.get_stress()
        with self.assertRaisesRegex(weyl.UsageError, "^weyl.ase.Calculator: process must be False where forces are no deriv"):
            weyl.ase.Calculator(run, process=True)

    def test_unknown_elements_are_a_line(self):
        atoms = Atoms("HeO", [[0, 0, 0], [1, 0, 0]], calculator=calculator())
        with self.assertRaisesRegex(weyl.DataError, "the model knows no element He$"):
            atoms.get_forces()


class Work(suite.Test):
    def test_copies_and_pickles(self):
        atoms = waters.box(2)
        atoms.calc = calculator()
        energy = atoms.get_potential_energy()
        for again in (copy.deepcopy(atoms), pickle.loads(pickle.dumps(atoms))):
            again.rattle(0.01, seed=1)
            self.assertNotEqual(again.get_potential_energy(), energy)
            again.positions = atoms.positions
            self.assertEqual(again.get_potential_energy(), energy)
        self.assertEqual(atoms.calc.results["energy"], energy)

    def test_relaxations(self):
        molecule = waters.MOLECULE.copy()
        molecule.calc = calculator()
        self.assertTrue(BFGS(molecule, logfile=None).run(fmax=1e-3, steps=200))
        self.below(np.linalg.norm(molecule.get_forces(), axis=1).max(), 1e-3)
        cell = waters.box(1)
        cell.calc = calculator()
        before = cell.get_volume()
        self.assertTrue(BFGS(FrechetCellFilter(cell), logfile=None).run(fmax=1e-2, steps=300))
        self.below(abs(cell.get_stress()).max() * cell.get_volume(), 2e-2)
        self.assertGreater(abs(cell.get_volume() - before), 0.1)

    def test_bands_with_calculators_of_their_own_and_a_shared_one(self):
        """A hydrogen passes the line of the other two atoms."""
        first = waters.MOLECULE.copy()
        last = first.copy()
        last.positions[2, 1] *= -1
        energies = []
        for shared in (False, True):
            images = [first.copy() for _ in range(4)] + [last.copy()]
            one = calculator()
            for image in images:
                image.calc = one if shared else copy.deepcopy(one)
            band = NEB(images, method="improvedtangent", allow_shared_calculator=shared)
            band.interpolate()
            BFGS(band, logfile=None).run(fmax=0.05, steps=5)
            energies.append([image.get_potential_energy() for image in images])
        np.testing.assert_array_equal(*energies)
        self.assertGreater(max(energies[0]) - energies[0][0], 0.1)
        self.below(energies[0][0] - energies[0][-1], 1e-6)

    def test_phonons_of_a_supercell(self):
        """At Gamma all cells move alike, which differences of the one cell give too; not so elsewhere."""
        cell = waters.box(1)
        cell.calc = calculator()
        phonon = phonopy.Phonopy(PhonopyAtoms(cell.symbols, cell=cell.cell, positions=cell.positions), np.diag([2, 2, 2]),
                                 primitive_matrix="P")
        phonon.generate_displacements(distance=1e-3)
        forces = []
        for displaced in phonon.supercells_with_displacements:
            forces.append(Atoms(displaced.symbols, cell=displaced.cell, positions=displaced.positions, pbc=True,
                                calculator=cell.calc).get_forces())
        phonon.forces = forces
        phonon.produce_force_constants()
        hessian = np.zeros((9, 9))
        for row, sign in np.ndindex(9, 2):
            moved = cell.copy()
            moved.calc = cell.calc
            moved.positions.flat[row] += 1e-3 if sign else -1e-3
            hessian[row] -= moved.get_forces().ravel() / (2e-3 if sign else -2e-3)
        masses = np.repeat(phonon.primitive.masses, 3)
        wanted = np.linalg.eigvalsh((hessian + hessian.T) / 2 / np.sqrt(np.outer(masses, masses)))
        points = phonon.run_qpoints([[0, 0, 0], [0.5, 0, 0]], with_dynamical_matrices=True).dynamical_matrices
        off, elsewhere = (abs(np.linalg.eigvalsh(matrix) - wanted).max() for matrix in points)
        self.below(off, 1e-4 * wanted.max())
        self.assertGreater(elsewhere, 1e-3 * wanted.max())

    def test_torch_may_be_imported_before_and_after(self):
        atoms = waters.MOLECULE
        calculator().calculate(atoms)
        torch = next(Path(line.split()[-1]).parents[1] for line in Path("/proc/self/maps").read_text().splitlines()
                     if "libtorch_cpu" in line)
        if not (torch / "__init__.py").exists():
            (self.fail if os.environ.get("WEYL_NEEDS_ENGINES") else self.skipTest)(f"{torch} is no torch of Python")
        for name in ("torch", "torchgen"):  # alone, as the folder beside them may have other packages
            (self.folder / name).symlink_to(torch.with_name(name))
        energy = calculator("et")
        energy.calculate(atoms)
        wanted = energy.results["energy"]
        use = f"print(weyl.load({str(suite.MODELS / 'et')!r}, 'float64').compute({atoms.numbers.tolist()}, " \
              f"{atoms.positions.tolist()})['energy'], torch.ones(3).sum().item())"
        for imports in ("import torch, weyl", "import weyl; weyl.library.library(); import torch"):
            path = os.pathsep.join([str(self.folder), str(suite.ROOT / "python")])
            done = subprocess.run([sys.executable, "-c", f"{imports}; {use}"], env={**os.environ, "PYTHONPATH": path},
                                  capture_output=True, text=True)
            self.assertEqual(done.stdout, f"{wanted} 3.0\n", done.stderr)


class Process(suite.Test):
    """The same by `weyl serve`, whose protocol has its own units of length and energy: equal to 1e-8 of the numbers."""

    def same(self, found, wanted):
        np.testing.assert_allclose(found, wanted, rtol=2e-8, atol=1e-8)

    def test_gives_what_the_library_gives(self):
        for models in (suite.MODELS / "painn", str(suite.MODELS / "painn*")):
            served = weyl.ase.Calculator(models, dtype="float64", process=True)
            inside = weyl.ase.Calculator(models, dtype="float64")
            for atoms in (waters.box(2, skewed=True), waters.MOLECULE.copy()):
                for _ in range(2):
                    atoms.rattle(0.02)
                    results = []
                    for atoms.calc in (served, inside):
                        atoms.get_forces()
                        results.append(atoms.calc.results)
                    self.assertEqual(sorted(results[0]), sorted(results[1]))
                    for name in results[1]:
                        self.same(results[0][name], results[1][name])

    def test_ends_with_the_calculator(self):
        served = calculator(process=True)
        atoms = waters.MOLECULE.copy()
        atoms.calc = served
        energy = atoms.get_potential_energy()
        process = served._potential._process
        self.assertIsNone(process.poll())
        again = pickle.loads(pickle.dumps(served))
        served = atoms.calc = None
        gc.collect()
        self.assertEqual(process.returncode, 0)
        again.reset()
        atoms.calc = again
        self.same(atoms.get_potential_energy(), energy)
        process = again._potential._process
        again.close()
        self.assertEqual(process.returncode, 0)
        atoms.rattle(0.01)
        self.assertNotEqual(atoms.get_potential_energy(), energy)

    def test_a_child_of_fork_has_a_process_of_its_own(self):
        atoms = waters.MOLECULE.copy()
        atoms.calc = served = calculator(process=True)
        energies = [atoms.get_potential_energy()]
        for child in range(2):
            atoms.positions[1, 0] += 0.01
            pid = os.fork()
            if pid == 0:
                try:
                    warnings.simplefilter("ignore")  # a process of its parent is still running
                    atoms.calc.reset()
                    np.save(self.folder / f"{child}.npy", [served._potential._process.pid, atoms.get_potential_energy(),
                                                           served._potential._process.pid])
                    served.close()
                finally:
                    os._exit(0)
            os.waitpid(pid, 0)
            before, energy, own = np.load(self.folder / f"{child}.npy")
            energies.append(atoms.get_potential_energy())
            self.assertEqual(energy, energies[-1])
            self.assertEqual(before, served._potential._process.pid)
            self.assertNotEqual(own, before)
        self.assertEqual(len(set(energies)), 3)
        process = served._potential._process
        child = os.fork()  # one that lives on has a copy of the socket
        if child == 0:
            signal.pause()
        try:
            served.close()
            self.assertEqual(process.returncode, 0)
        finally:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)

    def test_raises_the_line_of_the_process(self):
        served = calculator(process=True)
        atoms = Atoms("HeO", [[0, 0, 0], [1, 0, 0]], calculator=served)
        with self.assertRaisesRegex(weyl.DataError, "He"):
            atoms.get_forces()
        atoms = waters.MOLECULE.copy()
        atoms.calc = served
        self.assertTrue(np.isfinite(atoms.get_forces()).all())
        atoms.positions[1] = atoms.positions[0]
        with self.assertRaises(weyl.DataError):
            atoms.get_forces()
        atoms = waters.MOLECULE.copy()
        atoms.calc = served
        atoms.get_forces()
        served._potential._process.kill()
        atoms.rattle(0.01)
        with self.assertRaisesRegex(weyl.Error, "^weyl serve: ended by signal 9$"):
            atoms.get_forces()
        self.assertTrue(np.isfinite(atoms.get_forces()).all())
        with self.assertRaisesRegex(weyl.DataError, "^weyl.ase.Calculator: there must be atoms$"):
            served.get_potential_energy(Atoms())
        with self.assertRaisesRegex(weyl.UsageError, "^weyl.ase.Calculator: a path must be given$"):
            weyl.ase.Calculator([], process=True)
        with self.assertRaisesRegex(weyl.UsageError, "^weyl.ase.Calculator: model must be paths where process is True"):
            weyl.ase.Calculator(weyl.load(suite.MODELS / "painn"), process=True)
        with self.assertRaisesRegex(weyl.UsageError, "^weyl.load: dtype must be float32, .* got float64$"):
            weyl.ase.Calculator(weyl.load(suite.MODELS / "painn"), dtype="float64")


if __name__ == "__main__":
    unittest.main()
