#!/usr/bin/env python3
"""What the program writes, opened by the programs of its field, and compared number by number.

    tests/peers/round_trips_test.py --weyl build/release/bin/weyl

`scripts/setup --dev` installs them in .venv-peers/ (scripts/wheels/peers.txt). Without that folder the tests are skipped
(exit code 77), but not where WEYL_NEEDS_PEERS is set, as it is in CI: there that is a failure.
"""
import argparse
import gzip
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SKIPPED = 77


def in_venv():
    """Runs this file again by the interpreter that has the other programs."""
    python = ROOT / ".venv-peers" / "bin" / "python"
    if Path(sys.prefix).resolve() == python.parents[1].resolve():
        return
    if not python.exists():
        required = bool(os.environ.get("WEYL_NEEDS_PEERS"))
        print(f"{'failed' if required else 'skipped'}: there is no {python.parents[1]}; run scripts/setup --dev")
        sys.exit(1 if required else SKIPPED)
    os.execv(python, [str(python), *sys.argv])


if __name__ == "__main__":
    in_venv()

import ase.io
import dpdata
import nibabel
import numpy as np
import trimesh
from ase import Atoms
from ase.calculators.singlepoint import SinglePointCalculator
from evo.tools import file_interface
from safetensors import safe_open
from safetensors.numpy import load_file, save_file

WEYL = None


class Trip(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="weyl-peers-")
        self.addCleanup(scratch.cleanup)
        self.folder = Path(scratch.name)

    def weyl(self, *words):
        run = subprocess.run([WEYL, *map(str, words)], cwd=self.folder, capture_output=True, text=True,
                             env={**os.environ, "OMP_NUM_THREADS": "1"})
        self.assertEqual(run.returncode, 0, f"weyl {' '.join(map(str, words))}: {run.stderr}")
        return run.stdout

    def put(self, name, text):
        (self.folder / name).write_text(text)

    def equal(self, found, wanted, within=0.0, what=""):
        np.testing.assert_allclose(np.asarray(found, dtype=float), np.asarray(wanted, dtype=float), rtol=0, atol=within,
                                   err_msg=what)


def frames(count=12):
    """Frames with every kind of value that extended xyz has, some with a cell, the same each time."""
    stream = np.random.default_rng(1)
    result = []
    for k in range(count):
        n = int(stream.integers(2, 6))
        places = np.cumsum(stream.normal(0, 0.2, (n, 3)) + [1.1, 0, 0], axis=0)
        atoms = Atoms(numbers=stream.choice([1, 6, 8], n), positions=places)
        stress = None
        if k % 3 == 0:
            atoms.set_cell(np.diag([9.0, 8.0, 7.5]) + stream.normal(0, 0.3, (3, 3)))
            atoms.set_pbc([True, True, k % 2 == 0])
            stress = stream.normal(0, 0.01, 6)
        atoms.calc = SinglePointCalculator(atoms, energy=float(stream.normal(-50, 5)), forces=stream.normal(0, 1, (n, 3)),
                                           **({} if stress is None else {"stress": stress}))
        atoms.info.update(config_type=["water", "two words", 'a "quote"'][k % 3], step=k, weight=0.1 * k, converged=k % 2 == 0,
                          dipole=stream.normal(0, 1, 3), counts=np.array([k, 2, 3]), tensor=stream.normal(0, 1, (3, 3)))
        atoms.new_array("charges_of_mine", stream.normal(0, 0.3, n))
        atoms.new_array("tags_of_mine", stream.integers(0, 4, n))
        atoms.new_array("fixed", stream.integers(0, 2, n).astype(bool))
        atoms.new_array("label", np.array([f"a{i}" for i in range(n)]))
        result.append(atoms)
    return result


