#include "weyl/ops/frames/frames.h"

#include <ATen/TensorOperators.h>

#include "weyl/core/check.h"

namespace weyl {

void require_frames(const char* where, const Tensor& x, const Tensor& per_channel) {
  require(x.dim() == 2, where, ": x must be (N, G C), got ", x.sizes());
  if (per_channel.defined()) {
    require(per_channel.dim() == 1 && per_channel.size(0) > 0 && x.size(1) % per_channel.size(0) == 0, where,
            ": what the frames share must be (C) with C dividing ", x.size(1), ", got ", per_channel.sizes());
    require(per_channel.scalar_type() == x.scalar_type(), where, ": dtypes must agree, got ", x.scalar_type(),
            " and ", per_channel.scalar_type());
  }
}

Tensor add_to_frames(const Tensor& x, const Tensor& b) {
  return b.defined() ? (x.view({x.size(0), x.size(1) / b.size(0), b.size(0)}) + b).view(x.sizes()) : x;
}

}  // namespace weyl
