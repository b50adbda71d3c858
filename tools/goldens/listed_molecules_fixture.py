#!/usr/bin/env python3
"""Writes tests/fixtures/molecules/molecule3d/ and pcqm4mv2/ after the official tools' formats, with RDKit, NumPy and PyTorch (PyPI:
rdkit, numpy, torch).

    python tools/goldens/listed_molecules_fixture.py

molecule3d: two combined SDF files by RDKit's SDWriter, with hydrogens, properties.csv as pandas writes it, and the lists of the splits
as json.dump does. pcqm4mv2: data.csv.gz, where a molecule of the test has no gap; split_dict.pt, a dict of NumPy arrays by
torch.save, and split_dict.p4.pt by a newer protocol of pickle; pcqm4m-v2-train.sdf, with hydrogens; conformers.sdf without, whose field idx
is the row of the table. Values are simple: of the row r and the column k they are -r - k / 32.
"""
import gzip
import json
from pathlib import Path

import numpy
import torch
from rdkit import Chem
from rdkit.Chem import AllChem

fixtures = Path(__file__).resolve().parents[2] / "tests" / "fixtures" / "molecules"


def embedded(smiles, count=1):
    molecule = Chem.AddHs(Chem.MolFromSmiles(smiles))
    AllChem.EmbedMultipleConfs(molecule, count, randomSeed=1)
    return molecule


def write(path, molecules):
    writer = Chem.SDWriter(str(path))
    for molecule, conformer, fields in molecules:
        for name in list(molecule.GetPropNames()):
            molecule.ClearProp(name)
        for name, value in fields.items():
            molecule.SetProp(name, str(value))
        writer.write(molecule, confId=conformer)
    writer.close()


# --- Molecule3D -------------------------------------------------------------------------------------
folder = fixtures / "molecule3d"
folder.mkdir(parents=True, exist_ok=True)
molecules = ["C", "CO", "C#N", "c1cc[nH]c1", "C[N+](C)(C)CC(=O)[O-]"]
write(folder / "combined_mols_0_to_3.sdf", [(embedded(s), -1, {}) for s in molecules[:3]])
write(folder / "combined_mols_3_to_5.sdf", [(embedded(s), -1, {}) for s in molecules[3:]])
columns = ["dipole x", "dipole y", "dipole z", "homo", "lumo", "homolumogap", "scf energy"]
rows = [",".join(["index", *columns])]
rows += [",".join([str(r), *(str(-r - (k + 1) / 32) for k in range(len(columns)))]) for r in range(len(molecules))]
(folder / "properties.csv").write_text("\n".join(rows) + "\n")
for name, lists in {"random": {"train": [4, 0, 2], "valid": [1], "test": [3]},
                    "scaffold": {"train": [0, 1, 2], "valid": [3], "test": [4]}}.items():
    (folder / f"{name}_split_inds.json").write_text(json.dumps(lists))

# --- PCQM4Mv2 ---------------------------------------------------------------------------------------
folder = fixtures / "pcqm4mv2"
folder.mkdir(parents=True, exist_ok=True)
molecules = ["CO", "O=C1C=CC=CN1", "C#N", "CC(=O)[O-]", "FCl"]
rows = ["idx,smiles,homolumogap"]
rows += [f"{r},{s},{'' if r == 4 else 5 - r / 32}" for r, s in enumerate(molecules)]
(folder / "data.csv.gz").write_bytes(gzip.compress(("\n".join(rows) + "\n").encode(), mtime=0))
splits = {"train": numpy.arange(3), "valid": numpy.array([3]), "test-dev": numpy.array([4]),
          "test-challenge": numpy.array([], dtype=numpy.int64)}
torch.save(splits, folder / "split_dict.pt")
torch.save(splits, folder / "split_dict.p4.pt", pickle_protocol=4)
torch.save({k: torch.from_numpy(v) for k, v in splits.items()}, folder / "split_dict.tensors.pt")
torch.save({k: v.tolist() for k, v in splits.items()}, folder / "split_dict.lists.pt")
write(folder / "pcqm4m-v2-train.sdf", [(embedded(s), -1, {}) for s in molecules[:3]])
conformers = []
for row, smiles in enumerate(molecules):
    molecule = Chem.RemoveHs(embedded(smiles, 1 if row == 2 else 3))
    conformers += [(molecule, c.GetId(), {"idx": row}) for c in molecule.GetConformers()]
write(folder / "conformers.sdf", conformers)
