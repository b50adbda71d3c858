#!/usr/bin/env python3
"""Writes tests/fixtures/molecules/gdb9/: QM9 as MoleculeNet gives it, gdb9.sdf by RDKit (PyPI: rdkit) and gdb9.sdf.csv.

    python tools/goldens/qm9_table_fixture.py

Five molecules of QM9's kinds, aromatic and charged ones among them, with bonds as the file has them: single, double and
triple. Values are the row's number and the column's.
"""
from pathlib import Path

from rdkit import Chem
from rdkit.Chem import AllChem

folder = Path(__file__).resolve().parents[2] / "tests" / "fixtures" / "molecules" / "gdb9"
folder.mkdir(parents=True, exist_ok=True)
columns = "A,B,C,mu,alpha,homo,lumo,gap,r2,zpve,u0,u298,h298,g298,cv,u0_atom,u298_atom,h298_atom,g298_atom".split(",")
molecules = {1: "C", 2: "N", 14: "C#N", 50: "c1cc[nH]c1", 101: "[NH3+]CC([O-])=O"}

writer = Chem.SDWriter(str(folder / "gdb9.sdf"))
rows = ["mol_id," + ",".join(columns)]
for row, (index, smiles) in enumerate(molecules.items()):
    molecule = Chem.AddHs(Chem.MolFromSmiles(smiles))
    AllChem.EmbedMolecule(molecule, randomSeed=1)
    Chem.Kekulize(molecule, clearAromaticFlags=True)
    molecule.SetProp("_Name", f"gdb_{index}")
    writer.write(molecule)
    rows.append(f"gdb_{index}," + ",".join(str(-row - (k + 1) / 32) for k in range(len(columns))))
writer.close()
(folder / "gdb9.sdf.csv").write_text("\n".join(rows) + "\n")
(folder / "uncharacterized.txt").write_text("Two lines of a title,\nfour words it has\n\n    14   C#N   0.1  0.2\n\n1 compounds\n")
