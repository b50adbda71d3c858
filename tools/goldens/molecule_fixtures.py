#!/usr/bin/env python3
"""Writes tests/fixtures/molecules/ase.{xyz,xyz.gz} with ASE (PyPI: ase).

    python tools/goldens/molecule_fixtures.py

tests/data/atoms/extended_xyz_test.cpp says what they hold.
"""
import gzip
from pathlib import Path

import numpy as np
from ase import Atoms
from ase.calculators.singlepoint import SinglePointCalculator
from ase.io import write

root = Path(__file__).resolve().parents[2] / "tests" / "fixtures" / "molecules"
root.mkdir(parents=True, exist_ok=True)

water = Atoms("OH2", positions=[[0, 0, 0.125], [0, 0.75, -0.5], [0, -0.75, -0.5]])
water.calc = SinglePointCalculator(water, energy=-14.25, forces=[[0, 0, -0.5], [0, 0.125, 0.25], [0, -0.125, 0.25]])
water.info.update(config_type="water", charge=0, note='two words, "quoted"', flags=np.array([True, False]),
                  counts=np.array([1, 2, 3]), weights=np.array([0.5, 1.0]), matrix=np.array([[1, 2], [3, 4]]),
                  converged=True, smiles="[H]O[H]")
water.new_array("charges_dft", np.array([-0.5, 0.25, 0.25]))
water.new_array("site", np.array([7, 8, 9]))
water.new_array("fixed", np.array([True, False, False]))
water.new_array("label", np.array(["Ow", "H1", "H2"]))

slab = Atoms("NaCl", positions=[[0, 0, 0], [2.5, 2.5, 2.5]], cell=[[5, 0, 0], [1, 5, 0], [0.5, 0.25, 12]],
             pbc=[True, True, False])
slab.calc = SinglePointCalculator(slab, energy=-3, forces=[[1, 2, 3], [-1, -2, -3]], stress=[1, 2, 3, 4, 5, 6])

write(root / "ase.xyz", [water, slab], format="extxyz")
(root / "ase.xyz.gz").write_bytes(gzip.compress((root / "ase.xyz").read_bytes(), mtime=0))

# --- QM9's own files: methane is gdb 1, the other is made up to have every odd number -------------------------
methane = """5
gdb 1\t157.7118\t157.70997\t157.70699\t0.\t13.21\t-0.3877\t0.1171\t0.5048\t35.3641\t0.044749\t-40.47893\t-40.476062\t-40.475117\t-40.498597\t6.469\t
C\t-0.0126981359\t 1.0858041578\t 0.0080009958\t-0.535689
H\t 0.002150416\t-0.0060313176\t 0.0019761204\t 0.133921
H\t 1.0117308433\t 1.4637511618\t 0.0002765748\t 0.133922
H\t-0.540815069\t 1.4475266138\t-0.8766437152\t 0.133923
H\t-0.5238136345\t 1.4379326443\t 0.9063972942\t 0.133923
1341.307\t1341.3284\t1341.365\t1562.6731\t1562.7453\t3038.3205\t3151.6034\t3151.6788\t3151.7078
C\tC\t
InChI=1S/CH4/h1H\tInChI=1S/CH4/h1H
"""
odd = """3
gdb 5\t0.\t44.593883\t44.593883\t2.8937\t8.88\t-0.3604\t0.0191\t0.3796\t48.7476\t0.016601\t-93.411888\t-93.40937\t-93.408425\t-93.431246\t6.278\t
C\t-0.0133239314\t 6.3656*^-5\t-1.2*^-5\t-0.010382
N\t 0.0022782\t 1.1476\t 2.5*^0\t-0.1
H\t 0.0\t-1.*^0\t 3.0\t 0.110382
799.8101\t799.8101\t2198.4393\t3490.3686
C#N\tC#N\t
InChI=1S/CHN/c1-2/h1H\tInChI=1S/CHN/c1-2/h1H
"""
(root / "qm9").mkdir(exist_ok=True)
(root / "qm9" / "dsgdb9nsd_000001.xyz").write_text(methane)
(root / "qm9" / "dsgdb9nsd_000005.xyz").write_text(odd)
import io
import tarfile

