#!/usr/bin/env python3
"""Makes files of every form that ASE, dpdata, nibabel, trimesh, evo and RDKit write, and expected.json with what their own
readers say of them, for tests/data/peer_files_test.cpp.

    python tools/goldens/peer_files.py OUT [--rounds 14] [--seed 0]    WEYL_PEER_FILES=OUT ctest -R data.peer_files
    python tools/goldens/peer_files.py --fixtures tests/fixtures/peers

A round is one file of each of 23 forms, 14 are 322 files. Every choice in a file (types, orders, what is left out) is drawn
from its seed, which stands in expected.json and is printed: `--only NAME SEED` makes it alone. The fixtures are one round of
small files. Needs scripts/wheels/peers.txt and RDKit (PyPI: rdkit 2026.9.1).
"""
import argparse
import gzip
import json
import shutil
import sys
from pathlib import Path

import ase.io
import dpdata
import nibabel
import numpy as np
import trimesh
from ase import Atoms
from ase.calculators.singlepoint import SinglePointCalculator
from evo.core.trajectory import PosePath3D, PoseTrajectory3D
from evo.tools import file_interface
from rdkit import Chem, RDLogger
from rdkit.Chem import AllChem

RDLogger.DisableLog("rdApp.*")


def plain(value):
    """Numbers and texts as JSON has them; logicals are 0 and 1."""
    if isinstance(value, np.ndarray):
        return [plain(x) for x in value.tolist()] if value.ndim else plain(value.item())
    if isinstance(value, (list, tuple)):
        return [plain(x) for x in value]
    if isinstance(value, (bool, np.bool_, int, np.integer)):
        return int(value)
    if isinstance(value, (float, np.floating)):
        return float(value)
    return str(value)


# --- frames of atoms ---------------------------------------------------------------------------------------------------------
def frames_of(draw):
    """Frames with the same columns, and values of every kind."""
    elements = [1, 6, 7, 8, 14, 17, 29, 79]
    # No text with a backslash: ASE writes it without quotes and drops it when it reads.
    column_kinds = [k for k in ("real", "integer", "logical", "text", "vector") if draw.random() < 0.6]
    value_kinds = [k for k in ("real", "integer", "logical", "text", "vector", "matrix", "whole", "logicals", "texts", "odd") if draw.random() < 0.6]
    forces, energy, periodic = draw.random() < 0.7, draw.random() < 0.8, draw.random() < 0.6
    result = []
    for _ in range(draw.integers(1, 4)):
        n = int(draw.integers(1, 7))
        atoms = Atoms(numbers=draw.choice(elements, n), positions=draw.normal(0, 10.0 ** draw.integers(-3, 4), (n, 3)))
        if periodic:
            atoms.set_cell(np.diag(draw.uniform(3, 20, 3)) + draw.normal(0, 1, (3, 3)))
            atoms.set_pbc(draw.random(3) < 0.7)
        results = {}
        if energy:
            results["energy"] = float(draw.normal(0, 1e3))
        if forces:
            results["forces"] = draw.normal(0, 1, (n, 3))
        if periodic and draw.random() < 0.5:
            results["stress"] = draw.normal(0, 0.1, 6)
        if results:
            atoms.calc = SinglePointCalculator(atoms, **results)
        columns = {"real": draw.normal(0, 1, n), "integer": draw.integers(-5, 5, n), "logical": draw.random(n) < 0.5,
                   "text": np.array([f"t{k}" for k in draw.integers(0, 99, n)]), "vector": draw.normal(0, 1, (n, 3))}
        for kind in column_kinds:
            atoms.new_array(f"column_{kind}", columns[kind])
        values = {"real": float(draw.normal()), "integer": int(draw.integers(-9, 9)), "logical": bool(draw.random() < 0.5),
                  "text": str(draw.choice(["water", "two words", 'a "quote"', "a=b", "it's", "comma, comma", "\u00e9t\u00e9", "-"])),
                  "vector": draw.normal(0, 1, int(draw.integers(2, 8))), "matrix": draw.normal(0, 1, tuple(draw.integers(1, 5, 2))), "whole": draw.integers(-9, 9, (2, 2)),
                  "logicals": draw.random(3) < 0.5, "texts": ["a", "two words"],
                  "odd": str(draw.choice(["1.5e", "-", "T1", "nan?", "[1, 2"]))}
        for kind in value_kinds:
            atoms.info[f"value_{kind}"] = values[kind]
        result.append(atoms)
    return result


