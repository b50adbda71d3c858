#!/usr/bin/env python3
"""The force of OpenMM: energies and forces of the right particles in the right units, and an energy that stays. See
suite.py for how it is run."""
import suite

suite.start()

import unittest

import numpy as np
import openmm
import weyl
import weyl.ase
import weyl.openmm
from ase.optimize import LBFGS
from openmm import app, unit

import waters

EV = 96.48533212331  # kJ/mol, CODATA 2018
MODEL = weyl.load(suite.MODELS / "painn", dtype="float64")


def system_of(atoms, *forces):
    system = openmm.System()
    for mass in atoms.get_masses():
        system.addParticle(mass)
    if atoms.cell.rank == 3:
        system.setDefaultPeriodicBoxVectors(*np.array(atoms.cell) / 10)
    for force in forces:
        system.addForce(force)
    return system


def context_of(atoms, *forces, integrator=None):
    reference = openmm.Platform.getPlatformByName("Reference")
    context = openmm.Context(system_of(atoms, *forces), integrator or openmm.VerletIntegrator(1e-3), reference)
    context.setPositions(atoms.positions / 10)
    return context


def found_in(context):
    """Energy in eV and forces in eV/Angstrom."""
    state = context.getState(getEnergy=True, getForces=True)
    forces = state.getForces(asNumpy=True).value_in_unit(unit.kilojoule_per_mole / unit.angstrom)
    return state.getPotentialEnergy().value_in_unit(unit.kilojoule_per_mole) / EV, forces / EV


