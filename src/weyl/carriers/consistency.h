#pragma once

#include <string_view>

#include "weyl/carriers/batch.h"

namespace weyl {

/// What the checks below say of tensors that the interface does not declare.
enum class Undeclared { refused, ignored };

/// Checks every tensor of an input against an interface: its carrier, which tensors are there, their shapes, dtypes
/// (floating point; types int64, on the CPU in range), objects nested in graphs. This is the one place that knows
/// them. ShapeError, beginning with `where`, names the tensor, what must hold and what was found.
void require_input(const Input& input, const Interface& interface, Undeclared undeclared,
                   std::string_view where = "");

/// The same of a batch of a data set, nothing undeclared in it, and of its labels (float64, or int64 for
/// categories).
void require_consistent(const Batch& batch, const Schema& schema);

}  // namespace weyl