def expected_frames(atoms_list):
    result = []
    for atoms in atoms_list:
        found = {"numbers": atoms.numbers, "positions": atoms.positions, "pbc": atoms.pbc,
                 "columns": {k: v for k, v in atoms.arrays.items() if k.startswith("column_")},
                 "values": {k: v for k, v in atoms.info.items() if k.startswith("value_")}}
        if atoms.cell.rank > 0:
            found["cell"] = atoms.cell.array
        results = atoms.calc.results if atoms.calc else {}
        for name in ("energy", "forces"):
            if name in results:
                found[name] = results[name]
        if "stress" in results:
            found["stress"] = atoms.get_stress(voigt=False)
        result.append(found)
    return {"kind": "frames", "frames": result}


def ase_extxyz(draw, path):
    ase.io.write(path, frames_of(draw), format="extxyz", vec_cell=False)
    return expected_frames(ase.io.read(path, ":", format="extxyz"))


def ase_extxyz_gz(draw, path):
    inner = path.with_suffix("")
    ase.io.write(inner, frames_of(draw), format="extxyz")
    path.write_bytes(gzip.compress(inner.read_bytes(), mtime=0))
    expected = expected_frames(ase.io.read(inner, ":", format="extxyz"))
    inner.unlink()
    return expected


def ase_columns(draw, path):
    """Only some columns, in an order that is asked for."""
    frames = frames_of(draw)
    columns = ["symbols", "positions"] if draw.random() < 0.5 else ["symbols", "numbers", "positions"]
    columns += [c for c in frames[0].arrays if c.startswith("column_")]
    ase.io.write(path, frames, format="extxyz", columns=columns, write_results=bool(draw.random() < 0.5))
    return expected_frames(ase.io.read(path, ":", format="extxyz"))


def ase_xyz(draw, path):
    frames = frames_of(draw)
    ase.io.write(path, frames[0], format="xyz", comment=str(draw.choice(["", "a comment", "energy -1.5", "key=value"])))
    read = ase.io.read(path, format="xyz")
    return {"kind": "frames", "frames": [{"numbers": read.numbers, "positions": read.positions, "pbc": read.pbc}]}


def dpdata_deepmd(draw, path):
    frames, atoms, mixed = int(draw.integers(1, 6)), int(draw.integers(2, 6)), draw.random() < 0.3
    names = ["H", "C", "O"][: int(draw.integers(1, 4))]
    types = np.sort(draw.integers(0, len(names), atoms))
    data = {"atom_names": names, "atom_numbs": [int((types == t).sum()) for t in range(len(names))], "atom_types": types,
            "orig": np.zeros(3), "cells": np.tile(np.diag(draw.uniform(5, 9, 3)), (frames, 1, 1)),
            "coords": draw.uniform(0, 5, (frames, atoms, 3)), "energies": draw.normal(-30, 1, frames),
            "forces": draw.normal(0, 1, (frames, atoms, 3))}
    if draw.random() < 0.5:
        data["virials"] = draw.normal(0, 1, (frames, 3, 3))
    if draw.random() < 0.3:
        data["nopbc"] = True
    if mixed:
        data["nopbc"] = False
    system = dpdata.LabeledSystem(data=data)
    system.to("deepmd/npy/mixed" if mixed else "deepmd/npy", str(path), set_size=int(draw.integers(1, 4)),
              prec=np.float64 if draw.random() < 0.7 else np.float32)
    read = (dpdata.MultiSystems().load_systems_from_file(str(path), fmt="deepmd/npy/mixed")[0] if mixed
            else dpdata.LabeledSystem(str(path), fmt="deepmd/npy"))
    numbers = [{"H": 1, "C": 6, "O": 8}[read["atom_names"][t]] for t in read["atom_types"]]
    periodic = not read.nopbc
    return {"kind": "frames", "frames": [
        {"numbers": numbers, "positions": read["coords"][k], "pbc": 3 * [periodic], "energy": read["energies"][k],
         "forces": read["forces"][k], **({"cell": read["cells"][k]} if periodic else {}),
         **({"values": {"virial": read["virials"][k]}} if "virials" in read.data else {})} for k in range(len(read))]}