class Force(suite.Test):
    def same(self, found, wanted):
        self.below(found[0] - wanted["energy"], 1e-8, "energy")
        np.testing.assert_allclose(found[1], wanted["forces"], atol=1e-8)

    def test_is_that_of_the_model(self):
        atoms = waters.box(2)
        topology = app.Topology()
        chain = topology.addChain()
        for symbol in atoms.symbols:
            topology.addAtom(symbol, app.Element.getBySymbol(symbol), topology.addResidue("any", chain))
        symbols, elements = list(atoms.symbols), [atom.element for atom in topology.atoms()]
        closed = MODEL.compute(atoms.numbers, atoms.positions, atoms.cell.array)
        alone = MODEL.compute(atoms.numbers, atoms.positions)
        self.assertGreater(abs(closed["energy"] - alone["energy"]), 1e-3)
        self.same(found_in(context_of(atoms, weyl.openmm.force(MODEL, symbols, periodic=True))), closed)
        self.same(found_in(context_of(atoms, weyl.openmm.force(MODEL, elements, periodic=False))), alone)
        heavy = ["D" if symbol == "H" else symbol for symbol in symbols]
        self.same(found_in(context_of(atoms, weyl.openmm.force(MODEL, heavy, periodic=False))), alone)
        self.same(found_in(context_of(atoms, weyl.openmm.force(MODEL, topology))), alone)
        topology.setPeriodicBoxVectors(np.array(atoms.cell) / 10 * unit.nanometer)
        self.same(found_in(context_of(atoms, weyl.openmm.force(suite.MODELS / "painn", topology, dtype="float64"))), closed)

    def test_a_period_that_nobody_says_is_that_of_the_box(self):
        atoms = waters.box(2)
        closed = MODEL.compute(atoms.numbers, atoms.positions, atoms.cell.array)
        with self.assertWarnsRegex(UserWarning, "periodic is not said"):
            force = weyl.openmm.force(MODEL, atoms.symbols)
        self.same(found_in(context_of(atoms, force)), closed)
        with self.assertWarns(UserWarning):
            force = weyl.openmm.force(MODEL, atoms.symbols)
        atoms.cell = None  # OpenMM's own box, then
        self.same(found_in(context_of(atoms, force)), MODEL.compute(atoms.numbers, atoms.positions))

    def test_acts_on_a_subset_alone(self):
        atoms = waters.box(2)
        some = [21, 22, 23, 3, 4, 5]
        context = context_of(atoms, weyl.openmm.force(MODEL, atoms.symbols, some, periodic=True))
        energy, forces = found_in(context)
        wanted = MODEL.compute(atoms.numbers[some], atoms.positions[some], atoms.cell.array)
        self.same((energy, forces[some]), wanted)
        mask = np.isin(np.arange(len(atoms)), some)
        self.assertEqual(weyl.openmm.force(MODEL, atoms.symbols, mask, periodic=True).getParticles(), tuple(sorted(some)))
        self.assertFalse(np.delete(forces, some, axis=0).any())
        self.assertGreater(abs(forces[some]).max(), 0.1)

    def test_survives_the_xml_of_its_system(self):
        atoms = waters.box(1)
        text = openmm.XmlSerializer.serialize(weyl.openmm.force(MODEL, atoms.symbols, periodic=True))
        wanted = MODEL.compute(atoms.numbers, atoms.positions, atoms.cell.array)
        self.same(found_in(context_of(atoms, openmm.XmlSerializer.deserialize(text))), wanted)

    def test_what_is_wrong_is_a_line(self):
        symbols = ["O", "H", "H"]
        for wrong, line in ((lambda: weyl.openmm.force(MODEL, symbols, [3], periodic=False), "of 0 to 2, .*, got 3"),
                            (lambda: weyl.openmm.force(MODEL, symbols, [], periodic=False), "of 0 to 2, .*, got none"),
                            (lambda: weyl.openmm.force(MODEL, ["Xx"], periodic=False), "there is no element 'Xx'"),
                            *[(lambda some=some: weyl.openmm.force(MODEL, symbols, some, periodic=False), f"mask .* got {got}")
                              for some, got in (([0.9], "0.9"), ([True, False], "True"), ([[0, 1]], "0"))],
                            (lambda: weyl.openmm.force(MODEL, [8.9], periodic=False), "there is no element 8.9"),
                            (lambda: weyl.openmm.force(MODEL, [200], periodic=False), "there is no element 200"),
                            (lambda: weyl.openmm.force(MODEL, ["He"], periodic=False), "the model knows no element He"),
                            (lambda: weyl.openmm.force(MODEL, [None], periodic=False), "there is no element None")):
            with self.assertRaisesRegex(weyl.UsageError, f"^weyl.openmm.force: .*{line}"):
                wrong()
        with self.assertWarnsRegex(UserWarning, "^weyl: charge is 1, but the model reads none: it changes nothing$"):
            weyl.openmm.force(MODEL, symbols, periodic=False, charge=1)
        with self.assertRaisesRegex(openmm.OpenMMException, r"positions must be \(3, 3\) numbers, got .* \(24, 3\)"):
            found_in(context_of(waters.box(2), weyl.openmm.force(MODEL, symbols, periodic=False)))

    def test_keeps_the_total_energy(self):
        """1,000 steps of 64 waters. The box is relaxed and at 30 K: a box that falls into its minimum turns energy into
        vibrations, in which the integrator's own energy differs from the true one by (omega step)^2 / 8, 0.4 % of theirs."""
        atoms = waters.box(4)
        atoms.calc = weyl.ase.Calculator(MODEL)
        LBFGS(atoms, logfile=None, maxstep=0.1).run(fmax=0.05, steps=500)
        integrator = openmm.CompoundIntegrator()
        thermostat = openmm.LangevinMiddleIntegrator(30, 50 / unit.picosecond, 0.5 * unit.femtosecond)
        thermostat.setRandomNumberSeed(1)
        integrator.addIntegrator(thermostat)
        integrator.addIntegrator(openmm.VerletIntegrator(0.25 * unit.femtosecond))
        context = context_of(atoms, weyl.openmm.force(MODEL, atoms.symbols, periodic=True), integrator=integrator)
        context.setVelocitiesToTemperature(30, 1)
        integrator.step(100)
        integrator.setCurrentIntegrator(1)
        potential, total = [], []
        for _ in range(101):
            state = context.getState(getEnergy=True)
            potential.append(state.getPotentialEnergy()._value / EV / 64)
            total.append(potential[-1] + state.getKineticEnergy()._value / EV / 64)
            integrator.step(10)
        self.below(np.mean(total[-10:]) - np.mean(total[1:11]), 1e-5, "drift, eV a molecule")
        self.assertGreater(np.std(potential), 1e-4)  # of what there is to exchange


if __name__ == "__main__":
    unittest.main()
