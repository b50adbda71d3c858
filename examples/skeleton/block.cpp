#include "block.h"

#include <ATen/TensorOperators.h>
#include <weyl/core/check.h>
#include <weyl/nn/norms.h>
#include <weyl/ops/attention/attention.h>

#include <cmath>

namespace skeleton {

DistanceBlock::DistanceBlock(const SkeletonOptions& o) : heads_(o.heads), head_width_(o.width / o.heads) {
  weyl::require<weyl::ConfigError>(o.width % o.heads == 0, "skeleton.heads: must divide the width ", o.width,
                                   ", got ", o.heads);
  qkv_ = child("qkv", std::make_shared<weyl::Linear>(o.width, 3 * o.width));
  bias_ = child("bias", std::make_shared<weyl::Linear>(o.shells, o.heads));
  out_ = child("out", std::make_shared<weyl::Linear>(o.width, o.width));
  mlp_ = child("mlp", std::make_shared<weyl::Mlp>(o.width, 2 * o.width, o.width));
}

Tensor DistanceBlock::operator()(const Tensor& x, const Tensor& shells, const weyl::Segments& graphs) const {
  const Tensor all = (*qkv_)(weyl::normalise_layer(x)).view({x.size(0), 3, heads_, head_width_});
  const Tensor mixed =
      weyl::ragged_attention(all.select(1, 0), all.select(1, 1), all.select(1, 2), graphs,
                             1 / std::sqrt(static_cast<double>(head_width_)), (*bias_)(shells));
  const Tensor y = x + (*out_)(mixed.reshape(x.sizes()));
  return y + (*mlp_)(weyl::normalise_layer(y));
}

double DistanceBlock::flops(const SkeletonOptions& o, double typical_nodes) {
  const double width = static_cast<double>(o.width), pair = static_cast<double>(o.shells * o.heads);
  return 2 * width * width * (3 + 1 + 4) + typical_nodes * (4 * width + 2 * pair);
}

}  // namespace skeleton