# --- molecules ---------------------------------------------------------------------------------------------------------------
SMILES = ["C", "O", "CC(=O)Oc1ccccc1C(=O)O", "C[NH3+].[Cl-]", "[13CH4]", "[2H]OC([3H])C", "[O][O]", "[CH3]", "c1ccncc1", "C#N",
          "N[C@@H](C)C(=O)O", "F/C=C/F", "[Na+].[Cl-]", "C[N+](=O)[O-]", "S(=O)(=O)(O)O", "[18O]=C=O", "[nH]1cccc1", "BrCCI"]


def molecule_of(draw, flat):
    molecule = Chem.AddHs(Chem.MolFromSmiles(str(draw.choice(SMILES))))
    if flat:
        AllChem.Compute2DCoords(molecule)
    elif AllChem.EmbedMolecule(molecule, randomSeed=int(draw.integers(1, 10 ** 6))) != 0:
        AllChem.Compute2DCoords(molecule)
    if draw.random() < 0.7:
        molecule.SetProp("_Name", str(draw.choice(["aspirin", "a name of words", "12", "M  END?"])))
    for name, value in (("energy", repr(float(draw.normal()))), ("count", str(int(draw.integers(9)))), ("note", "one\ntwo")):
        if draw.random() < 0.5:
            molecule.SetProp(name, value)
    return molecule


def expected_molecules(molecules):
    orders = {Chem.BondType.SINGLE: 1, Chem.BondType.DOUBLE: 2, Chem.BondType.TRIPLE: 3, Chem.BondType.AROMATIC: 4}
    result = []
    for m in molecules:
        atoms = list(m.GetAtoms())
        result.append({"numbers": [a.GetAtomicNum() for a in atoms], "positions": m.GetConformer().GetPositions(),
                       "pbc": [False] * 3, "name": m.GetProp("_Name").strip(),
                       "columns": {"formal_charges": [a.GetFormalCharge() for a in atoms],
                                   "isotopes": [a.GetIsotope() for a in atoms]},
                       "bonds": [[b.GetBeginAtomIdx(), b.GetEndAtomIdx(), orders[b.GetBondType()]] for b in m.GetBonds()],
                       "values": {k: float(m.GetProp(k)) for k in ("energy", "count") if m.HasProp(k)}})
    return {"kind": "frames", "frames": result}


def rdkit_sdf(draw, path, v3000=False):
    with Chem.SDWriter(str(path)) as writer:
        writer.SetForceV3000(v3000)
        writer.SetKekulize(bool(draw.random() < 0.6))
        flat = draw.random() < 0.3
        for _ in range(int(draw.integers(1, 4))):
            writer.write(molecule_of(draw, flat))
    return expected_molecules(Chem.SDMolSupplier(str(path), removeHs=False, sanitize=False))


def rdkit_sdf_v3000(draw, path):
    return rdkit_sdf(draw, path, True)


def rdkit_mol(draw, path):
    Chem.MolToMolFile(molecule_of(draw, draw.random() < 0.5), str(path), kekulize=bool(draw.random() < 0.5),
                      forceV3000=bool(draw.random() < 0.5))
    expected = expected_molecules([Chem.MolFromMolFile(str(path), removeHs=False, sanitize=False)])
    expected["frames"][0]["values"] = {}
    return expected