for ending in ("tar", "tar.gz", "tar.bz2"):
    mode = "w:" + (ending[4:] if ending != "tar" else "")
    options = {"compresslevel": 9} if ending != "tar" else {}
    with open(root / f"qm9.{ending}", "wb") as raw:
        stream = gzip.GzipFile(fileobj=raw, mode="wb", filename="", mtime=0) if ending == "tar.gz" else raw
        with tarfile.open(fileobj=stream, mode="w:bz2" if ending == "tar.bz2" else "w:") as archive:
            for name, text in (("readme.txt", "not a molecule\n"), ("._dsgdb9nsd_000001.xyz", "notes of a system\n"),
                               ("qm9/dsgdb9nsd_000001.xyz", methane), ("qm9/dsgdb9nsd_000005.xyz", odd)):
                info = tarfile.TarInfo(name)
                info.size = len(text)
                archive.addfile(info, io.BytesIO(text.encode()))
        if stream is not raw:
            stream.close()

# --- MD17, rMD17 and sGDML -------------------------------------------------------------------
frames, atoms = 4, 3
coords = np.arange(frames * atoms * 3, dtype=np.float64).reshape(frames, atoms, 3) / 8
forces = -coords / 4
energies = -97000.123456789 - np.arange(frames)
charges = np.array([8, 1, 1], dtype=np.uint8)
(root / "npz").mkdir(exist_ok=True)


def npz(file, /, **arrays):
    import zipfile

    with zipfile.ZipFile(root / "npz" / file, "w", zipfile.ZIP_DEFLATED) as archive:
        for key, array in arrays.items():
            data = io.BytesIO()
            np.save(data, np.asanyarray(array))
            archive.writestr(zipfile.ZipInfo(key + ".npy", (1980, 1, 1, 0, 0, 0)), data.getvalue(),
                             zipfile.ZIP_DEFLATED)


npz("md17.npz", E=energies[:, None], F=forces, R=coords, z=charges, name="water", theory=b"pbe+vdw-ts",
    md5="0123456789abcdef")
npz("rmd17.npz", nuclear_charges=charges, coords=coords, energies=energies, forces=forces, old_indices=np.arange(4) * 10,
    old_energies=energies + 0.5, old_forces=forces * 2)
npz("sgdml.npz", R=coords.astype(np.float32), z=charges.astype(np.int64), E=energies / 627.5, F=forces, r_unit="Ang",
    e_unit="Hartree", perms=np.arange(6).reshape(2, 3), notes=np.array(["a", "b"]))

# --- DeePMD ----------------------------------------------------------------------------------
import shutil

system = root / "deepmd"
shutil.rmtree(system, ignore_errors=True)
for number, (begin, end) in enumerate(((0, 3), (3, 4))):
    folder = system / f"set.{number:03d}"
    folder.mkdir(parents=True)
    count = end - begin
    np.save(folder / "coord.npy", coords[begin:end].reshape(count, -1).astype(np.float32 if number else np.float64))
    np.save(folder / "box.npy", np.tile(np.array([10, 0, 0, 1, 11, 0, 0, 2, 12.0]), (count, 1)))
    np.save(folder / "energy.npy", energies[begin:end, None] if number else energies[begin:end])
    np.save(folder / "force.npy", forces[begin:end].reshape(count, -1))
    np.save(folder / "virial.npy", np.tile(np.arange(9.0), (count, 1)))
    np.save(folder / "atom_ener.npy", np.arange(count * atoms, dtype=np.float64).reshape(count, atoms))
(system / "type.raw").write_text("1 0\n0\n")
(system / "type_map.raw").write_text("H\nO\n")

# --- SDF by RDKit ----------------------------------------------------------------------------
from rdkit import Chem

formate = Chem.AddHs(Chem.MolFromSmiles("C(=O)[O-].[NH4+]"))
conformer = Chem.Conformer(formate.GetNumAtoms())
for i in range(formate.GetNumAtoms()):
    conformer.SetAtomPosition(i, (i / 8, -i / 4, 0.5 + i))
conformer.Set3D(True)
formate.AddConformer(conformer)
formate.SetProp("_Name", "ammonium formate")
formate.SetProp("energy", "-245.125")
formate.SetProp("note", "first line\nsecond line")
formate.GetAtomWithIdx(0).SetIsotope(13)
benzene = Chem.MolFromSmiles("c1ccccc1")
for name, v3000 in (("v2000.sdf", False), ("v3000.sdf", True)):
    writer = Chem.SDWriter(str(root / name))
    writer.SetForceV3000(v3000)
    writer.SetKekulize(False)
    writer.write(formate)
    writer.write(benzene)
    writer.close()
