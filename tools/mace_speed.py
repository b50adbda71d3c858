#!/usr/bin/env python3
"""Times energies and forces of MACE (random weights) beside ET and PaiNN of the same cut-off, through their ASE calculators.

    pip install torch==2.13.0 mace-torch
    TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD=1 PYTHONPATH=python tools/mace_speed.py [--threads 1] [--repeats 9]

Frames of water: 7 molecules, open, and 64 in a periodic box. MACE has 64 scalars and 64 vectors, two layers, and harmonics to
degree 3, ours are 64 wide, three blocks; all see 5 Angstrom far and compute in float32. After one call that is not counted the
three take turns; every call moves the atoms a little. Printed are medians, and how many times as long MACE takes, repeat by repeat.
The models differ in kind: this says what a step costs, not what it is worth.
"""
import argparse
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
import torch
import weyl
import weyl.ase
from ase import Atoms
from ase.build import molecule
from e3nn import o3
from mace.calculators import MACECalculator
from mace.modules import ScaleShiftMACE, interaction_classes
from mace.tools import AtomicNumberTable

ROOT = Path(__file__).resolve().parent.parent


def box(along):
    """along^3 molecules of water at the liquid's density."""
    stream = np.random.default_rng(0)
    atoms = Atoms(cell=[3.1 * along] * 3, pbc=True)
    for place in np.ndindex(along, along, along):
        one = molecule("H2O")
        one.rotate(stream.uniform(0, 360), stream.normal(size=3))
        one.translate(3.1 * np.array(place))
        atoms += one
    return atoms


def mace(folder):
    torch.manual_seed(0)
    interaction = interaction_classes["RealAgnosticResidualInteractionBlock"]
    net = ScaleShiftMACE(
        r_max=5.0, num_bessel=8, num_polynomial_cutoff=5, max_ell=3, interaction_cls=interaction, interaction_cls_first=interaction,
        num_interactions=2, num_elements=2, hidden_irreps=o3.Irreps("64x0e+64x1o"), MLP_irreps=o3.Irreps("16x0e"),
        atomic_energies=np.zeros(2), avg_num_neighbors=50, atomic_numbers=AtomicNumberTable([1, 8]).zs, correlation=3,
        gate=torch.nn.functional.silu, atomic_inter_scale=1.0, atomic_inter_shift=0.0)
    path = folder / "mace.model"
    torch.save(net, path)
    return MACECalculator(model_paths=str(path), device="cpu", default_dtype="float32"), sum(p.numel() for p in net.parameters())


def ours(folder, preset, threads):
    """A training of one step: weights do not change what a step costs."""
    run = folder / preset
    subprocess.run([ROOT / "build/release/bin/weyl", "train", "potential.toml", f"model.geomformer.preset={preset}",
                    "model.geomformer.width=64", "model.geomformer.blocks=3", "model.geomformer.kernels=32",
                    "model.geomformer.cutoff.radius=5.0", "train.steps=1", f"--out={run}", "--quiet", "--no-pictures"],
                   cwd=ROOT / "examples/potential", check=True, stdout=subprocess.PIPE)
    return weyl.ase.Calculator(str(run), threads=threads)


def milliseconds(atoms, calculator):
    atoms.calc = calculator
    begin = time.perf_counter()
    atoms.get_forces()
    return 1e3 * (time.perf_counter() - begin)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=9)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        peer, parameters = mace(folder)
        calculators = {"mace": peer, **{preset: ours(folder, preset, given.threads) for preset in ("et", "painn")}}
        torch.set_num_threads(given.threads)
        print(f"MACE: {parameters:,} parameters; {given.threads} thread{'s' if given.threads > 1 else ''}, {given.repeats} repeats")
        cluster = box(2)[:21]
        cluster.pbc = False
        for atoms in cluster, box(4):
            stream = np.random.default_rng(1)
            times = {name: [] for name in calculators}
            for repeat in range(given.repeats + 1):
                atoms.positions += stream.normal(scale=1e-3, size=atoms.positions.shape)
                for name, calculator in calculators.items():
                    taken = milliseconds(atoms, calculator)
                    if repeat > 0:
                        times[name].append(taken)
            said = [f"{name} {statistics.median(taken):.2f} ms" for name, taken in times.items()]
            ratios = [f"MACE takes {statistics.median(np.divide(times['mace'], times[name])):.1f} times {name}'s" for name in ("et", "painn")]
            print(f"{len(atoms)} atoms{', periodic' if atoms.pbc.all() else ''}: {', '.join(said)}; {', '.join(ratios)}")


if __name__ == "__main__":
    main()
