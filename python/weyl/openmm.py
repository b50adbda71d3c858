"""A force of OpenMM: system.addForce(weyl.openmm.force("runs/water", topology))."""
import operator
import warnings

import numpy as np
import openmm
import openmm.app
from openmm import unit

from .errors import UsageError
from .model import array_of, load

KJ_PER_MOL = 96.48533212331  # of an eV: the elementary charge times Avogadro's number, both exact, in kJ
ANGSTROM_PER_NM = 10
DEFAULT_BOX = 20 * np.eye(3)  # Angstrom; of a system that was given none


def force(model, elements, particles=None, periodic=None, dtype=None, threads=1, charge=None, spin=None):
    """The model as a PythonForce (OpenMM 8.6 and later).

    model: what weyl.load takes. elements: a Topology, or the elements of all particles (symbols, atomic
    numbers or OpenMM's). particles: indices of those that the model acts on, or a mask, as if there were no others.
    periodic: whether in the box of the system; by default as a Topology says or, without one, where the system has
    another box than the one that OpenMM gives to each, and a warning says so."""
    if isinstance(elements, openmm.app.Topology):
        periodic = elements.getPeriodicBoxVectors() is not None if periodic is None else periodic
        elements = [atom.element for atom in elements.atoms()]
    guessed = periodic is None
    if guessed:
        warnings.warn("weyl.openmm.force: periodic is not said: the particles repeat in the system's box, unless that is "
                      "the cube of 2 nm that OpenMM gives to each system", stacklevel=2)
    elements = list(elements)
    if particles is not None:
        particles = indices(particles, len(elements))
        elements = [elements[index] for index in particles]
    elements = [element_of(each) for each in elements]
    model = load(model, dtype, threads)
    model.states(charge, spin)
    for element in elements:
        if element.symbol not in model.info["elements"]:
            raise UsageError(f"weyl.openmm.force: the model knows no element {element.symbol}")
    numbers = [element.atomic_number for element in elements]
    result = openmm.PythonForce(Potential(model, numbers, charge, spin, guessed))
    if particles is not None:
        result.setParticles(particles)
    result.setUsesPeriodicBoundaryConditions(guessed or bool(periodic))
    return result


class Potential:
    """What OpenMM calls with the state of the particles: energy in kJ/mol and forces in kJ/mol/nm. It can be pickled, as
    OpenMM's XML of a system needs."""

    def __init__(self, model, numbers, charge, spin, guessed):
        self.model, self.numbers, self.charge, self.spin, self.guessed = model, numbers, charge, spin, guessed

    def __call__(self, state):
        positions = state.getPositions(asNumpy=True).value_in_unit(unit.angstrom)
        try:
            cell = state.getPeriodicBoxVectors(asNumpy=True).value_in_unit(unit.angstrom)
        except openmm.OpenMMException:  # a force that is not periodic is given none
            cell = None
        if self.guessed and np.array_equal(cell, DEFAULT_BOX):
            cell = None
        found = self.model.compute(self.numbers, positions, cell, charge=self.charge, spin=self.spin)
        return found["energy"] * KJ_PER_MOL, found["forces"] * (KJ_PER_MOL * ANGSTROM_PER_NM)


def indices(particles, count):
    array = array_of("particles", list(particles))
    if array.dtype == bool and array.shape == (count,):
        array = np.flatnonzero(array)
    outside = array[(array < 0) | (array >= count)] if array.dtype.kind in "iu" and array.ndim == 1 else array
    if outside.size or not array.size:
        raise UsageError(f"weyl.openmm.force: particles must be of 0 to {count - 1}, or a mask of {count}, the elements of "
                         f"all particles being given, got {outside.flat[0] if outside.size else 'none'}")
    return array.tolist()


def element_of(given):
    """Of deuterium hydrogen."""
    try:
        if isinstance(given, str):
            number = openmm.app.Element.getBySymbol(given).atomic_number
        else:
            number = operator.index(getattr(given, "atomic_number", given))
        return openmm.app.Element.getByAtomicNumber(number)
    except (KeyError, TypeError):
        raise UsageError(f"weyl.openmm.force: there is no element {given!r}") from None
