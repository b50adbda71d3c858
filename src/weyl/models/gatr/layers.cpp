#include "weyl/models/gatr/layers.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/dropout.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/tensor.h>
#include <array>
#include <cmath>
#include <iterator>
#include <vector>

#include "weyl/algebra/clifford/blades.h"
#include "weyl/core/check.h"
#include "weyl/nn/norms.h"
#include "weyl/ops/constants.h"
#include "weyl/ops/multivectors/gate.h"
#include "weyl/ops/multivectors/grade_linear.h"
#include "weyl/ops/multivectors/norm.h"
#include "weyl/ops/multivectors/products.h"

namespace weyl::gatr {
namespace {

/// Squares of the authors' factors for the nine maps, by which each component keeps its variance.
constexpr std::array<double, 9> squared_factors{1, 4, 6, 2, 0.5, 0.5, 1.5, 1.5, 0.5};

double multivector_factor(EquiInit init) {
  constexpr double factors[] = {1, 0.1, 0.1, 0.5};
  return factors[static_cast<int>(init)];
}
double scalar_factor(EquiInit init) {
  return init == EquiInit::small ? 0.1 : 1;
}
bool near_one(EquiInit init) {
  return init == EquiInit::unit_scalar || init == EquiInit::almost_unit_scalar;
}

double root(int64_t n) {
  return std::sqrt(static_cast<double>(n));
}

/// y = x W^T + b, (N, I) -> (N, O), each row the same bits however many there are. Matrix products sum a last, smaller
/// tile of rows or of a sum in another order, so that a scene would depend on how many nodes stand beside it: here
/// every tile is whole.
Tensor rows_linear(const Tensor& x, const Tensor& weight, const Tensor& bias = {}) {
  constexpr int64_t rows = 16, terms = 8;  // multiples of MKL's tiles
  const int64_t more_rows = (rows - x.size(0) % rows) % rows,
                more_terms = (terms - x.size(1) % terms) % terms;
  if (more_rows == 0 && more_terms == 0) {
    return at::linear(x, weight, bias);
  }
  const Tensor whole = at::constant_pad_nd(x, {0, more_terms, 0, more_rows});
  return at::linear(whole, more_terms > 0 ? at::constant_pad_nd(weight, {0, more_terms}) : weight, bias)
      .narrow(0, 0, x.size(0));
}

Init about(double middle, double bound) {
  return {Init::Law::uniform, middle - bound, middle + bound};
}

/// (O, I, 9), each of the nine maps uniform within its own bound.
Tensor drawn(int64_t out, int64_t in, const std::array<double, 9>& bounds) {
  const auto wide = at::TensorOptions().dtype(at::kDouble);
  if (BuildOn::device().is_meta()) {
    return at::empty({out, in, 9}, wide.device(at::kMeta));
  }
  return (at::rand({out, in, 9}, wide) * 2 - 1) * at::tensor(at::ArrayRef<double>(bounds), wide);
}

}  // namespace

EquiLinear::EquiLinear(const EquiChannels& channels, EquiInit init) : channels_(channels) {
  require<ConfigError>(channels.in > 0, "gatr: a linear map needs multivector channels, got none");
  require<ConfigError>(!near_one(init) || channels.in_scalars,
                       "gatr: scalar parts that start near 1 need scalars in, whose bias they are");
  if (channels.out > 0) {
    declare_multivectors(init);
  }
  declare_scalars(init);
}

void EquiLinear::declare_multivectors(EquiInit init) {
  const int64_t in = channels_.in, out = channels_.out;
  const double factor = multivector_factor(init);
  std::array<double, 9> bounds{};
  for (size_t a = 0; a < bounds.size(); ++a) {
    bounds[a] = factor * std::sqrt(squared_factors[a]) / root(in);
  }
  if (channels_.in_scalars) {  // which give half of the variance
    bounds[0] = factor / root(2 * in);
  }
  weight_ = parameter("weight", drawn(out, in, bounds), /*decay=*/true);
  if (!channels_.in_scalars) {
    bias_ = parameter("bias", {out, 1}, Init::zeros());
    return;
  }
  const int64_t scalars = *channels_.in_scalars;
  s2mvs_weight_ = parameter("s2mvs.weight", {out, scalars}, Init::uniform(factor / root(2 * scalars)),
                            /*decay=*/true);
  s2mvs_bias_ = parameter("s2mvs.bias", {out}, about(near_one(init) ? 1 : 0, 1 / root(scalars + in)));
}

void EquiLinear::declare_scalars(EquiInit init) {
  if (!channels_.out_scalars) {
    return;
  }
  const int64_t in = channels_.in, out = *channels_.out_scalars, scalars = channels_.in_scalars.value_or(0);
  const double factor = scalar_factor(init) / root(channels_.in_scalars ? 2 : 1);
  mvs2s_weight_ = parameter("mvs2s.weight", {out, in}, Init::uniform(factor / root(in)), /*decay=*/true);
  mvs2s_bias_ = parameter("mvs2s.bias", {out}, Init::uniform(scalar_factor(init) / root(in + scalars)));
  if (channels_.in_scalars) {
    s2s_weight_ =
        parameter("s2s.weight", {out, scalars}, Init::uniform(factor / root(scalars)), /*decay=*/true);
  }
}

Streams EquiLinear::operator()(const Streams& x) const {
  Streams y;
  if (weight_.defined()) {
    y.multivectors = joint_multivectors({this}, x);
  }
  if (mvs2s_weight_.defined()) {
    y.scalars = rows_linear(x.multivectors.select(0, 0), mvs2s_weight_, mvs2s_bias_);
    if (s2s_weight_.defined()) {
      require(x.scalars.defined(), "gatr: a linear map that reads scalars must get some, got none");
      y.scalars = y.scalars + rows_linear(x.scalars, s2s_weight_);
    }
  }
  return y;
}

Tensor joint_multivectors(const std::vector<const EquiLinear*>& maps, const Streams& x) {
  const EquiLinear& first = *maps.front();
  const bool scalars = first.s2mvs_weight_.defined();
  require(!scalars || x.scalars.defined(), "gatr: a linear map that reads scalars must get some, got none");
  const auto all = [&](Tensor EquiLinear::* of) {
    if (maps.size() == 1) {
      return first.*of;
    }
    std::vector<Tensor> parts;
    for (const EquiLinear* map : maps) {
      parts.push_back(map->*of);
    }
    return at::cat(parts, 0);
  };
  const Tensor part =
      scalars ? rows_linear(x.scalars, all(&EquiLinear::s2mvs_weight_), all(&EquiLinear::s2mvs_bias_))
              : all(&EquiLinear::bias_).t().expand({x.multivectors.size(1), -1});
  return grade_linear(x.multivectors, all(&EquiLinear::weight_), part);
}

double EquiLinear::weighted(double of_weight, double of_pair) const {
  const double in = static_cast<double>(channels_.in), out = static_cast<double>(channels_.out),
               in_scalars = static_cast<double>(channels_.in_scalars.value_or(0)),
               out_scalars = static_cast<double>(channels_.out_scalars.value_or(0));
  return of_weight * (in_scalars * (out + out_scalars) + in * out_scalars) + of_pair * in * out;
}

double EquiLinear::flops() const {
  return weighted(2, 2 * 24);
}

double EquiLinear::nominal_flops() const {
  return weighted(6, 6 * 256);
}

Streams normalised(const Streams& x) {
  constexpr double least_square = 0.01;  // the authors': what mean squares are clamped to
  return {normalise_multivectors(x.multivectors, least_square), normalise_layer(x.scalars)};
}

namespace {

Tensor activated(const Tensor& s, MultivectorGate activation) {
  switch (activation) {
    case MultivectorGate::gelu:
      return at::gelu(s);
    case MultivectorGate::relu:
      return at::relu(s);
    case MultivectorGate::sigmoid:
      return at::sigmoid(s);
  }
  return {};
}

}  // namespace

Streams gated(const Streams& x, MultivectorGate activation) {
  return {gate_multivectors(x.multivectors, activation), activated(x.scalars, activation)};
}

Streams drop_grades(const Streams& x, double rate) {
  if (rate == 0) {
    return x;
  }
  const Tensor& mv = x.multivectors;
  const auto options = mv.options().requires_grad(false);
  const Tensor kept = at::dropout(at::ones({5, mv.size(1), mv.size(2)}, options), rate, /*train=*/true);
  std::vector<int64_t> grades(std::begin(clifford::grade_of), std::end(clifford::grade_of));
  const Tensor grade_of = constant(grades, mv.device());
  return {mv * kept.index_select(0, grade_of),
          x.scalars.defined() ? at::dropout(x.scalars, rate, /*train=*/true) : Tensor()};
}

Bilinear::Bilinear(const EquiChannels& channels) {
  require<ConfigError>(channels.out % 2 == 0, "gatr: a bilinear layer needs an even number of channels, got ",
                       channels.out);
  const EquiChannels half{channels.in, channels.out / 2, channels.in_scalars, {}};
  const auto map = [&](const char* name, EquiInit init = EquiInit::normal) {
    return child(name, std::make_shared<EquiLinear>(half, init));
  };
  left_ = map("linear_left");
  right_ = map("linear_right", EquiInit::almost_unit_scalar);
  join_left_ = map("linear_join_left");
  join_right_ = map("linear_join_right");
  out_ = child("linear_out", std::make_shared<EquiLinear>(EquiChannels{
                                 channels.out, channels.out, channels.in_scalars, channels.out_scalars}));
}

Streams Bilinear::operator()(const Streams& x, const Tensor& reference) const {
  const Tensor four = joint_multivectors({left_.get(), right_.get(), join_left_.get(), join_right_.get()}, x);
  // Under autocast the maps give half precision, and the reference is of the input's.
  return (*out_)({product_and_join(four.to(reference.scalar_type()), reference), x.scalars});
}

double Bilinear::flops() const {
  const double half = static_cast<double>(left_->channels().out);
  return 4 * left_->flops() + out_->flops() +
         2 * half * (clifford::geometric_terms.size() + clifford::join_terms.size());
}

double Bilinear::nominal_flops() const {
  return 4 * left_->nominal_flops() + out_->nominal_flops();
}

GeometricMlp::GeometricMlp(const Options& options)
    : activation_(options.activation), dropout_(options.dropout) {
  const int64_t width = options.width, scalars = options.scalars;
  bilinear_ =
      child("layers.0", std::make_shared<Bilinear>(EquiChannels{width, 2 * width, scalars, 2 * scalars}));
  linear_ =
      child("layers.2", std::make_shared<EquiLinear>(EquiChannels{2 * width, width, 2 * scalars, scalars}));
}

Streams GeometricMlp::operator()(const Streams& x, const Tensor& reference) const {
  const double rate = training() ? dropout_ : 0;
  const Streams hidden = drop_grades((*bilinear_)(x, reference), rate);
  return drop_grades((*linear_)(gated(hidden, activation_)), rate);
}

}  // namespace weyl::gatr
