#pragma once

#include <cstdint>

namespace weyl {

/// The value of a cell of a mask whose class nobody knows. It counts in neither loss nor metrics, and no prediction has it.
constexpr int64_t unlabelled = -1;

}  // namespace weyl
