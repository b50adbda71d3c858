#include "weyl/ops/multivectors/layout.h"

#include "weyl/algebra/clifford/blades.h"
#include "weyl/core/check.h"

namespace weyl {
namespace {

at::IntArrayRef sizes_of(const Tensor& x) {
  return x.defined() ? x.sizes() : at::IntArrayRef{};
}

}  // namespace

void require_multivectors(const char* where, const char* name, const Tensor& x) {
  require(x.defined() && x.dim() == 3 && x.size(0) == clifford::components && x.is_floating_point(), where,
          ": ", name, " must be (16, N, C), got ", sizes_of(x));
}

Tensor components_first(const Tensor& x) {
  require(x.defined() && x.dim() == 3 && x.size(2) == clifford::components,
          "components_first: x must be (N, C, 16), got ", sizes_of(x));
  return x.permute({2, 0, 1}).contiguous();
}

Tensor components_last(const Tensor& x) {
  require_multivectors("components_last", "x", x);
  return x.permute({1, 2, 0}).contiguous();
}

}  // namespace weyl
