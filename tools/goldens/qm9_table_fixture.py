#!/usr/bin/env python3
"""Writes tests/fixtures/molecules/gdb9/: QM9 as MoleculeNet gives it, gdb9.sdf by RDKit (PyPI: rdkit) and gdb9.sdf.csv,
fluoride.sdf beside it, with the one element of QM9 that those lack, and inputs.json: the 97 inputs of the atoms of these and of
v2000.sdf, the first 92 of them from CGCNN's own table, the others by RDKit, read as PyTorch Geometric reads them.

    python tools/goldens/qm9_table_fixture.py atom_init.json

atom_init.json is data/sample-regression/atom_init.json of github.com/txie-93/cgcnn (MIT), 100 elements of 92 numbers.

Five molecules of QM9's kinds, aromatic and charged ones among them, with bonds as the file has them: single, double and
triple. Values are the row's number and the column's.
"""
import json
import sys
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
fluoride = Chem.AddHs(Chem.MolFromSmiles("FCC#N"))
AllChem.EmbedMolecule(fluoride, randomSeed=1)
writer = Chem.SDWriter(str(folder.parent / "fluoride.sdf"))
writer.write(fluoride)
writer.close()
(folder / "gdb9.sdf.csv").write_text("\n".join(rows) + "\n")
(folder / "uncharacterized.txt").write_text("Two lines of a title,\nfour words it has\n\n    14   C#N   0.1  0.2\n\n1 compounds\n")

# --- the inputs of atoms ------------------------------------------------------------------------
# Not sanitised, so that no atom is aromatic or has a hybridisation, whatever the bonds of the file.
table = json.loads(Path(sys.argv[1]).read_text())
kinds = [Chem.HybridizationType.SP, Chem.HybridizationType.SP2, Chem.HybridizationType.SP3]
inputs = []
for file in (folder / "gdb9.sdf", folder.parent / "v2000.sdf", folder.parent / "fluoride.sdf"):
    for molecule in Chem.SDMolSupplier(str(file), removeHs=False, sanitize=False):
        rows = []
        for atom in molecule.GetAtoms():
            row = table[str(atom.GetAtomicNum())] + [0] * 5
            row[92] = int(atom.GetIsAromatic())
            for k, kind in enumerate(kinds):
                row[93 + k] = int(atom.GetHybridization() == kind)
            row[96] = sum(other.GetSymbol() == "H" for other in atom.GetNeighbors())
            rows.append("".join(str(x) for x in row))
        inputs.append(rows)
(folder / "inputs.json").write_text(json.dumps(inputs, indent=0) + "\n")
