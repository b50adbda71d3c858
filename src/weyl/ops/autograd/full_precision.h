#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/DispatchKeySet.h>
#include <c10/core/ScalarType.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

#include <vector>

namespace weyl {

/// While one lives, autocast is off: rotary angles, frames and other geometry never fall below float32.
class FullPrecision {
 private:
  c10::impl::ExcludeDispatchKeyGuard guard_{c10::autocast_dispatch_keyset};
};

/// float64 for float64, float32 for all else.
inline c10::ScalarType at_least_float32(c10::ScalarType type) {
  return type == c10::ScalarType::Double ? type : c10::ScalarType::Float;
}

/// What autocast's matrix products left below float32, as float32; else as it is.
inline at::Tensor widened(const at::Tensor& x) {
  return x.defined() && x.is_floating_point() ? x.to(at_least_float32(x.scalar_type())) : x;
}
inline std::vector<at::Tensor> all_widened(std::vector<at::Tensor> xs) {
  for (at::Tensor& x : xs) {
    x = widened(x);
  }
  return xs;
}

}  // namespace weyl
