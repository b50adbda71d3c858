#include "weyl/models/steerable/cg_activation.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cmath>

#include "weyl/algebra/irreps/clebsch_gordan.h"
#include "weyl/core/check.h"
#include "weyl/models/steerable/init.h"
#include "weyl/ops/autograd/full_precision.h"

namespace weyl::steerable {
namespace {

/// (sum of 2l+1, (2 l1 + 1)(2 l2 + 1)): a row for each degree and component.
Tensor coupling_of(int64_t l1, int64_t l2, const std::vector<int64_t>& degrees) {
  std::vector<Tensor> rows;
  for (const int64_t l : degrees) {
    const ClebschGordan c(l1, l2, l);
    const Tensor block = at::zeros({2 * l + 1, (2 * l1 + 1) * (2 * l2 + 1)}, at::kDouble);
    std::copy(c.values().begin(), c.values().end(), block.mutable_data_ptr<double>());
    rows.push_back(block);
  }
  return at::cat(rows);
}

}  // namespace

CgActivation::CgActivation(const SteerableType& type) : type_(type) {
  const int64_t n = type.irreps();
  h_ = *std::min_element(type.channels.begin(), type.channels.end());
  if (type.dimension == 2) {
    require(std::all_of(type.channels.begin(), type.channels.end(), [&](int64_t c) { return c == h_; }),
            "CgActivation: orders must have the same channels");
    std::vector<Tensor> init;
    for (int64_t l = 0; l < n; ++l) {
      init.push_back(initial_normals({l + 1, h_, 2}) / std::sqrt(2.0 * static_cast<double>(l + 1)));
    }
    weight_ = complex_parameter("weight", at::cat(init), true);
    return;
  }
  std::vector<int64_t> reached(static_cast<size_t>(n));
  for (int64_t l1 = 0; l1 < n; ++l1) {
    for (int64_t l2 = l1; l2 < n; ++l2) {
      Pair pair{l1, l2, {}, {}};
      for (int64_t l = l2 - l1; l <= std::min(l1 + l2, n - 1); ++l) {
        if (l1 != l2 || l % 2 == 0) {
          pair.degrees.push_back(l);
          ++reached[l];
        }
      }
      if (!pair.degrees.empty()) {
        const Tensor coupling = coupling_of(l1, l2, pair.degrees);
        pair.numbers = coupling.numel();
        pair.coupling = std::make_shared<const TableCopies>(coupling);
        pairs_.push_back(std::move(pair));
      }
    }
  }
  inner_ = {3, std::vector<int64_t>(static_cast<size_t>(n), h_)};
  SteerableType coupled{3, {}};
  for (const int64_t count : reached) {
    coupled.channels.push_back(count * h_);
  }
  in_ = child("in", std::make_shared<Linear>(type, inner_));
  out_ = child("out", std::make_shared<Linear>(coupled, type));
}

Tensor CgActivation::operator()(const Tensor& x) const {
  require(x.defined() && x.dim() == type_.dimension + 2 && x.size(1) == 2 * type_.width(),
          "CgActivation: x must be (B, ", 2 * type_.width(), ", ", type_.dimension, " axes), got ",
          x.defined() ? x.sizes() : at::IntArrayRef{});
  return type_.dimension == 2 ? in_the_plane(x) : in_space(x);
}

Tensor CgActivation::in_the_plane(const Tensor& x) const {
  const Tensor parts = x.unflatten(1, {2, type_.irreps(), h_}).flatten(4);  // (B, 2, K, C, P)
  const Tensor re = parts.select(1, 0), im = parts.select(1, 1);
  const Tensor w = weight_.to(x.scalar_type()).unsqueeze(3);  // (pairs, C, 2, 1)
  std::vector<Tensor> real, imaginary;
  for (int64_t l = 0, first = 0; l < type_.irreps(); first += ++l) {
    // x_m x_{l-m} once, with the weights of m and of l - m.
    const int64_t pairs = (l + 1) / 2, products = l / 2 + 1;
    const Tensor of_l = w.narrow(0, first, l + 1);
    Tensor folded = of_l.narrow(0, 0, pairs) + of_l.flip(0).narrow(0, 0, pairs);
    if (l % 2 == 0) {
      folded = at::cat({folded, of_l.narrow(0, pairs, 1)});
    }
    const auto low = [&](const Tensor& t) { return t.narrow(1, 0, products); };
    const auto high = [&](const Tensor& t) { return t.narrow(1, l + 1 - products, products).flip(1); };
    const Tensor a = low(re), b = low(im), c = high(re), d = high(im);
    const Tensor p = a * c - b * d, q = a * d + b * c;
    const Tensor u = folded.select(2, 0), v = folded.select(2, 1);
    real.push_back((u * p - v * q).sum(1));
    imaginary.push_back((u * q + v * p).sum(1));
  }
  return at::stack({at::stack(real, 1), at::stack(imaginary, 1)}, 1).reshape(x.sizes());
}

Tensor CgActivation::in_space(const Tensor& x) const {
  const at::ScalarType wide = at_least_float32(x.scalar_type());
  const Tensor y = (*in_)(x).to(wide).unflatten(1, {2, inner_.width()}).flatten(3);  // (B, 2, F, P)
  const auto degree = [&](int64_t l) {                                               // (B, 2, 2l+1, h P)
    return y.narrow(2, inner_.offset(l), inner_.width(l)).unflatten(2, {2 * l + 1, h_}).flatten(3);
  };
  std::vector<std::vector<Tensor>> of(static_cast<size_t>(type_.irreps()));
  for (const Pair& pair : pairs_) {
    const Tensor f = degree(pair.l1).unsqueeze(3), g = degree(pair.l2).unsqueeze(2);
    const Tensor a = f.select(1, 0), b = f.select(1, 1), c = g.select(1, 0), d = g.select(1, 1);
    const Tensor products = at::stack({a * c - b * d, a * d + b * c}, 1).flatten(2, 3);
    const FullPrecision no_autocast;
    const Tensor coupled = at::matmul(pair.coupling->on(products.device(), products.scalar_type()), products);
    int64_t row = 0;
    for (const int64_t l : pair.degrees) {
      of[l].push_back(coupled.narrow(2, row, 2 * l + 1).unflatten(3, {h_, -1}));
      row += 2 * l + 1;
    }
  }
  std::vector<Tensor> degrees;
  for (const auto& terms : of) {
    degrees.push_back(at::cat(terms, 3).flatten(2, 3));  // (B, 2, (2l+1) pairs h, P)
  }
  const Tensor coupled = at::cat(degrees, 2);
  std::vector<int64_t> shape = x.sizes().vec();
  shape[1] = 2 * coupled.size(2);
  return (*out_)(coupled.reshape(shape));
}

Work CgActivation::work() const {
  if (type_.dimension == 2) {
    return {};
  }
  double coupled = 0;
  for (const Pair& pair : pairs_) {
    coupled += static_cast<double>(pair.numbers * 2 * h_);
  }
  return in_->work() + Work::product(coupled, 1) + out_->work();  // couplings are constants
}

}  // namespace weyl::steerable