def rdkit_xyz(draw, path):
    Chem.MolToXYZFile(molecule_of(draw, False), str(path))
    read = Chem.MolFromXYZFile(str(path))
    return {"kind": "frames", "frames": [{"numbers": [a.GetAtomicNum() for a in read.GetAtoms()],
                                          "positions": read.GetConformer().GetPositions(), "pbc": [False] * 3}]}


def rdkit_packed(draw, path):
    inner = path.with_suffix("")
    expected = rdkit_sdf(draw, inner, bool(draw.random() < 0.5))
    path.write_bytes(gzip.compress(inner.read_bytes(), mtime=0))
    inner.unlink()
    return expected


# --- volumes -----------------------------------------------------------------------------------------------------------------
def nibabel_volume(draw, path):
    axes = int(draw.choice([2, 3, 3, 3, 4, 5]))
    shape = tuple(int(n) for n in draw.integers(1, 6, axes))
    kind = draw.choice(["u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f4", "f8"])
    values = draw.normal(0, 30, shape) if kind[0] == "f" else draw.integers(0, 100, shape)
    turn = np.linalg.qr(draw.normal(0, 1, (3, 3)))[0] if draw.random() < 0.4 else np.eye(3)[draw.permutation(3)]
    affine = np.eye(4)
    affine[:3, :3] = turn * draw.choice([-1, 1], 3) @ np.diag(draw.uniform(0.5, 3, 3))
    affine[:3, 3] = draw.normal(0, 50, 3)
    order = str(draw.choice(["<", ">"]))
    image_class, header = [(nibabel.Nifti1Image, nibabel.Nifti1Header), (nibabel.Nifti2Image, nibabel.Nifti2Header)][
        int(draw.random() < 0.4)]
    forms = str(draw.choice(["sform", "qform", "both", "none"]))
    image = image_class(values.astype(kind), None if forms == "none" else affine, header(endianness=order), dtype=kind)
    if forms == "sform":
        image.set_qform(None, code=0)
        image.set_sform(affine, code=int(draw.integers(1, 5)))
    elif forms == "qform":
        image.set_qform(affine, code=int(draw.integers(1, 4)))
        image.set_sform(None, code=0)
    elif forms == "both":
        image.set_qform(affine, code=1)
    else:
        image.header.set_zooms(tuple(float(x) for x in draw.uniform(0.5, 3, axes)))
    unit = str(draw.choice(["mm", "meter", "micron", "unknown"]))
    image.header.set_xyzt_units(unit)
    if kind[0] != "f" and draw.random() < 0.4:
        image.header.set_slope_inter(float(draw.uniform(0.1, 2)), float(draw.normal(0, 5)))
    if draw.random() < 0.2:
        image.header.extensions.append(nibabel.nifti1.Nifti1Extension("comment", b"an extension of words"))
    image.to_filename(path)
    read = nibabel.load(path)
    shape = read.shape + (1,) * (3 - len(read.shape))
    affine = read.affine
    if forms == "none":  # nibabel centres a volume without forms, as SPM does; the standard, and we, begin at the origin
        affine = np.diag([*np.abs(read.header["pixdim"][1:4]), 1])
    factor = {"mm": 1, "meter": 1e3, "micron": 1e-3, "unknown": 1}[unit]
    return {"kind": "volume", "shape": shape, "affine": affine, "codes": "".join(nibabel.aff2axcodes(affine)),
            "spacing": factor * nibabel.affines.voxel_sizes(affine),
            "values": np.asarray(read.dataobj, dtype=float).reshape(-1, order="F")}


