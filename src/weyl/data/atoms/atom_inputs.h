#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "weyl/carriers/atoms_frame.h"

namespace weyl {

/// The name and the channels of an atom's inputs in the public code of the Platonic Transformer.
constexpr const char* atom_inputs_name = "atom";
constexpr int64_t atom_inputs_channels = 97;

/// Appends them, 97 for each atom of a frame with bonds:
///
///   0 .. 91   1 where CGCNN's table of elements has a 1 (group, period, electronegativity, ...)
///   92 .. 95  0: aromatic, sp, sp2, sp3, which PyTorch Geometric asks of molecules that RDKit has not sanitised, and
///             that knows none then
///   96        how many bonds to hydrogen it has
///
/// DataError naming `where`: another element than H, C, N, O and F.
void append_atom_inputs(std::vector<double>& to, const AtomsFrame& frame, std::string_view where);

}  // namespace weyl
