#include "weyl/ops/steerable/kernel.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>

#include "weyl/algebra/irreps/wigner.h"
#include "weyl/core/check.h"
#include "weyl/ops/autograd/full_precision.h"
#include "weyl/ops/steerable/conv.h"

namespace weyl::steerable {
namespace {

using Complex = std::complex<double>;

/// B (J, M): filters by what they are at (m, m1, pixel).
struct Basis {
  int64_t filters = 0, numbers = 0;
  std::vector<Complex> values;

  Complex* add() {
    values.resize(static_cast<size_t>(++filters * numbers));
    return values.data() + (filters - 1) * numbers;
  }
};

/// ((Re B, Im B), (-Im B, Re B)), (2 J, 2 M): what turns (Re w, Im w) into (Re K, Im K).
Tensor as_real(const Basis& b) {
  const Tensor result = at::zeros({2, b.filters, 2, b.numbers}, at::kDouble);
  auto* to = result.mutable_data_ptr<double>();
  const auto at = [&](int64_t part, int64_t j, int64_t of, int64_t k) -> double& {
    return to[((part * b.filters + j) * 2 + of) * b.numbers + k];
  };
  for (int64_t j = 0; j < b.filters; ++j) {
    for (int64_t k = 0; k < b.numbers; ++k) {
      const Complex z = b.values[j * b.numbers + k];
      at(0, j, 0, k) = at(1, j, 1, k) = z.real();
      at(0, j, 1, k) = z.imag();
      at(1, j, 0, k) = -z.imag();
    }
  }
  return result.view({2 * b.filters, 2 * b.numbers});
}

/// The sums of products written out, n1 components of the input's irrep and n of the output's.
Basis written_out(const std::vector<std::vector<Product>>& paths, const RingFilters& f, int64_t n,
                  int64_t n1) {
  Basis b{0, n * n1 * f.pixels, {}};
  for (const auto& path : paths) {
    Complex* to = b.add();
    for (const Product& product : path) {
      for (int64_t p = 0; p < f.pixels; ++p) {
        to[(product.m * n1 + product.m1) * f.pixels + p] +=
            product.coefficient * f(product.component, product.ring, p);
      }
    }
  }
  return b;
}

}  // namespace

int64_t highest_filter(const SteerableType& in, const SteerableType& out, const KernelOptions& options) {
  return in.dimension == 3 && options.all_degrees ? in.irreps() + out.irreps() - 2
                                                  : std::max(in.irreps(), out.irreps()) - 1;
}

Kernel::Kernel(SteerableType input, SteerableType output, const KernelOptions& options)
    : in(std::move(input)), out(std::move(output)), options_(options) {
  require(in.dimension == out.dimension && (in.dimension == 2 || in.dimension == 3),
          "SteerableKernel: types must be of one dimension, 2 or 3, got ", in.dimension, " and ",
          out.dimension);
  require(in.width() > 0 && out.width() > 0, "SteerableKernel: types must have irreps with channels, got ",
          in.width(), " numbers in and ", out.width(), " out");
  const bool plane = in.dimension == 2;
  const bool alike = std::all_of(in.channels.begin(), in.channels.end(),
                                 [&](int64_t c) { return c == in.channels.front(); });
  require(!plane || !options.restricted || alike,
          "SteerableKernel: restricted weights need the same channels in every order of the input");
  const int64_t highest = highest_filter(in, out, options);
  filters_ = plane ? circular_filters(highest, options.rings) : spherical_filters(highest, options.rings);
  for (int64_t l = 0; l < out.irreps(); ++l) {
    for (int64_t l1 = 0; l1 < in.irreps(); ++l1) {
      const bool shared = plane && options.restricted;
      const auto j = static_cast<int64_t>(couplings_of(in, out, options, filters_, l, l1).size());
      if (j == 0 || out.channels[l] * in.channels[l1] == 0) {
        continue;
      }
      const bool again = shared && !pairs_.empty() && pairs_.back().l == l;
      const int64_t first = again ? pairs_.back().first : weights_;
      pairs_.push_back({l, l1, first, j});
      weights_ = first + out.channels[l] * in.channels[l1] * j;
    }
  }
  require(weights_ > 0, "SteerableKernel: no filter joins the types (more rings, or no cut)");
  plan_ = conv_plan(in, out, options, filters_);
}

const Kernel::Bases& Kernel::bases(const Tensor& like) const {
  const std::lock_guard lock(mutex_);
  Bases& bases = bases_[{like.scalar_type(), like.device().str()}];
  for (size_t i = bases.size(); i < pairs_.size(); ++i) {
    const Pair& pair = pairs_[i];
    const at::NoGradGuard constant;
    bases.push_back(as_real(written_out(couplings_of(in, out, options_, filters_, pair.l, pair.l1), filters_,
                                        out.components(pair.l), in.components(pair.l1)))
                        .to(like.device(), like.scalar_type()));
  }
  return bases;
}

Tensor Kernel::standard_deviations() const {
  // Variance of output (l, m, c): sum over pairs of |w|^2 C_in |B_j(m, ., .)|^2, in the mean over m.
  std::vector<double> sums(static_cast<size_t>(out.irreps()));
  for (const Pair& pair : pairs_) {
    const Basis b = written_out(couplings_of(in, out, options_, filters_, pair.l, pair.l1), filters_,
                                out.components(pair.l), in.components(pair.l1));
    double squares = 0;
    for (const Complex& z : b.values) {
      squares += std::norm(z);
    }
    sums[pair.l] +=
        squares * static_cast<double>(in.channels[pair.l1]) / static_cast<double>(out.components(pair.l));
  }
  const Tensor result = at::zeros({weights_}, at::kDouble);
  for (const Pair& pair : pairs_) {
    const int64_t count = out.channels[pair.l] * in.channels[pair.l1] * pair.filters;
    result.narrow(0, pair.first, count).fill_(sums[pair.l] > 0 ? 1 / std::sqrt(sums[pair.l]) : 0);
  }
  return result;
}

Tensor Kernel::expand(const Tensor& weights) const {
  require(weights.defined() && weights.sizes() == at::IntArrayRef({weights_, 2}),
          "SteerableKernel: weights must be (", weights_, ", 2), got ",
          weights.defined() ? weights.sizes() : at::IntArrayRef{});
  const FullPrecision no_autocast;
  const int64_t size = options_.rings.size, pixels = in.dimension == 2 ? size * size : size * size * size;
  // Blocks (2, (2l+1) C_l, (2l1+1) C_l1, pixels), real and imaginary parts; absent ones are zero.
  std::vector<std::vector<Tensor>> blocks(static_cast<size_t>(out.irreps()),
                                          std::vector<Tensor>(static_cast<size_t>(in.irreps())));
  const Bases& of_pairs = bases(weights);
  for (size_t i = 0; i < pairs_.size(); ++i) {
    const Pair& pair = pairs_[i];
    const int64_t c = out.channels[pair.l], c1 = in.channels[pair.l1], j = pair.filters;
    const int64_t n = out.components(pair.l), n1 = in.components(pair.l1);
    const Tensor w = weights.narrow(0, pair.first, c * c1 * j)
                         .view({c * c1, j, 2})
                         .transpose(1, 2)
                         .reshape({c * c1, 2 * j});
    blocks[pair.l][pair.l1] = at::matmul(w, of_pairs[i])
                                  .view({c, c1, 2, n, n1, pixels})
                                  .permute({2, 3, 0, 4, 1, 5})
                                  .reshape({2, n * c, n1 * c1, pixels});
  }
  std::vector<Tensor> rows;
  for (int64_t l = 0; l < out.irreps(); ++l) {
    std::vector<Tensor> row;
    for (int64_t l1 = 0; l1 < in.irreps(); ++l1) {
      const Tensor& block = blocks[l][l1];
      row.push_back(block.defined() ? block
                                    : at::zeros({2, out.width(l), in.width(l1), pixels}, weights.options()));
    }
    rows.push_back(at::cat(row, 2));
  }
  const Tensor kernel = at::cat(rows, 1);  // (2, F_out, F_in, pixels)
  const Tensor re = kernel.select(0, 0), im = kernel.select(0, 1);
  std::vector<int64_t> shape{2 * out.width(), 2 * in.width()};
  shape.insert(shape.end(), static_cast<size_t>(in.dimension), size);
  return at::cat({at::cat({re, -im}, 1), at::cat({im, re}, 1)}, 0).reshape(shape);
}

namespace {

using Paths = std::vector<std::vector<Product>>;

/// The filter's order between m1 and m, in -(orders-1) .. orders-1; none for none.
std::optional<int64_t> order_between(OrderCoupling coupling, int64_t m, int64_t m1, int64_t orders) {
  const int64_t k = m - m1;
  if (k >= 0 || coupling == OrderCoupling::exact) {
    return k;
  }
  return coupling == OrderCoupling::cyclic ? std::optional(k + orders) : std::nullopt;
}

Paths in_the_plane(const SteerableType& in, int64_t highest, const KernelOptions& options,
                   const RingFilters& f, int64_t m, int64_t m1) {
  const auto order = [&](int64_t from) { return order_between(options.coupling, m, from, highest + 1); };
  const auto kept = [&](int64_t from, int64_t ring) {
    return in.channels[from] > 0 && order(from) && f.kept[(*order(from) + highest) * f.rings + ring];
  };
  Paths paths;
  if (!order(m1)) {
    return paths;
  }
  for (int64_t ring = 0; ring < f.rings; ++ring) {
    bool any = kept(m1, ring);
    for (int64_t other = 0; options.restricted && other < in.irreps(); ++other) {
      any = any || kept(other, ring);
    }
    if (any) {
      paths.push_back({{0, 0, *order(m1) + highest, ring, 1}});
    }
  }
  return paths;
}

Paths in_space(int64_t highest, bool restricted, const RingFilters& f, int64_t l, int64_t l1) {
  Paths paths;
  for (int64_t ring = 0; ring < f.rings; ++ring) {
    bool open = false;
    for (int64_t l2 = std::abs(l - l1); l2 <= std::min(l + l1, highest); ++l2) {
      if (!f.kept[l2 * l2 * f.rings + ring]) {
        continue;
      }
      if (!open || !restricted) {
        paths.emplace_back();
        open = true;
      }
      const ClebschGordan c(l1, l2, l);
      for (int64_t m = -l; m <= l; ++m) {
        for (int64_t m1 = -l1; m1 <= l1; ++m1) {
          const int64_t m2 = m - m1;
          if (std::abs(m2) <= l2 && c(m, m1, m2) != 0) {
            paths.back().push_back({m + l, m1 + l1, l2 * (l2 + 1) + m2, ring, c(m, m1, m2)});
          }
        }
      }
    }
  }
  return paths;
}

}  // namespace

Paths couplings_of(const SteerableType& in, const SteerableType& out, const KernelOptions& options,
                   const RingFilters& filters, int64_t l, int64_t l1) {
  const int64_t highest = highest_filter(in, out, options);
  return in.dimension == 2 ? in_the_plane(in, highest, options, filters, l, l1)
                           : in_space(highest, options.restricted, filters, l, l1);
}

}  // namespace weyl::steerable
