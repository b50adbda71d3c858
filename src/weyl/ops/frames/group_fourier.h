#pragma once

#include <vector>

#include "weyl/ops/frames/group_tables.h"

namespace weyl {

// Functions on a group by irreps (Platonic Transformers, appendix N). x (N, P G C) holds P functions side by side, frames
// first: element (n, p, g, c). What it is made of is one matrix for each irrep r of dimension d that occurs m times
// (GroupSpectrum::irreps), a plane (m N, d P C) of elements (i, n, l, p, c), which a linear map of all d P C of a row takes
// by one matrix product.

/// Q^T: the planes of x. Orthogonal, so that the inverse is its derivative too. ShapeError unless P G divides the width.
std::vector<Tensor> group_fourier(const Tensor& x, const GroupTables& tables, int64_t parts = 1);

/// Q: x (N, P G C) of its planes. ShapeError unless there is one for each irrep, and their sizes fit.
Tensor inverse_group_fourier(const std::vector<Tensor>& planes, const GroupTables& tables, int64_t parts = 1);

/// W_r (d O, d I) of a kernel (G, O, I), one for each irrep (algebra/finite/group_spectrum.h): with them
///   inverse_group_fourier(x_r W_r^T) = x expand_group_kernel(kernel)^T,   x_r = group_fourier(x).
/// ShapeError unless the kernel is of the group.
std::vector<Tensor> spectral_blocks(const Tensor& kernel, const GroupTables& tables);

/// x_r W_r^T, one for each irrep r: x expand_group_kernel(kernel)^T but for the transforms. If the blocks are of P kernels stacked
/// along O, the result is planes of their P functions. Undefined planes are nought, with undefined blocks, and take no product.
/// Under autocast of its type. ShapeError unless there is a block for each plane.
std::vector<Tensor> spectral_products(std::vector<Tensor> planes, const std::vector<Tensor>& blocks);

/// The function whose planes they are, of their type, the transform in at least float32; undefined ones are nought. ShapeError
/// where all are, or as above.
Tensor rows_of_products(std::vector<Tensor> planes, const GroupTables& tables, int64_t parts = 1);

}  // namespace weyl
