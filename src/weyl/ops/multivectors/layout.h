#pragma once

#include <ATen/core/Tensor.h>

namespace weyl {

using at::Tensor;

/// Multivectors of G(3,0,1) are kept component-major, (16, N, C) contiguous, from a net's input to its output: a
/// component of all channels of all tokens lies in one piece, so that the maps of a grade are one matrix product and
/// products of multivectors run over whole vectors. The order of components is that of algebra/clifford/blades.h.

/// (N, C, 16), as files and callers have them -> (16, N, C).
Tensor components_first(const Tensor& x);
/// (16, N, C) -> (N, C, 16).
Tensor components_last(const Tensor& x);

/// ShapeError, with `where` and `name`, unless x is (16, N, C).
void require_multivectors(const char* where, const char* name, const Tensor& x);

}  // namespace weyl
