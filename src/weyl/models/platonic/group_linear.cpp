#include "weyl/models/platonic/group_linear.h"

#include <ATen/ops/linear.h>

#include <cmath>

#include "weyl/core/check.h"
#include "weyl/ops/frames/group_linear.h"

namespace weyl::platonic {

GroupLinear::GroupLinear(GroupTablesPtr tables, int64_t in, int64_t out, bool bias)
    : tables_(std::move(tables)), in_(in), out_(out) {
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

Tensor GroupLinear::dense() const {
  return expanded_.get(training(), kernel_, [&] { return expand_group_kernel(kernel_, *tables_); });
}

Tensor GroupLinear::without_bias(const Tensor& x) const {
  return at::linear(x, dense());
}

Tensor GroupLinear::operator()(const Tensor& x) const {
  return at::linear(x, dense(), bias_.defined() ? bias_.repeat({tables_->group().order()}) : Tensor());
}

GroupMlp::GroupMlp(const GroupTablesPtr& tables, int64_t in, int64_t hidden, int64_t out)
    : first_(child("0", std::make_shared<GroupLinear>(tables, in, hidden))),
      second_(child("2", std::make_shared<GroupLinear>(tables, hidden, out))) {}

Tensor GroupMlp::operator()(const Tensor& x) const {
  return (*second_)(activate((*first_)(x), Activation::gelu));
}

}  // namespace weyl::platonic
