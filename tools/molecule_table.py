#!/usr/bin/env python3
"""Prints the rows of src/weyl/makers/molecules/molecule_walker.cpp: one conformer of each molecule.

`python tools/molecule_table.py` needs rdkit (2026.09.1 made the table). ETKDG version 3 embeds 20 conformers with seed
1, MMFF94 relaxes them, and the one of least energy is kept, its centre of mass at the origin. The maker relaxes it again by the method that it
labels with, so three decimals are enough.
"""
from rdkit import Chem
from rdkit.Chem import AllChem

smiles = {
    "acetic_acid": "CC(=O)O",
    "acetylene": "C#C",
    "alanine": "C[C@H](N)C(=O)O",
    "ammonia": "N",
    "aspirin": "CC(=O)Oc1ccccc1C(=O)O",
    "azobenzene": "c1ccc(cc1)/N=N/c1ccccc1",
    "benzene": "c1ccccc1",
    "carbon_dioxide": "O=C=O",
    "ethanol": "CCO",
    "ethylene": "C=C",
    "formaldehyde": "C=O",
    "hydrogen_peroxide": "OO",
    "malonaldehyde": "O=C/C=C\\O",
    "methane": "C",
    "methanol": "CO",
    "naphthalene": "c1ccc2ccccc2c1",
    "paracetamol": "CC(=O)Nc1ccc(O)cc1",
    "salicylic_acid": "OC(=O)c1ccccc1O",
    "toluene": "Cc1ccccc1",
    "uracil": "O=c1cc[nH]c(=O)[nH]1",
    "water": "O",
}

for name, text in sorted(smiles.items()):
    molecule = Chem.AddHs(Chem.MolFromSmiles(text))
    parameters = AllChem.ETKDGv3()
    parameters.randomSeed = 1
    ids = list(AllChem.EmbedMultipleConfs(molecule, 20, parameters))
    energies = [energy for _, energy in AllChem.MMFFOptimizeMoleculeConfs(molecule, maxIters=2000)]
    best = molecule.GetConformer(ids[energies.index(min(energies))]).GetPositions()
    masses = [atom.GetMass() for atom in molecule.GetAtoms()]
    centre = [sum(m * x[d] for m, x in zip(masses, best)) / sum(masses) for d in range(3)]
    atoms = [atom.GetSymbol() + "".join(f" {x[d] - centre[d] + 0.0:.3f}" for d in range(3)).replace(" -0.000", " 0.000")
             for atom, x in zip(molecule.GetAtoms(), best)]
    lines = ['    {"%s",' % name]
    row = "     \""
    for i, atom in enumerate(atoms):
        piece = atom + (" " if i + 1 < len(atoms) else "")
        if len(row) + len(piece) > 106:
            lines.append(row + '"')
            row = "     \""
        row += piece
    lines.append(row + '"},')
    print("\n".join(lines))
