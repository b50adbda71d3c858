#include "weyl/ops/frame_norm.h"

#include <ATen/ops/layer_norm.h>

#include "weyl/core/check.h"
#include "weyl/ops/frames.h"

namespace weyl {
namespace {

void require_branch(const char* where, const Tensor& x, const Tensor& branch, const Tensor& branch_bias) {
  require(x.sizes() == branch.sizes() && x.scalar_type() == branch.scalar_type(), where,
          ": x and branch must agree, got ", x.sizes(), " ", x.scalar_type(), " and ", branch.sizes(), " ",
          branch.scalar_type());
  require_frames(where, branch, branch_bias);
}

}  // namespace

Tensor frame_layer_norm(const Tensor& x, const Tensor& weight, const Tensor& bias, double epsilon) {
  require_frames("frame_layer_norm", x, weight);
  require_frames("frame_layer_norm", x, bias);
  const int64_t channels = weight.size(0);
  return at::layer_norm(x.reshape({x.size(0), x.size(1) / channels, channels}), {channels}, weight, bias,
                        epsilon)
      .view(x.sizes());
}

Tensor add_branch(const Tensor& x, const Tensor& branch, const Tensor& branch_bias) {
  require_branch("add_branch", x, branch, branch_bias);
  return x + add_to_frames(branch, branch_bias);
}

NormedSum add_branch_and_norm(const Tensor& x, const Tensor& branch, const Tensor& branch_bias,
                              const Tensor& weight, const Tensor& bias, double epsilon) {
  const Tensor sum = add_branch(x, branch, branch_bias);
  return {sum, frame_layer_norm(sum, weight, bias, epsilon)};
}

}  // namespace weyl