# --- surfaces and clouds -----------------------------------------------------------------------------------------------------
def mesh_of(draw):
    kind = str(draw.choice(["box", "icosphere", "cylinder", "capsule", "hull"]))
    if kind == "hull":
        mesh = trimesh.convex.convex_hull(draw.normal(0, 1, (12, 3)))
    elif kind == "box":
        mesh = trimesh.creation.box(extents=draw.uniform(0.5, 3, 3))
    elif kind == "icosphere":
        mesh = trimesh.creation.icosphere(subdivisions=1, radius=float(draw.uniform(0.5, 2)))
    elif kind == "cylinder":
        mesh = trimesh.creation.cylinder(radius=0.7, height=2, sections=int(draw.integers(5, 12)))
    else:
        mesh = trimesh.creation.capsule(height=1.5, radius=0.5, count=[6, 6])
    mesh.apply_transform(trimesh.transformations.random_rotation_matrix(draw.random(3)))
    mesh.apply_scale(10.0 ** draw.uniform(-3, 3))
    mesh.apply_translation(draw.normal(0, 1, 3))
    return mesh


def expected_mesh(meshes):
    """Corners alone: how they are numbered is the file's affair."""
    return {"kind": "mesh", "corners": np.concatenate([m.triangles for m in meshes]), "objects": len(meshes)}


def trimesh_file(draw, path, **options):
    mesh_of(draw).export(path, **options)
    return expected_mesh([trimesh.load_mesh(path, process=False)])


def trimesh_stl(draw, path):
    return trimesh_file(draw, path, file_type="stl")


def trimesh_stl_text(draw, path):
    return trimesh_file(draw, path, file_type="stl_ascii")


def trimesh_off(draw, path):
    return trimesh_file(draw, path, digits=int(draw.integers(4, 12)))


def trimesh_obj(draw, path):
    mesh = mesh_of(draw)
    if draw.random() < 0.5:
        mesh.visual = trimesh.visual.TextureVisuals(uv=draw.random((len(mesh.vertices), 2)))
    mesh.export(path, include_normals=bool(draw.random() < 0.5), write_texture=False)
    return expected_mesh([trimesh.load_mesh(path, process=False)])


def trimesh_scene(draw, path):
    """Two bodies in one file, each an object of it."""
    meshes = [mesh_of(draw), mesh_of(draw)]
    trimesh.Scene({"first": meshes[0], "second": meshes[1]}).export(path)
    scene = trimesh.load_scene(path, process=False, split_objects=True)
    return expected_mesh([scene.geometry[name] for name in sorted(scene.geometry)])


def trimesh_ply(draw, path):
    mesh = mesh_of(draw)
    if draw.random() < 0.5:
        mesh.visual.vertex_colors = draw.integers(0, 256, (len(mesh.vertices), 4)).astype(np.uint8)
    mesh.export(path, encoding=str(draw.choice(["ascii", "binary"])), vertex_normal=bool(draw.random() < 0.5))
    return expected_mesh([trimesh.load_mesh(path, process=False)])


def trimesh_cloud(draw, path):
    n = int(draw.integers(3, 40))
    colors = draw.integers(0, 256, (n, 4)).astype(np.uint8) if draw.random() < 0.5 else None
    trimesh.PointCloud(draw.normal(0, 1, (n, 3)), colors=colors).export(path)
    return {"kind": "cloud", "points": trimesh.load(path).vertices}


def trimesh_points(draw, path):
    """Points as text, of which the program's set `clouds` reads the columns."""
    trimesh.PointCloud(draw.normal(0, 1, (int(draw.integers(3, 40)), 3))).export(path, write_colors=False)
    return {"kind": "cloud", "points": trimesh.load(path).vertices}


# --- trajectories ------------------------------------------------------------------------------------------------------------
def path_of(draw):
    n = int(draw.integers(2, 20))
    quaternions = draw.normal(0, 1, (n, 4))
    quaternions /= np.linalg.norm(quaternions, axis=1, keepdims=True)
    return draw.normal(0, 10.0 ** draw.integers(-2, 4), (n, 3)), quaternions, n


