#!/usr/bin/env python3
"""The pair style of LAMMPS: the same physics on any number of ranks, in any box and in both units as through ASE, pressures
that are derivatives of the energy, parts of atoms that add up, and one line for what is refused. See suite.py for how it is
run."""
import suite

suite.start()

import os
import re
import subprocess
import sys
import tomllib
import unittest
from pathlib import Path

import ase.io
import numpy as np
import weyl
import weyl.ase
from ase import Atoms, units
from ase.build import molecule
from dftd3.interface import DispersionModel, RationalDampingParam

PROGRAMS = Path(sys.prefix) / "bin"
GUIDE = suite.ROOT / "docs/guide/engines.md"
BAR = 1e5 * units.Pascal
SIDE = 3.6  # Angstrom, of a cube that holds a water, thinner than the liquid: fewer ghosts
AXES = [(0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)]  # LAMMPS's order of six pressures

INPUT = """
units {units}
atom_style atomic
boundary {boundary}
newton {newton}
neigh_modify every 10 delay 0 check no one 4000 page 100000
{before}
read_data box.data
{pair}
velocity all create 300 7 loop geom
timestep {step}
fix integrate all nve
compute virial all pressure NULL virial
variable columns string "step pe pxx pyy pzz pxy pxz pyz vol c_virial[*]"
{atoms}
thermo_style custom ${{columns}}
thermo_modify format float %.16g
thermo {every}
dump forces all custom 1000 forces.dump id fx fy fz
dump_modify forces sort id format float %.16g
{run}
"""

# With it the virial is the sum of the atoms', without it that of the stress or of positions and forces.
SUMS_OF_ATOMS = """
compute energies all pe/atom
compute virials all stress/atom NULL virial
compute sums all reduce sum c_energies c_virials[*]
variable columns string "${columns} c_sums[*]"
"""
WORDS = {"run": "run 0", "every": 10, "units": "metal", "boundary": "p p p", "newton": "on", "before": "",
         "atoms": SUMS_OF_ATOMS}


def waters(count, tilts=(0, 0, 0), seed=0):
    """count^3 waters that are turned at random, in a box; its second and third vector lean by xy, xz, yz."""
    stream = np.random.default_rng(seed)
    box = Atoms()
    for place in np.ndindex(count, count, count):
        water = molecule("H2O")
        water.rotate(stream.uniform(0, 360), stream.normal(size=3))
        water.translate(SIDE * (np.array(place) + 0.5) - water.get_center_of_mass())
        box += water
    xy, xz, yz = tilts
    box.set_cell(SIDE * count * np.eye(3))
    box.set_cell(SIDE * count * np.array([[1, 0, 0], [xy, 1, 0], [xz, yz, 1]]), scale_atoms=True)
    box.pbc = True
    return box


def pair(*models, more="dtype float64"):
    return f"pair_style weyl {' '.join(str(suite.MODELS / m) for m in models)} {more}\npair_coeff * * H O"


def write(path, box):
    order = [element for element in ("H", "O", "Ar") if element in box.symbols]
    ase.io.write(path, box, format="lammps-data", specorder=order, masses=True)


class Table:
    """What LAMMPS prints of its steps; columns by the names of INPUT."""

    def __init__(self, text):
        self.text = text
        rows, inside = [], False
        for line in text.splitlines():
            if line.lstrip().startswith("Step"):
                inside = True
            elif line.startswith("Loop time"):
                inside = False
            elif inside and not line.startswith("WARNING"):
                rows.append([float(x) for x in line.split()])
        numbers = np.array(rows)
        self.energy, self.pressures, self.volume = numbers[:, 1], numbers[:, 2:8], numbers[:, 8]
        self.virials, self.energies, self.sums = numbers[:, 9:15], numbers[:, 15:16], numbers[:, 16:22]


