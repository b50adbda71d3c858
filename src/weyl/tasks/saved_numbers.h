#pragma once

#include <initializer_list>

#include "weyl/core/tensor_file.h"

namespace weyl {

/// A statistic that a task's state() gave, on the CPU in float64; -1 in `shape`: any size but none. DataError
/// naming the task unless it is there, of that shape, floating and finite.
Tensor saved_numbers(const NamedTensors& state, const char* task, const char* name,
                     std::initializer_list<int64_t> shape);

}  // namespace weyl