class Frames(Trip):
    def same(self, found, wanted, exact_stress=True):
        self.assertEqual(list(found.numbers), list(wanted.numbers))
        self.equal(found.positions, wanted.positions)
        self.equal(found.cell, wanted.cell)
        self.assertEqual(list(found.pbc), list(wanted.pbc))
        self.equal(found.get_potential_energy(), wanted.get_potential_energy())
        self.equal(found.get_forces(), wanted.get_forces())
        self.assertEqual("stress" in found.calc.results, "stress" in wanted.calc.results)
        if "stress" in wanted.calc.results:
            self.equal(found.get_stress(), wanted.get_stress(), within=0 if exact_stress else 1e-15)
        for name, value in wanted.info.items():
            got = found.info[name]
            if isinstance(value, (str, bool)):
                self.assertEqual(got, value, name)
            else:
                self.equal(got, value, what=name)
        for name in ("charges_of_mine", "tags_of_mine", "fixed", "label"):
            self.assertTrue((found.arrays[name] == wanted.arrays[name]).all(), name)

    def test_converted_frames_open_in_ase(self):
        wanted = frames()
        ase.io.write(self.folder / "in.extxyz", wanted, format="extxyz")
        wanted = ase.io.read(self.folder / "in.extxyz", ":")  # to the digits that ASE writes
        for name in ("out.extxyz", "out.xyz", "out.extxyz.gz"):
            self.weyl("data", "convert", "in.extxyz", name)
            path = self.folder / name
            if name.endswith(".gz"):
                path = self.folder / "plain.extxyz"
                path.write_bytes(gzip.decompress((self.folder / name).read_bytes()))
            found = ase.io.read(path, ":", format="extxyz")
            self.assertEqual(len(found), len(wanted))
            for f, w in zip(found, wanted):
                self.same(f, w)

    def test_split_frames_open_in_ase(self):
        ase.io.write(self.folder / "in.extxyz", frames(20), format="extxyz")
        wanted = {atoms.info["step"]: atoms for atoms in ase.io.read(self.folder / "in.extxyz", ":")}
        self.weyl("data", "split", "in.extxyz", "--out", "parts")
        found = [a for part in ("train", "valid", "test") for a in ase.io.read(self.folder / f"parts/{part}.extxyz", ":")]
        self.assertEqual(sorted(a.info["step"] for a in found), sorted(wanted))
        for atoms in found:
            self.same(atoms, wanted[atoms.info["step"]])

    def test_rows_of_a_database_open_in_ase(self):
        """Six numbers of a stress, which ASE's databases have, become the nine that it reads."""
        source = ROOT / "tests/fixtures/reports/01_row_stress.aselmdb"
        self.weyl("data", "convert", source, "out.extxyz")
        atoms = ase.io.read(self.folder / "out.extxyz")
        self.assertEqual(atoms.get_stress().shape, (6,))

    def test_molecules_of_a_table_open_in_ase(self):
        self.weyl("data", "convert", ROOT / "tests/fixtures/molecules/v2000.sdf", "out.extxyz")
        formate = ase.io.read(self.folder / "out.extxyz", 0)  # tools/goldens/molecule_fixtures.py made it
        self.assertEqual(np.asarray(formate.info["bonds"]).shape, (7, 3))
        self.assertEqual(list(formate.info["bonds"][0]), [0, 1, 2])
        self.assertEqual(list(formate.arrays["isotopes"]), [13, 0, 0, 0, 0, 0, 0, 0, 0])
        self.assertEqual(formate.info["note"], "first line\nsecond line")

    def test_predictions_open_in_ase(self):
        wanted = frames()
        for k in range(0, len(wanted), 3):
            wanted[k].pbc = True  # a stress is predicted of frames periodic along three vectors
        wanted = [wanted[k] for k in range(0, len(wanted), 3)] * 4
        ase.io.write(self.folder / "in.extxyz", wanted, format="extxyz")
        wanted = ase.io.read(self.folder / "in.extxyz", ":")
        self.put("c.toml", """
[data]
set = "molecules"
[data.molecules]
path = "in.extxyz"
elements = ["H", "C", "O"]
[task]
name = "force_field"
[model]
system = "geomformer"
[model.geomformer]
preset = "et"
width = 16
heads = 2
blocks = 1
kernels = 8
cutoff = { radius = 5.0 }
[train]
steps = 1
""")
        self.weyl("train", "c.toml", "--out", "run", "--no-pictures")
        self.weyl("predict", "run", "in.extxyz", "--out", "out.extxyz")
        self.weyl("predict", "run", "in.extxyz", "--out", "out.safetensors")
        numbers = load_file(self.folder / "out.safetensors")
        found = ase.io.read(self.folder / "out.extxyz", ":")
        self.assertEqual(len(found), len(wanted))
        for k, (f, w) in enumerate(zip(found, wanted)):
            self.same(f, w)
            self.assertEqual(f.arrays["weyl_forces"].shape, (len(w), 3))
            self.equal(f.info["weyl_energy"], numbers["energy"].reshape(-1)[k], within=1e-9)
            self.assertEqual(np.asarray(f.info["weyl_stress"]).shape, (9,))
        self.equal(np.concatenate([f.arrays["weyl_forces"] for f in found]), numbers["forces"].reshape(-1, 3), within=1e-6)

    def test_arrays_of_a_molecule_open_in_numpy(self):
        stream = np.random.default_rng(2)
        wanted = []
        for _ in range(5):
            atoms = Atoms("OH2", positions=[[0, 0, 0], [0.9, 0, 0], [0, 0.9, 0]] + stream.normal(0, 0.05, (3, 3)))
            atoms.calc = SinglePointCalculator(atoms, energy=float(stream.normal()), forces=stream.normal(0, 1, (3, 3)))
            wanted.append(atoms)
        ase.io.write(self.folder / "in.extxyz", wanted, format="extxyz")
        wanted = ase.io.read(self.folder / "in.extxyz", ":")
        self.weyl("data", "convert", "in.extxyz", "out.npz", "from=eV")
        with np.load(self.folder / "out.npz", allow_pickle=False) as found:
            self.assertEqual(found["nuclear_charges"].tolist(), [8, 1, 1])
            self.equal(found["coords"], [a.positions for a in wanted])
            self.equal(found["energies"], [a.get_potential_energy() for a in wanted])
            self.equal(found["forces"], [a.get_forces() for a in wanted])

    def test_systems_of_deepmd_arrive_in_ase(self):
        """The program reads DeePMD and writes none: what dpdata writes must arrive in ASE by way of the program."""
        stream = np.random.default_rng(3)
        count, atoms = 4, 5
        wanted = dpdata.LabeledSystem(data={
            "atom_names": ["H", "O"], "atom_numbs": [3, 2], "atom_types": np.array([0, 1, 0, 1, 0]), "orig": np.zeros(3),
            "cells": np.tile(10 * np.eye(3), (count, 1, 1)), "coords": stream.uniform(0, 10, (count, atoms, 3)),
            "energies": stream.normal(-30, 1, count), "forces": stream.normal(0, 1, (count, atoms, 3)),
            "virials": stream.normal(0, 1, (count, 3, 3))})
        wanted.to("deepmd/npy", str(self.folder / "system"), prec=np.float64)
        self.weyl("data", "convert", "system", "out.extxyz")
        found = ase.io.read(self.folder / "out.extxyz", ":")
        self.assertEqual(len(found), count)
        for k, f in enumerate(found):
            self.assertEqual(f.get_chemical_symbols(), ["H", "O", "H", "O", "H"])
            self.equal(f.positions, wanted["coords"][k])
            self.equal(f.cell, wanted["cells"][k])
            self.assertTrue(f.pbc.all())
            self.equal(f.get_potential_energy(), wanted["energies"][k])
            self.equal(f.get_forces(), wanted["forces"][k])