class Lammps(suite.Test):
    def lammps(self, ranks=1, *, box=None, environment={}, fails=False, **words):
        """Runs INPUT with these words; gives its table, or all that it prints where it must fail."""
        if box is not None:
            write(self.folder / "box.data", box)
        words = {**WORDS, **words}
        words["step"] = {"metal": 0.0002, "real": 0.2}.get(words["units"], 0.001)
        text = self.run_input(INPUT.format(**words), ranks, environment, fails)
        return text if fails else Table(text)

    def run_input(self, text, ranks=1, environment={}, fails=False):
        (self.folder / "in.lammps").write_text(text)
        variables = {**os.environ, "LAMMPS_PLUGIN_PATH": str(suite.BUILD / "lib" / "weyl")}
        variables.pop("WEYL_LIBRARY", None)  # the plugin knows where it is
        variables.update(environment)
        done = subprocess.run([PROGRAMS / "mpirun", "-np", str(ranks), PROGRAMS / "lmp", "-in", "in.lammps", "-log", "none"],
                              cwd=self.folder, capture_output=True, text=True, env=variables)
        if fails:
            self.assertNotEqual(done.returncode, 0, done.stdout)
            return done.stdout + done.stderr
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def forces(self):
        lines = (self.folder / "forces.dump").read_text().split("ITEM: ATOMS")[1].splitlines()[1:]
        return np.array([[float(x) for x in line.split()[1:]] for line in lines])

    def close(self, found, wanted, limit, what=""):
        self.below(np.abs(np.asarray(found) - np.asarray(wanted)).max(), limit, what)

    def as_ase(self, table, box, *models):
        """Step 0 is what the calculator says."""
        box = box.copy()
        box.calc = weyl.ase.Calculator([suite.MODELS / m for m in models], dtype="float64")
        self.close(table.energy[0], box.get_potential_energy(), 1e-9, "energy")
        self.close(self.forces(), box.get_forces(), 1e-9, "forces")
        if box.pbc.all():
            stress = box.get_stress(voigt=False)
            wanted = [-stress[axes] / BAR for axes in AXES]
            self.close(table.virials[0], wanted, 1e-6 * np.abs(wanted).max(), "stress")

    def adds_up(self, table):
        """Energies and virials of atoms to those of all."""
        largest = np.abs(table.virials).max()
        self.assertGreater(largest, 100)  # bar: a virial that is left out is seen
        self.close(table.energies[:, 0], table.energy, 1e-9, "energies of atoms")
        self.close(-table.sums / table.volume[:, None], table.virials, 1e-8 * largest, "virials of atoms")

    def same(self, found, wanted):
        self.close(found.energy, wanted.energy, 1e-9, "energy")
        for name in ("pressures", "virials"):
            self.close(getattr(found, name), getattr(wanted, name), 1e-8 * np.abs(wanted.virials).max(), name)


