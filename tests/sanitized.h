#pragma once

#include <cstdint>

namespace weyl {

/// `here` in a build with sanitizers, where all takes thirty times as long, else `elsewhere`: sizes and numbers of cases that a test
/// has because real data are as large, not because its law needs them.
constexpr int64_t under_sanitizers([[maybe_unused]] int64_t here, [[maybe_unused]] int64_t elsewhere) {
#ifdef WEYL_SANITIZED
  return here;
#else
  return elsewhere;
#endif
}

}  // namespace weyl
