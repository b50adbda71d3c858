"""Boxes of water for the engines."""
import numpy as np
from ase import Atoms

MOLECULE = Atoms("OH2", [[0, 0, 0], [0.96, 0, 0], [-0.24, 0.93, 0]])


def box(along, skewed=False):
    """along^3 molecules, turned at random, in a cell of 3.1 Angstrom for each."""
    stream = np.random.default_rng(1)
    length = 3.1 * along
    cell = [[length, 0, 0], [0.4, length, 0], [-0.3, 0.5, length]] if skewed else [length] * 3
    atoms = Atoms(cell=cell, pbc=True)
    for place in np.ndindex(along, along, along):
        molecule = MOLECULE.copy()
        molecule.rotate(stream.uniform(0, 360), stream.normal(size=3))
        molecule.translate(3.1 * np.array(place))
        atoms += molecule
    return atoms