class Physics(Lammps):
    def test_ranks_agree(self):
        box = waters(2)
        tables = [self.lammps(ranks, box=box, pair=pair("painn"), run="run 50", atoms=atoms)
                  for ranks, atoms in ((1, SUMS_OF_ATOMS), (2, ""), (4, SUMS_OF_ATOMS))]
        self.as_ase(tables[0], box, "painn")
        for ranks, table in zip((1, 2, 4), tables):
            self.assertEqual(len(table.energy), 6)
            self.assertEqual(table.text.count("ghosts beside"), int(ranks > 1))
            self.same(table, tables[0])
            if ranks != 2:
                self.adds_up(table)
        # The numbers can differ: by the model's dtype, and step by step.
        single = self.lammps(pair=pair("painn", more=""))
        self.assertGreater(abs(single.energy[0] - tables[0].energy[0]), 1e-8)
        self.assertGreater(np.abs(np.diff(tables[0].energy)).min(), 1e-3)

    def test_boxes(self):
        """Triclinic and ET, which sees a neighbour farther; boundaries that are periodic in part or shrink; ranks without
        atoms."""
        leaning = waters(4, (0.3, -0.2, 0.4))
        above = waters(1)
        above.positions[:, 2] += 0.8
        self.assertGreater(above.positions[:, 2].min(), SIDE / 2)  # all atoms are the upper rank's
        for model, box, boundary, ranks, before in (("et", leaning, "p p p", 2, ""), ("painn", leaning, "p p p", 2, ""),
                                                    ("painn", waters(2), "p p f", 2, ""), ("et", waters(2), "s p s", 2, ""),
                                                    ("painn", above, "f f f", 2, "processors 1 1 2")):
            with self.subTest(model=model, boundary=boundary):
                whole = self.lammps(box=box, pair=pair(model), boundary=boundary, atoms="")
                box.pbc = [side == "p" for side in boundary.split()]
                self.as_ase(whole, box, model)
                parts = self.lammps(ranks, pair=pair(model), boundary=boundary, before=before)
                self.as_ase(parts, box, model)
                self.same(parts, whole)
                if len(box) > 3:
                    self.adds_up(parts)

    def test_pressure_is_the_derivative_by_strain(self):
        step, box = 1e-4, waters(2)
        runs = ["run 0"]
        for change in ("x scale {} remap", "xy delta {} remap"):
            scale = "scale" in change
            there = (1 + step, (1 - step) / (1 + step), 1 / (1 - step)) if scale else np.array([1, -2, 1]) * step * box.cell[1, 1]
            runs += [f"change_box all {change.format(repr(float(x)))}\nrun 0" for x in there]
        table = self.lammps(box=box, pair="change_box all triclinic\n" + pair("painn"), run="\n".join(runs), atoms="")
        self.close(table.energy[[3, 6]], table.energy[0], 1e-9, "the box is what it was")
        for place, component in ((1, 0), (4, 3)):
            slope = (table.energy[place] - table.energy[place + 1]) / (2 * step)
            pressure = -slope / box.get_volume() / BAR
            self.below(pressure / table.virials[0, component] - 1, 1e-5, f"pressure {component}")

    def test_units_real(self):
        box = waters(2)
        metal = self.lammps(box=box, pair=pair("painn"), run="run 10", every=1)
        real = self.lammps(pair=pair("painn"), run="run 10", every=1, units="real")
        calorie = units.kcal / units.mol
        self.close(real.energy * calorie, metal.energy, 1e-6 * abs(metal.energy[0]))
        self.close(np.diff(real.energy) * calorie, np.diff(metal.energy), 1e-4 * np.abs(np.diff(metal.energy)).max())
        largest = np.abs(metal.pressures).max()
        self.close(real.pressures * 1.01325, metal.pressures, 1e-5 * largest)
        self.adds_up(real)

    def test_a_committee_gives_means_and_deviations(self):
        box = waters(2)
        written = []
        for ranks in (1, 2):
            table = self.lammps(ranks, box=box, pair=pair("painn", "painn_2", more="dtype float64 devi devi.txt 2"), run="run 5")
            self.as_ase(table, box, "painn", "painn_2")
            self.adds_up(table)
            written.append(np.loadtxt(self.folder / "devi.txt"))
        self.assertEqual(written[0][:, 0].tolist(), [0, 2, 4])
        self.close(written[1], written[0], 1e-7)
        box.calc = weyl.ase.Calculator([suite.MODELS / m for m in ("painn", "painn_2")], dtype="float64")
        box.get_potential_energy()
        off = np.linalg.norm(box.calc.results["forces_std"], axis=1)
        self.close(written[0][0, 1:], [off.max(), off.min(), off.mean(), box.calc.results["energy_std"]], 1e-7)

    def test_deviations_are_those_of_steps(self):
        """Not of a line search's trials; and of each run, whose first step another may have been the last."""
        self.lammps(box=waters(1), pair=pair("painn", "painn_2", more="dtype float64 devi devi.txt 1"), atoms="",
                    run="minimize 0 0 3 100\nrun 0\ndisplace_atoms all random 0.1 0.1 0.1 7\nrun 0")
        written = np.loadtxt(self.folder / "devi.txt")
        self.assertEqual(written[:, 0].tolist(), [0, 1, 2, 3, 3, 3])
        self.close(written[4], written[3], 1e-7)
        self.assertGreater(np.abs(written[5] - written[4]).max(), 1e-3)


