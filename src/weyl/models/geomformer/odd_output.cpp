#include "weyl/models/geomformer/odd_output.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/linalg_cross.h>

#include "weyl/core/check.h"

namespace weyl::geomformer {

OddOutput::OddOutput(const Quantity& output, int64_t width, const Options& options)
    : vectors_(output.kind == Kind::axial_vector) {
  require<ConfigError>(vectors_ || output.kind == Kind::pseudoscalar, "geomformer: output '", output.name,
                       "' must be a pseudoscalar or an axial vector, got a ",
                       kind_names[static_cast<int>(output.kind)]);
  const int64_t hidden = options.head_hidden.value_or(options.width);
  const auto linear = [&](const char* name, int64_t in, int64_t out) {
    return child(name, std::make_shared<Linear>(in, out, /*bias=*/false, LinearInit::xavier));
  };
  first_ = linear("first", width, hidden);
  second_ = linear("second", width, hidden);
  if (!vectors_) {
    third_ = linear("third", width, hidden);
  }
  gate_ = child("gate", std::make_shared<Mlp>(width, hidden, hidden, options.activation));
  out_ = linear("out", hidden, output.channels);
}

Tensor OddOutput::operator()(const StreamAttention::Streams& s) const {
  const Tensor axial = at::linalg_cross((*first_)(s.equ), (*second_)(s.equ), 1);  // (N, 3, k)
  const Tensor gate = (*gate_)(s.inv);
  if (vectors_) {
    return (*out_)(gate.unsqueeze(1) * axial).transpose(1, 2);
  }
  return (*out_)(gate * (axial * (*third_)(s.equ)).sum(1));
}

Work OddOutput::work() const {
  const auto of = [](const Module& module) {
    double total = 0;
    for (const Parameter& p : module.parameters()) {
      total += p.tensor.dim() == 2 ? static_cast<double>(p.tensor.numel()) : 0;
    }
    return total;
  };
  const double maps = of(*first_) + of(*second_) + (third_ ? of(*third_) : 0);
  return Work::product(3 * maps + of(*gate_) + (vectors_ ? 3 : 1) * of(*out_));
}

}  // namespace weyl::geomformer
