#!/usr/bin/env python3
"""Writes tests/fixtures/molecules/gdb9/: QM9 as MoleculeNet gives it, gdb9.sdf by RDKit (PyPI: rdkit) and gdb9.sdf.csv,
and inputs.json: what RDKit says of the atoms of these and of v2000.sdf beside it, read as PyTorch Geometric reads them.

    python tools/goldens/qm9_table_fixture.py

Five molecules of QM9's kinds, aromatic and charged ones among them, with bonds as the file has them: single, double and
triple. Values are the row's number and the column's.
"""
import json
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

# --- the inputs of atoms ------------------------------------------------------------------------
# Not sanitised, so that no atom is aromatic or has a hybridisation, whatever the bonds of the file.
ones = {"H": [1, 19, 30, 36, 46, 64, 73, 78, 86], "C": [14, 20, 31, 38, 49, 63, 74, 79, 82],
        "N": [15, 20, 33, 38, 50, 64, 70, 79, 86], "O": [16, 20, 34, 37, 51, 64, 74, 79, 86],
        "F": [17, 20, 35, 37, 52, 65, 77, 79, 86]}  # of CGCNN's table
kinds = [Chem.HybridizationType.SP, Chem.HybridizationType.SP2, Chem.HybridizationType.SP3]
inputs = []
for file in (folder / "gdb9.sdf", folder.parent / "v2000.sdf"):
    for molecule in Chem.SDMolSupplier(str(file), removeHs=False, sanitize=False):
        rows = []
        for atom in molecule.GetAtoms():
            row = [0] * 97
            for k in ones[atom.GetSymbol()]:
                row[k] = 1
            row[92] = int(atom.GetIsAromatic())
            for k, kind in enumerate(kinds):
                row[93 + k] = int(atom.GetHybridization() == kind)
            row[96] = sum(other.GetSymbol() == "H" for other in atom.GetNeighbors())
            rows.append("".join(str(x) for x in row))
        inputs.append(rows)
(folder / "inputs.json").write_text(json.dumps(inputs, indent=0) + "\n")