class Beside(Lammps):
    """Other pair styles in the same input."""

    def test_d3(self):
        d3 = "dispersion/d3 bj pbe 12 8"
        model = f"weyl {suite.MODELS / 'painn'} dtype float64"
        styles = {"weyl": (f"pair_style {model}", "pair_coeff * * H O"), "d3": (f"pair_style {d3}", "pair_coeff * * H O"),
                  "both": (f"pair_style hybrid/overlay {model} {d3}", "pair_coeff * * weyl H O",
                           "pair_coeff * * dispersion/d3 H O")}
        first, *others = ("\n".join(lines) for lines in styles.values())
        alone = self.lammps(box=waters(2), pair=first, run="run 0\n" + "\n".join(f"{lines}\nrun 0" for lines in others))
        box = waters(2)
        other = DispersionModel(box.numbers, box.positions / units.Bohr, box.cell.array / units.Bohr, box.pbc)
        other.set_realspace_cutoff(disp2=12 / units.Bohr, disp3=0, cn=8 / units.Bohr)
        energy = other.get_dispersion(RationalDampingParam(method="pbe", atm=False), grad=False)["energy"] * units.Hartree
        self.below(alone.energy[1] / energy - 1, 1e-5, "s-dftd3")
        two = self.lammps(2, pair="\n".join(styles["both"]))
        for found in (alone.energy[2], two.energy[0]):
            self.close(found, alone.energy[0] + alone.energy[1], 1e-8)
        for found in (alone.virials[2], two.virials[0], -two.sums[0] / two.volume[0]):
            self.close(found, alone.virials[0] + alone.virials[1], 1e-5 * np.abs(alone.virials[0]).max())

    def test_types_of_other_styles_are_none_of_weyl(self):
        box = waters(2)
        whole = box + Atoms("Ar2", [[0.1, 0.1, 0.1], [3.2, 3.1, 3.0]])
        style = (f"pair_style hybrid weyl {suite.MODELS / 'painn'} dtype float64 lj/cut 4\npair_coeff * * weyl H O NULL\n"
                 "pair_coeff *3 3 lj/cut 0 3")
        for ranks in (1, 2):
            table = self.lammps(ranks, box=whole, pair=style)
            box.calc = weyl.ase.Calculator(suite.MODELS / "painn", dtype="float64")
            self.close(table.energy[0], box.get_potential_energy(), 1e-9)
            self.close(self.forces(), np.vstack([box.get_forces(), np.zeros((2, 3))]), 1e-9)


class Guide(Lammps):
    def test_inputs_of_the_page_run(self):
        inputs = re.findall(r"^```lammps\n(.*?)^```", GUIDE.read_text(), re.DOTALL | re.MULTILINE)
        self.assertGreater(len(inputs), 0)
        write(self.folder / "water.data", waters(2))
        (self.folder / "runs").mkdir()
        for name, model in (("water-0", "painn"), ("water-1", "painn_2")):
            (self.folder / "runs" / name).symlink_to(suite.MODELS / model)
        for text in inputs:
            self.run_input(text)


