#pragma once

#include "weyl/core/segments.h"

namespace weyl {

/// The label (N, C, 3) that holds the places of a molecule in each of its C conformers. A molecule that has fewer has them in
/// turn again.
constexpr const char* conformers_label = "conformers";

/// How many conformers each graph has before its first one comes again, (B) int64 from 1 to C, on the label's device.
/// `conformers` is (N, C, D), C at least 1.
Tensor count_conformers(const Tensor& conformers, const Segments& graphs);

}  // namespace weyl
