#include "weyl/models/platonic/group_linear.h"

#include <ATen/ops/linear.h>

#include <cmath>

#include "weyl/algebra/finite/group_spectrum.h"
#include "weyl/core/check.h"
#include "weyl/ops/autograd/differentiable.h"
#include "weyl/ops/autograd/full_precision.h"
#include "weyl/ops/frames/fourier_tables.h"
#include "weyl/ops/frames/frames.h"
#include "weyl/ops/frames/group_fourier.h"
#include "weyl/ops/frames/group_linear.h"

namespace weyl::platonic {

GroupLinear::GroupLinear(GroupTablesPtr tables, int64_t in, int64_t out, LinearForm form, bool bias)
    : tables_(std::move(tables)), in_(in), out_(out), form_(form) {
  const int64_t order = tables_->group().order();
  require<ConfigError>(in % order == 0 && out % order == 0,
                       "platonic: widths must be multiples of the order ", order, " of ",
                       tables_->group().name(), ", got ", in, " and ", out);
  const double scale = in > 0 ? 1 / std::sqrt(static_cast<double>(in)) : 0;
  kernel_ = parameter("kernel", {order, out / order, in / order}, Init::normal(scale), /*decay=*/true);
  if (bias) {
    bias_ = parameter("bias", {out / order}, Init::uniform(scale));
  }
}

bool GroupLinear::by_irreps() const {
  return form_ == LinearForm::spectral && !UseReferences::active();
}

std::vector<Tensor> GroupLinear::matrices() const {
  return matrices_.get(training(), kernel_, [&] {
    return by_irreps() ? spectral_blocks(kernel_, *tables_)
                       : std::vector<Tensor>{expand_group_kernel(kernel_, *tables_)};
  });
}

std::vector<Tensor> GroupLinear::function_of(const Tensor& x) const {
  if (!by_irreps()) {
    return {x};
  }
  const FullPrecision no_autocast;
  return group_fourier(widened(x), *tables_);
}

std::vector<Tensor> GroupLinear::products(const std::vector<Tensor>& x) const {
  return by_irreps() ? spectral_products(x, matrices())
                     : std::vector<Tensor>{at::linear(x.front(), matrices().front())};
}

Tensor GroupLinear::without_bias(const Tensor& x) const {
  const std::vector<Tensor> y = products(function_of(x));
  return by_irreps() ? rows_of_products(y, *tables_) : y.front();
}

Tensor GroupLinear::operator()(const Tensor& x) const {
  if (by_irreps()) {
    const Tensor y = without_bias(x);
    return bias_.defined() ? add_to_frames(y, bias_.to(y.scalar_type())) : y;
  }
  return at::linear(x, matrices().front(),
                    bias_.defined() ? bias_.repeat({tables_->group().order()}) : Tensor());
}

Work GroupLinear::work(LinearForm form, double factors, bool transforms_input) const {
  if (form != LinearForm::spectral) {
    return Work::product(static_cast<double>(in_ * out_), factors);
  }
  const auto fourier = tables_->fourier();
  const int64_t order = tables_->group().order(), out = out_ / order, in = in_ / order;
  const auto of_channels = [&](int64_t channels) {
    return static_cast<double>(fourier->multiply_adds() * channels);
  };
  // What the transforms multiply by is constant.
  return Work::product(static_cast<double>(spectral_multiply_adds(fourier->spectrum(), out, in)), factors) +
         Work::product(transforms_input ? of_channels(in) : 0, factors - 1) +
         Work::product(of_channels(out), 1);
}

GroupMlp::GroupMlp(const GroupTablesPtr& tables, int64_t in, int64_t hidden, int64_t out, LinearForm form)
    : first_(child("0", std::make_shared<GroupLinear>(tables, in, hidden, form))),
      second_(child("2", std::make_shared<GroupLinear>(tables, hidden, out, form))) {}

Tensor GroupMlp::operator()(const Tensor& x) const {
  return (*second_)(activate((*first_)(x), Activation::gelu));
}

}  // namespace weyl::platonic
