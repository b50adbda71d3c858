#include "weyl/ops/frames/group_tables.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <algorithm>

#include "weyl/core/check.h"
#include "weyl/ops/frames/fourier_tables.h"

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

template <class Make>
Tensor GroupTables::cached(const std::string& what, int64_t index, at::Device device, Make make) const {
  const std::lock_guard lock(mutex_);
  Tensor& table = cache_[{what + device.str(), index}];
  if (!table.defined()) {
    const at::NoGradGuard no_grad;
    table = make().to(device);
  }
  return table;
}

Tensor GroupTables::elements(at::Device device, at::ScalarType dtype) const {
  return cached("elements ", static_cast<int64_t>(dtype), device, [&] {
    const int64_t G = group_->order(), D = group_->dimension();
    const auto table = at::empty({G, D, D}, at::TensorOptions(at::kDouble));
    std::copy_n(group_->element(0).data(), G * D * D, table.mutable_data_ptr<double>());
    return table.to(dtype);
  });
}

Tensor GroupTables::determinants(at::Device device, at::ScalarType dtype) const {
  return cached("determinants ", static_cast<int64_t>(dtype), device, [&] {
    const auto table = at::empty({group_->order()}, at::TensorOptions(at::kDouble));
    for (int64_t g = 0; g < group_->order(); ++g) {
      table.mutable_data_ptr<double>()[g] = group_->determinant(g);
    }
    return table.to(dtype);
  });
}

Tensor GroupTables::left_quotients(at::Device device) const {
  return cached("left_quotients ", 0, device, [&] {
    const int64_t G = group_->order();
    const auto table = at::empty({G, G}, at::TensorOptions(at::kLong));
    auto* out = table.mutable_data_ptr<int64_t>();
    for (int64_t h = 0; h < G; ++h) {
      for (int64_t g = 0; g < G; ++g) {
        *out++ = group_->left_quotient(g, h);
      }
    }
    return table;
  });
}

Tensor GroupTables::translation(int64_t g, at::Device device) const {
  require(g >= 0 && g < group_->order(), "GroupTables::translation: g must be below ", group_->order(),
          ", got ", g);
  return cached("translation ", g, device, [&] {
    const auto table = at::empty({group_->order()}, at::TensorOptions(at::kLong));
    for (int64_t j = 0; j < group_->order(); ++j) {
      table.mutable_data_ptr<int64_t>()[j] = group_->left_quotient(g, j);
    }
    return table;
  });
}

std::shared_ptr<const FourierTables> GroupTables::fourier() const {
  const std::lock_guard lock(mutex_);
  if (fourier_ == nullptr) {
    fourier_ = std::make_shared<const FourierTables>(*group_);
  }
  return fourier_;
}

}  // namespace weyl
