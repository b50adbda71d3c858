#pragma once

#include <span>
#include <string>
#include <vector>

#include "weyl/core/segments.h"
#include "weyl/data/volumes/nifti.h"
#include "weyl/data/volumes/volume_index.h"

namespace weyl {

/// Volumes as tensors in canonical order: axes nearest to right, anterior, superior (RAS+), whatever order
/// and direction the file has them in. `file_order` (..., i, j, k) are the axes of the file; other axes stay
/// in front.
Tensor to_canonical(const Tensor& file_order, const NiftiOrientation& orientation);   // (..., X, Y, Z)
Tensor from_canonical(const Tensor& canonical, const NiftiOrientation& orientation);  // (..., i, j, k)

/// Millimetres between cells along canonical axes.
std::array<double, 3> canonical_spacing(const NiftiHeader& header);

/// How far apart two volumes of one size are: the largest distance of a corner, in voxels of the first. Each may have a
/// unit of its own.
double voxels_apart(const NiftiHeader& a, const NiftiHeader& b);

/// `what` is in the file `of` and must be on the grid of `first`, which errors call `whose`, "its image a.nii". DataError: other
/// sizes, or more than one volume; with `places` also where a corner is more than a tenth of a voxel away, and then `advice`: each
/// may then have axes of its own, else both are compared as they are stored.
void require_same_grid(const NiftiHeader& first, const std::string& whose, const NiftiHeader& other,
                       const std::string& of, const char* what, bool places = true, const char* advice = "");

/// Values of an image (C, X, Y, Z) float32 in canonical order, C the product of the axes after z (1: none),
/// the last of them fastest.
Tensor image_tensor(const Nifti& image);
Tensor image_tensor(const Nifti& image, const NiftiOrientation& orientation);  // of another file on its grid
/// Classes (X, Y, Z) uint8, by the places of their `numbers`, in the canonical order of an image. DataError naming `where`: see classes_of; axes
/// after z.
Tensor mask_tensor(const Nifti& mask, std::span<const int64_t> numbers, const NiftiOrientation& orientation,
                   const std::string& where);

/// The numbers that the masks of cases have, and 0. DataError: one that is no whole number 0 .. 65535, more than 256.
std::vector<int64_t> numbers_in_masks(const std::vector<VolumeCase>& cases);

}  // namespace weyl
