#include "weyl/models/geomformer/head.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/eye.h>
#include <ATen/ops/linalg_cross.h>
#include <ATen/ops/rsqrt.h>
#include <ATen/ops/silu.h>

#include "weyl/core/check.h"

namespace weyl::geomformer {

bool ProductOutput::gives(Kind kind) {
  return kind == Kind::pseudoscalar || kind == Kind::axial_vector || kind == Kind::symmetric_tensor;
}

ProductOutput::ProductOutput(const Quantity& output, int64_t width, const Options& options)
    : kind_(output.kind) {
  require<ConfigError>(gives(kind_), "geomformer: output '", output.name,
                       "' must be a pseudoscalar, an axial vector or a symmetric tensor, got a ",
                       kind_names[static_cast<int>(output.kind)]);
  const int64_t hidden = options.head_hidden.value_or(options.width);
  const auto linear = [&](const char* name, int64_t in, int64_t out) {
    return child(name, std::make_shared<Linear>(in, out, /*bias=*/false, LinearInit::xavier));
  };
  first_ = linear("first", width, hidden);
  second_ = linear("second", width, hidden);
  if (kind_ == Kind::pseudoscalar) {
    third_ = linear("third", width, hidden);
  }
  gate_ = child("gate", std::make_shared<Mlp>(width, hidden, hidden, options.activation, options.init));
  out_ = linear("out", hidden, output.channels);
  if (kind_ == Kind::symmetric_tensor) {
    isotropic_ = child(
        "isotropic", std::make_shared<Mlp>(width, hidden, output.channels, options.activation, options.init));
  }
}

Tensor ProductOutput::operator()(const StreamAttention::Streams& s) const {
  const Tensor u = (*first_)(s.equ), v = (*second_)(s.equ), gate = (*gate_)(s.inv);  // (N, 3, k), (N, k)
  if (kind_ == Kind::symmetric_tensor) {
    const Tensor product = (gate.unsqueeze(1) * u).unsqueeze(2) * v.unsqueeze(1);  // (N, 3, 3, k)
    const Tensor whole = (*out_)(product).permute({0, 3, 1, 2});
    const Tensor unit = at::eye(3, whole.options().requires_grad(false));
    return (whole + whole.transpose(-1, -2)) / 2 + (*isotropic_)(s.inv).unsqueeze(-1).unsqueeze(-1) * unit;
  }
  const Tensor axial = at::linalg_cross(u, v, 1);
  if (kind_ == Kind::axial_vector) {
    return (*out_)(gate.unsqueeze(1) * axial).transpose(1, 2);
  }
  return (*out_)(gate * (axial * (*third_)(s.equ)).sum(1));
}

Work ProductOutput::work() const {
  const auto of = [](const Module& module) {
    double total = 0;
    for (const Parameter& p : module.parameters()) {
      total += p.tensor.dim() == 2 ? static_cast<double>(p.tensor.numel()) : 0;
    }
    return total;
  };
  const double maps = of(*first_) + of(*second_) + (third_ ? of(*third_) : 0);
  const double rows = kind_ == Kind::pseudoscalar ? 1 : kind_ == Kind::axial_vector ? 3 : 9;
  return Work::product(3 * maps + of(*gate_) + rows * of(*out_) + (isotropic_ ? of(*isotropic_) : 0));
}

double least_square(at::ScalarType dtype) {
  return dtype == at::kDouble ? 2.2e-16 : 1e-10;
}

GatedBlock::GatedBlock(int64_t in, int64_t out, bool last)
    : last_(last),
      vec1_(child("vec1_proj", std::make_shared<Linear>(in, in, /*bias=*/false, LinearInit::xavier))),
      vec2_(child("vec2_proj", std::make_shared<Linear>(in, out, /*bias=*/false, LinearInit::xavier))),
      update_(child("update_net",
                    std::make_shared<Mlp>(2 * in, in, 2 * out, Activation::silu, LinearInit::xavier))) {}

StreamAttention::Streams GatedBlock::operator()(const StreamAttention::Streams& s) const {
  const Tensor v = (*vec1_)(s.equ);
  const Tensor square = (v * v).sum(1);
  const Tensor lengths = square * at::rsqrt(square + least_square(square.scalar_type()));
  const auto parts = (*update_)(at::cat({s.inv, lengths}, -1)).chunk(2, -1);
  return {last_ ? parts[0] : at::silu(parts[0]), parts[1].unsqueeze(1) * (*vec2_)(s.equ)};
}

Work GatedBlock::work(bool vectors_read) const {
  const auto in = static_cast<double>(vec1_->weight().size(1)),
             out = static_cast<double>(vec2_->weight().size(0));
  return Work::product(3 * in * in + 2 * in * in + 2 * in * out) +
         Work::product(3 * in * out, vectors_read ? 2 : 0);
}

Output::Output(const Quantity& output, int64_t width, const Options& options)
    : vectors_(output.kind == Kind::vector) {
  if (ProductOutput::gives(output.kind)) {
    products_ = child("products", std::make_shared<ProductOutput>(output, width, options));
  } else if (options.head == Head::gated) {
    first_ = child("0", std::make_shared<GatedBlock>(width, width / 2, /*last=*/false));
    second_ = child("1", std::make_shared<GatedBlock>(width / 2, output.channels, /*last=*/true));
  } else if (vectors_) {
    linear_ =
        child("vectors", std::make_shared<Linear>(width, output.channels, /*bias=*/false, options.init));
  } else {
    mlp_ = child("mlp", std::make_shared<Mlp>(width, options.head_hidden.value_or(options.width),
                                              output.channels, options.activation, options.init));
  }
}

Tensor Output::operator()(const StreamAttention::Streams& streams) const {
  if (products_) {
    return (*products_)(streams);
  }
  if (mlp_) {
    return (*mlp_)(streams.inv);
  }
  if (linear_) {
    return (*linear_)(streams.equ).transpose(1, 2);
  }
  const StreamAttention::Streams last = (*second_)((*first_)(streams));
  return vectors_ ? last.equ.transpose(1, 2) : last.inv;
}

Work Output::work() const {
  if (products_) {
    return products_->work();
  }
  if (first_) {
    return first_->work(true) + second_->work(vectors_);
  }
  double weights = 0;
  for (const Parameter& p : parameters()) {
    weights += p.tensor.dim() == 2 ? static_cast<double>(p.tensor.numel()) : 0;
  }
  return Work::product(vectors_ ? 3 * weights : weights);
}

}  // namespace weyl::geomformer