class Poses(Trip):
    def test_written_trajectories_open_in_evo(self):
        stream = np.random.default_rng(4)
        quaternions = stream.normal(0, 1, (7, 4))
        quaternions /= np.linalg.norm(quaternions, axis=1, keepdims=True)
        times = 1305031098.6 + 0.5 * np.arange(7)
        rows = np.column_stack([times, stream.normal(0, 3, (7, 3)), quaternions])
        np.savetxt(self.folder / "in.tum", rows, fmt=["%.6f"] + 7 * ["%.17g"])
        self.weyl("data", "make", "pose_sequences", "--out", "sequences", "group=se3", "train=8", "valid=2", "test=2")
        self.put("c.toml", """
[data]
set = "pose_sequences"
[data.pose_sequences]
path = "sequences"
group = "se3"
[task]
name = "completion"
[model]
system = "lie"
[train]
steps = 1
batch = 8
""")
        self.weyl("train", "c.toml", "--out", "run", "--no-pictures")
        self.weyl("predict", "run", "in.tum", "--out", "out.tum")
        self.weyl("predict", "run", "in.tum", "--out", "out.kitti")
        wanted = file_interface.read_tum_trajectory_file(str(self.folder / "in.tum"))
        tum = file_interface.read_tum_trajectory_file(str(self.folder / "out.tum"))
        kitti = file_interface.read_kitti_poses_file(str(self.folder / "out.kitti"))
        self.assertEqual(len(tum.poses_se3), 8)
        self.assertEqual(len(kitti.poses_se3), 8)
        self.assertTrue(tum.check()[0] and kitti.check()[0])
        self.equal(tum.poses_se3, kitti.poses_se3, within=1e-12)
        place = next(k for k in range(8) if k == 7 or tum.timestamps[k] != wanted.timestamps[k])
        self.equal(np.delete(tum.timestamps, place), wanted.timestamps)
        self.equal(np.delete(tum.poses_se3, place, axis=0), wanted.poses_se3, within=1e-12)


