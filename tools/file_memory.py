#!/usr/bin/env python3
"""Peak memory of a training on a combined SDF of Molecule3D of 100 MB and of 1 GB, which must be nearly the same: molecules are
read when a batch needs them, and of each no more than its place in the file is kept.

    tools/file_memory.py [MEGABYTES ...]     default: 100 1000

The molecules are those of tests/fixtures/molecules/molecule3d, over and over. Environment: WEYL, the program; TMPDIR, where the files
are written and removed.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
FIXTURES = ROOT / "tests" / "fixtures" / "molecules" / "molecule3d"
COLUMNS = "index,dipole x,dipole y,dipole z,homo,lumo,homolumogap,scf energy"


def make(folder, megabytes):
    """Writes the data set and says how many molecules it has."""
    text = b"".join(path.read_bytes() for path in sorted(FIXTURES.glob("*.sdf")))
    repeats = megabytes * 1_000_000 // len(text) + 1
    count = repeats * text.count(b"$$$$\n")
    with open(folder / f"combined_mols_0_to_{count}.sdf", "wb") as sdf:
        for _ in range(repeats):
            sdf.write(text)
    with open(folder / "properties.csv", "w") as table:
        table.write(COLUMNS + "\n")
        for row in range(count):
            table.write(f"{row},0,0,0,-7,1,{7 + row % 97 / 97},-40\n")
    rows = list(range(count))
    split = {"train": rows[: -count // 5], "valid": rows[-count // 5 : -count // 5 + 50], "test": rows[-50:]}
    (folder / "scaffold_split_inds.json").write_text(json.dumps(split))
    return count


def peak(folder):
    """Peak resident memory of ten steps, in MB."""
    weyl = os.environ.get("WEYL", "build/release/bin/weyl")
    command = [weyl, "train", "configs/molecule3d/geomformer.toml", f"data.molecule3d.path={folder}", "train.epochs=false",
               "train.steps=10", "--out", str(folder / "run"), "--threads", "1", "--quiet"]
    child = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    if status:
        sys.exit(f"tools/file_memory.py: the training ended with {os.waitstatus_to_exitcode(status)}")
    return usage.ru_maxrss / 1024


for megabytes in [int(word) for word in sys.argv[1:]] or [100, 1000]:
    with tempfile.TemporaryDirectory() as name:
        molecules = make(pathlib.Path(name), megabytes)
        print(f"{megabytes:>6} MB, {molecules:>9,} molecules: {peak(pathlib.Path(name)):.0f} MB at most", flush=True)