class Limits(Lammps):
    def trained(self, name, **overrides):
        weyl.train(suite.ROOT / "examples/potential/potential.toml", out=self.folder / name, quiet=True,
                   data={"molecules": {"path": str(suite.ROOT / "examples/potential/water.xyz")}},
                   train={"epochs": False, "steps": 1}, **overrides)
        return f"pair_style weyl {name}\npair_coeff * * H O"

    def test_what_is_refused_is_one_line(self):
        far = self.trained("far", model={"system": "transformer"})
        box = waters(1)
        self.assertEqual(len(self.lammps(box=box, pair=far, boundary="s s s", atoms="").energy), 1)
        for line, options in (
                ("newton must be on for pairs, got off", {"newton": "off"}),
                ("units must be metal or real, got lj", {"units": "lj"}),
                ("the model knows the elements H O, got C", {"pair": pair("painn").replace("H O", "H C")}),
                ("nowhere: must be a model file or a run folder, got nothing", {"pair": "pair_style weyl nowhere"}),
                ("dtype must be \"float32\" or \"float64\", got \"half\"", {"pair": pair("painn", more="dtype half")}),
                ("devi needs several models, got one", {"pair": pair("painn", more="devi f 1")}),
                ("there must be one MPI rank, got 2", {"pair": far, "ranks": 2, "boundary": "f f f"}),
                ("are counted in the order of rank 0, not by id", {"pair": pair("painn") + "\nset atom 1*2 x 0 y 0 z 0"}),
                ("need one whose atoms see no farther than a cut-off", {"pair": far, "boundary": "f f f"}),
                ("cannot open /nowhere.so", {"environment": {"WEYL_LIBRARY": "/nowhere.so"}})):
            with self.subTest(line):
                text = self.lammps(**{"box": box, "pair": pair("painn"), **options}, fails=True)
                errors = [each for each in text.splitlines() if each.startswith("ERROR")]
                self.assertEqual(len(errors), 1, text)
                self.assertIn(f"Pair style weyl: ", errors[0])
                self.assertIn(line, errors[0])

    def test_elements_in_another_order_than_masses_are_a_warning(self):
        right = pair("painn")
        for style, warnings in ((right, 0), (right.replace("H O", "O H"), 1)):
            text = self.lammps(box=waters(1), pair=style).text
            self.assertEqual(text.count("must name elements in the order of the types"), warnings)

    def test_the_plugin_knows_where_it_is(self):
        (self.folder / "plugins").symlink_to(suite.BUILD / "lib" / "weyl")
        (self.folder / "below").mkdir()
        self.lammps(box=waters(1), before="plugin load plugins/weylplugin.so", pair="shell cd below\n" + pair("painn"),
                    environment={"LAMMPS_PLUGIN_PATH": ""})

    def test_forces_that_are_no_derivatives_have_no_pressure(self):
        model = {"geomformer": {"preset": "et", "heads": 4}}
        direct = self.trained("direct", model=model, task={"force_field": {"forces": "direct"}})
        forces = []
        for ranks in (1, 2):
            table = self.lammps(ranks, box=waters(2), pair=direct, run="run 1")
            self.assertEqual(table.text.count("forces are no derivatives"), 1)
            self.assertTrue(np.isfinite(table.energy).all())
            self.assertTrue(np.isnan(table.pressures).all() and np.isnan(table.sums).all())
            forces.append(self.forces())
        self.assertGreater(np.abs(forces[0]).max(), 1e-3)
        self.close(forces[1], forces[0], 1e-4 * np.abs(forces[0]).max())

    def test_lmp_knows_the_style_by_the_package(self):
        entries = tomllib.loads((suite.ROOT / "python/pyproject.toml").read_text())["project"]["entry-points"]
        installed = self.folder / "weyl-0.dist-info"
        installed.mkdir()
        (installed / "entry_points.txt").write_text(
            "[lammps.plugins]\n" + "".join(f"{name} = {place}\n" for name, place in entries["lammps.plugins"].items()))
        paths = {"PYTHONPATH": f"{self.folder}:{suite.ROOT / 'python'}", "LAMMPS_PLUGIN_PATH": ""}
        library = {"WEYL_LIBRARY": str(suite.BUILD / "lib" / "libweyl_potential.so")}
        self.lammps(box=waters(1), pair=pair("painn"), environment={**paths, **library})
        text = self.lammps(pair=pair("painn"), environment={**paths, "WEYL_LIBRARY": "/nowhere.so"}, fails=True)
        self.assertIn("Unrecognized pair style 'weyl'", text)


if __name__ == "__main__":
    unittest.main()