class Volumes(Trip):
    def test_volumes_and_masks_open_in_nibabel(self):
        self.weyl("data", "make", "phantoms", "--out", "set", "count=4", "size=[21, 19, 17]", "spacing=[6, 7, 8]")
        index = json.loads((self.folder / "set/dataset.json").read_text())
        self.put("c.toml", """
[data]
set = "decathlon"
[data.decathlon]
path = "set"
[task]
name = "segmentation"
[model]
system = "steerable"
[model.steerable]
degree = 1
ratio = [4, 2]
stages = [
  { middle = 0, channels = 4, kernel = 3, stride = 2, same = false, pool = 2 },
  { middle = 0, channels = 4, kernel = 3, pool = 1 },
]
encoder = { depth = 1, heads = 2 }
[train]
steps = 1
batch = 1
""")
        self.weyl("train", "c.toml", "--out", "run", "--no-pictures")
        self.weyl("predict", "run", "set/imagesTr", "--out", "masks", "--probabilities")
        for case in index["training"]:
            image = nibabel.load(self.folder / "set" / case["image"])
            label = nibabel.load(self.folder / "set" / case["label"])
            self.assertEqual(image.shape, (21, 19, 17, 4))
            self.equal(image.header.get_zooms()[:3], [6, 7, 8])
            self.assertEqual(nibabel.aff2axcodes(image.affine), ("L", "P", "S"))
            self.equal(label.affine, image.affine)
            self.assertLessEqual(set(np.unique(label.dataobj)), {0, 1, 2, 3})
            name = Path(case["image"]).name
            mask = nibabel.load(self.folder / "masks" / name)
            self.assertEqual(mask.shape, (21, 19, 17))
            self.equal(mask.affine, image.affine)
            chances = nibabel.load(self.folder / "masks" / name.replace(".nii", "_probabilities.nii"))
            self.equal(chances.affine, image.affine)
            values = chances.get_fdata()
            self.assertEqual(values.shape, (21, 19, 17, 4))
            self.equal(values.sum(-1), np.ones((21, 19, 17)), within=1e-5)
            self.assertTrue((values.argmax(-1) == np.asarray(mask.dataobj)).all())


    def test_nnunet_folder_from_config_new_to_masks(self):
        """Two channels, labels 0 1 2 4, three spacings and orientations: all masks come back on their own grids."""
        stream = np.random.default_rng(5)
        turns = ["RAS", "LPS", "PIR"]
        spacings = [(2, 2, 2), (2, 2, 3), (1.5, 2, 4)]

        def write(name, part, k, mask):
            shape = np.array([18, 16, 20]) + k % 3
            place = np.stack(np.meshgrid(*[np.arange(n) - n / 2 for n in shape], indexing="ij"), -1)
            ball = np.linalg.norm(place - stream.uniform(-2, 2, 3), axis=-1)
            labels = np.select([ball < 2, ball < 4, ball < 6], [4, 2, 1], 0).astype(np.uint8)
            affine = np.diag([*spacings[k % 3], 1.0])
            affine[:3, 3] = stream.uniform(-50, 50, 3)
            turn = nibabel.orientations.ornt_transform(nibabel.orientations.io_orientation(affine),
                                                       nibabel.orientations.axcodes2ornt(turns[k % 3]))
            for channel in range(2):
                values = (labels * 100 * (channel + 1) + stream.normal(200, 5, shape)).astype(np.float32)
                image = nibabel.Nifti1Image(values, affine).as_reoriented(turn)
                nibabel.save(image, self.folder / f"set/images{part}/{name}_{channel:04d}.nii.gz")
            if mask:
                nibabel.save(nibabel.Nifti1Image(labels, affine).as_reoriented(turn),
                             self.folder / f"set/labels{part}/{name}.nii.gz")

        for part in ("imagesTr", "labelsTr", "imagesTs"):
            (self.folder / "set" / part).mkdir(parents=True)
        for k in range(6):
            write(f"case_{k}", "Tr", k, True)
        for k in range(3):
            write(f"test_{k}", "Ts", k, False)
        self.put("set/dataset.json", json.dumps({
            "channel_names": {"0": "CT", "1": "T2"}, "numTraining": 6, "file_ending": ".nii.gz",
            "labels": {"background": 0, "edema": 1, "core": 2, "enhancing": 4}}))
        for system in ("unet", "steerable"):
            self.weyl("config", "new", "--data", "set", "--out", f"{system}.toml", "--system", system)
            self.weyl("train", f"{system}.toml", "--out", system, "--no-pictures", "train.epochs=1")
            self.weyl("predict", system, "set/imagesTs", "--out", f"{system}-masks", "--probabilities")
            for k in range(3):
                image = nibabel.load(self.folder / f"set/imagesTs/test_{k}_0000.nii.gz")
                mask = nibabel.load(self.folder / f"{system}-masks/test_{k}.nii.gz")
                self.assertEqual(nibabel.aff2axcodes(mask.affine), tuple(turns[k]))
                self.assertEqual(mask.shape, image.shape)
                self.equal(mask.affine, image.affine)
                self.assertLessEqual(set(np.unique(mask.dataobj)), {0, 1, 2, 4})
                chances = nibabel.load(self.folder / f"{system}-masks/test_{k}_probabilities.nii.gz")
                self.equal(chances.get_fdata().sum(-1), np.ones(image.shape), within=1e-4)
        config = (self.folder / "unet/config.toml").read_text()
        self.assertRegex(config, r"labels = \[ ?0, 1, 2, 4 ?\]")
        self.assertRegex(config, r"intensities = \[ ?\[ ?-?[0-9]")  # of CT, counted over the training cases


