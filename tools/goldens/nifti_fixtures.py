#!/usr/bin/env python3
"""Writes tests/fixtures/volumes/*.nii* as nibabel does, for tests/data/volumes/nifti_test.cpp.

`python tools/goldens/nifti_fixtures.py` needs nibabel and numpy. It prints what nibabel says of each file: affine, axes, some values.
"""
from pathlib import Path

import nibabel as nib
import numpy as np

out = Path(__file__).resolve().parents[2] / "tests" / "fixtures" / "volumes"
out.mkdir(parents=True, exist_ok=True)
ramp = np.arange(4 * 3 * 2).reshape(4, 3, 2)
affine = np.array([[0, -2.5, 0.1, 30], [0.2, 0, 3, -40], [-1.5, 0, 0.3, 12.5], [0, 0, 0, 1]])


def write(name, image):
    image.header["descrip"] = b"fixture"
    nib.save(image, out / name)
    read = nib.load(out / name)
    canonical = nib.as_closest_canonical(read)
    print(name, read.header["dim"].tolist(), "".join(nib.aff2axcodes(read.affine)))
    print("  affine", [float(x) for x in read.affine[:3].ravel()])
    print("  canonical shape", canonical.shape, "zooms", [float(z) for z in canonical.header.get_zooms()[:3]])
    print("  canonical values", [float(x) for x in np.asarray(canonical.dataobj).ravel()[:6]])


scaled = nib.Nifti1Image(ramp.astype("i2"), affine)
scaled.header.set_slope_inter(0.5, -3)
write("scaled.nii", scaled)
both = np.stack([ramp, 100 + ramp], 3).astype("f4")
write("two.nii.gz", nib.Nifti2Image(both, affine))
only_q = nib.Nifti1Image(ramp.astype("u1"), None)
only_q.header.set_qform(np.diag([-2.0, 2.0, 3.0, 1.0]) @ np.array([[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]), code=1)
only_q.header.set_sform(None, code=0)
only_q.header.set_qform(only_q.header.get_qform(), code=1)
write("qform.nii", nib.Nifti1Image(ramp.astype("u1"), None, only_q.header))
big = nib.Nifti1Image(ramp.astype(">f4"), affine, nib.Nifti1Header(endianness=">"))
write("big_endian.nii", big)
