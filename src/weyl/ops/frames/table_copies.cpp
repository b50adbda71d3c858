#include "weyl/ops/frames/table_copies.h"

#include <ATen/core/grad_mode.h>

namespace weyl {

Tensor TableCopies::on(at::Device device, at::ScalarType dtype) const {
  const std::lock_guard lock(mutex_);
  Tensor& copy = copies_[{{device.type(), device.index()}, dtype}];
  if (!copy.defined()) {
    const at::NoGradGuard constant;
    copy = table_.to(device, dtype);
  }
  return copy;
}

}  // namespace weyl