def evo_tum(draw, path):
    places, quaternions, n = path_of(draw)
    times = float(draw.choice([0, 1.5, 1403636579.763555527])) + np.cumsum(draw.uniform(0.01, 1, n))
    file_interface.write_tum_trajectory_file(str(path), PoseTrajectory3D(places, quaternions, times))
    read = file_interface.read_tum_trajectory_file(str(path))
    return {"kind": "poses", "matrices": np.array(read.poses_se3), "times": read.timestamps - read.timestamps[0]}


def evo_kitti(draw, path):
    places, quaternions, _ = path_of(draw)
    file_interface.write_kitti_poses_file(str(path), PosePath3D(places, quaternions))
    return {"kind": "poses", "matrices": np.array(file_interface.read_kitti_poses_file(str(path)).poses_se3)}


FORMS = {  # the ending of the name, what makes the file
    "ase_extxyz": (".extxyz", ase_extxyz), "ase_packed": (".extxyz.gz", ase_extxyz_gz), "ase_columns": (".xyz", ase_columns),
    "ase_xyz": (".xyz", ase_xyz), "dpdata_deepmd": ("", dpdata_deepmd), "rdkit_v2000": (".sdf", rdkit_sdf),
    "rdkit_v3000": (".sdf", rdkit_sdf_v3000), "rdkit_mol": (".mol", rdkit_mol),
    "rdkit_packed": (".sdf.gz", rdkit_packed), "rdkit_xyz": (".xyz", rdkit_xyz), "nibabel_plain": (".nii", nibabel_volume),
    "nibabel_packed": (".nii.gz", nibabel_volume), "nibabel_more": (".nii", nibabel_volume), "trimesh_stl": (".stl", trimesh_stl),
    "trimesh_text": (".stl", trimesh_stl_text), "trimesh_off": (".off", trimesh_off), "trimesh_obj": (".obj", trimesh_obj),
    "trimesh_scene": (".obj", trimesh_scene), "trimesh_ply": (".ply", trimesh_ply), "trimesh_cloud": (".ply", trimesh_cloud),
    "trimesh_points": (".xyz", trimesh_points),
    "evo_tum": (".tum", evo_tum), "evo_kitti": (".kitti", evo_kitti)}


def make(folder, form, seed):
    ending, maker = FORMS[form]
    name = f"{form}_{seed}{ending}"
    expected = maker(np.random.default_rng([list(FORMS).index(form), seed]), folder / name)
    return name, {"seed": seed, **expected}


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("out", nargs="?", type=Path)
    arguments.add_argument("--rounds", type=int, default=14)
    arguments.add_argument("--seed", type=int, default=0, help="of the first round; the next ones follow")
    arguments.add_argument("--only", nargs=2, metavar=("FORM", "SEED"))
    arguments.add_argument("--fixtures", type=Path)
    given = arguments.parse_args()
    folder = given.fixtures or given.out
    if folder is None:
        arguments.error("where to?")
    if given.fixtures:
        shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True, exist_ok=True)
    rounds = 1 if given.fixtures else given.rounds
    wanted = [(form, given.seed + k) for k in range(rounds) for form in FORMS]
    if given.only:
        wanted = [(given.only[0], int(given.only[1]))]
    expected = {}
    for form, seed in wanted:
        name, found = make(folder, form, seed)
        expected[name] = found
        print(name, file=sys.stderr)
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps({k: plain_tree(v) for k, v in e.items()})}" for name, e in expected.items())
    (folder / "expected.json").write_text("{\n" + lines + "\n}\n")
    print(f"{len(expected)} files in {folder}, seeds {given.seed} .. {given.seed + rounds - 1}")


def plain_tree(value):
    if isinstance(value, dict):
        return {k: plain_tree(v) for k, v in value.items()}
    if isinstance(value, list) and any(isinstance(v, dict) for v in value):
        return [plain_tree(v) for v in value]
    return plain(value)


if __name__ == "__main__":
    main()