class Shapes(Trip):
    def test_made_meshes_open_in_trimesh(self):
        self.weyl("data", "make", "solids", "--out", "set", "format=off", "train=5", "test=5")
        found = sorted((self.folder / "set").rglob("*.off"))
        self.assertGreater(len(found), 0)
        for path in found:
            mesh = trimesh.load(path, process=False)
            counts = path.read_text().split("\n")[1].split()
            self.assertEqual([len(mesh.vertices), len(mesh.faces)], [int(counts[0]), int(counts[1])])
            self.assertGreater(mesh.volume, 0)  # faces turn outwards


class Tensors(Trip):
    def test_tensors_open_in_safetensors_and_numpy(self):
        self.weyl("data", "make", "nbody", "--out", "set", "train=4", "valid=2", "test=2")
        for part in ("train", "valid", "test"):
            path = self.folder / f"set/{part}.safetensors"
            found = load_file(path)
            with safe_open(path, "np") as file:
                self.assertEqual(file.metadata()["format"], "weyl.nbody")
            self.weyl("data", "convert", f"set/{part}.safetensors", f"{part}.npz")
            with np.load(self.folder / f"{part}.npz", allow_pickle=False) as arrays:
                self.assertEqual(sorted({*arrays.files} - {"__metadata__"}), sorted(found))
                for name, tensor in found.items():
                    self.assertEqual(arrays[name].dtype, tensor.dtype)
                    self.assertTrue((arrays[name] == tensor).all(), name)
            self.weyl("data", "convert", f"{part}.npz", f"{part}.safetensors")
            again = load_file(self.folder / f"{part}.safetensors")
            self.assertTrue(all((again[name] == tensor).all() for name, tensor in found.items()))

    def test_predictions_of_tensors_open_in_safetensors(self):
        stream = np.random.default_rng(5)
        save_file({"elements": np.tile(np.eye(4), (4, 1, 1)), "offsets": np.array([0, 4])}, self.folder / "in.safetensors",
                  metadata={"group": "se3"})
        save_file({"positions": stream.normal(0, 1, (3, 3)), "offsets": np.array([0, 3])}, self.folder / "points.safetensors")
        found = json.loads(self.weyl("data", "inspect", "in.safetensors", "--json"))
        self.assertEqual([found["carrier"], found["samples"]], ["poses", 1])
        self.weyl("data", "split", "points.safetensors", "--out", "parts", "--train", "1", "--valid", "0")
        self.assertEqual(load_file(self.folder / "parts/train.safetensors")["positions"].shape, (3, 3))


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--weyl", required=True, help="the program")
    given, rest = arguments.parse_known_args()
    WEYL = str(Path(given.weyl).resolve())
    unittest.main(argv=[sys.argv[0], *rest])
