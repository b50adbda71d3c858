#include "weyl/ops/multivectors/products.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/bmm.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/matmul.h>

#include <memory>
#include <utility>

#include "weyl/algebra/clifford/blades.h"
#include "weyl/core/check.h"
#include "weyl/kernels/multivectors/products.h"
#include "weyl/ops/autograd/differentiable.h"
#include "weyl/ops/autograd/full_precision.h"
#include "weyl/ops/autograd/operations.h"
#include "weyl/ops/multivectors/kernel_rows.h"
#include "weyl/ops/multivectors/layout.h"
#include "weyl/ops/multivectors/tables.h"

namespace weyl {
namespace {

/// By the dense table, contracted with x first and then with y, components last, as the authors' einsum is.
Tensor dense_product(MultivectorProduct product, const Tensor& x, const Tensor& y) {
  constexpr int64_t n = clifford::components;
  const Tensor table = dense_table(product, x).permute({1, 0, 2}).reshape({n, n * n});  // (left, out right)
  const auto rows = [](const Tensor& z) { return components_last(z).reshape({-1, n}); };
  const Tensor maps = at::matmul(rows(x), table).view({-1, n, n});
  const Tensor z = at::bmm(maps, rows(y).unsqueeze(2)).view({x.size(1), x.size(2), n});
  return components_first(z);
}

/// By the terms that are not zero.
Tensor sparse_product(MultivectorProduct product, const Tensor& x, const Tensor& y) {
  const ProductTerms terms = product_terms(product, x);
  const Tensor factors = x.index_select(0, terms.left) * y.index_select(0, terms.right);
  return at::matmul(terms.sum, factors.flatten(1)).view(x.sizes());
}

constexpr double product_nanoseconds = 12;  // of a channel of a token: measured, 5 for the product alone

/// Inputs left, right, join_left, join_right, reference. The first two or the last three may be undefined. Or, where
/// they are `stacked`, the first four side by side, and reference.
class ProductAndJoin : public Differentiable {
 public:
  explicit ProductAndJoin(bool stacked = false) : stacked_(stacked) {}

  Tensors reference(const Tensors& in) const override { return {by(&dense_product, apart(in))}; }
  Tensors without_kernels(const Tensors& in) const override { return {by(&sparse_product, apart(in))}; }

  bool recomputes() const override { return true; }
  /// On a device only without a gradient of the reference: that is a sum over channels, which threads do not share.
  bool has_forward(const Tensors& in) const override {
    return kernels_take(in) || (cuda_kernels_take(in) && !(in.back().defined() && in.back().requires_grad()));
  }
  bool has_backward(const Tensors& in) const override { return has_forward(in); }
  bool has_second(const Tensors& in) const override { return has_forward(in); }

  Tensors forward(const Tensors& in) const override {
    const Operands x(in, stacked_);
    const Tensor z = at::empty({clifford::components, x.tokens, x.parts * x.channels}, x.options);
    const Result to(z, x);
    with_type(z.scalar_type(), [&](auto zero) {
      using T = decltype(zero);
      const auto& kernel = kernel_on<kernels::MultivectorProducts<T>>(x.options.device());
      share(x, 1, [&](int64_t first, int64_t last) {
        kernel.forward(x.arguments<T>(), to.product.write<T>(), to.joined.write<T>(), first, last);
      });
    });
    for (const size_t i : {0, 2}) {
      count_operations(x.factor[i].tensor.defined() ? x.product_of(i) : 0);
    }
    return {z};
  }

  Tensors backward(const Tensors& in, const Tensors&, const Tensors& gz,
                   const std::vector<bool>& needed) const override {
    const Operands x(in, stacked_);
    const Result from(gz[0], x);
    const Tensors g = like(in, needed);
    const Operands wanted(g, stacked_);
    with_type(gz[0].scalar_type(), [&](auto zero) {
      using T = decltype(zero);
      const auto& kernel = kernel_on<kernels::MultivectorProducts<T>>(x.options.device());
      share(x, 2, [&](int64_t first, int64_t last) {
        kernel.backward(x.arguments<T>(), from.product.read<T>(), from.joined.read<T>(),
                        wanted.gradients<T>(), first, last);
      });
    });
    for (const size_t i : {0, 1, 2, 3}) {
      count_operations(wanted.factor[i].tensor.defined() ? x.product_of(i) : 0);
    }
    return g;
  }

  Tensors second(const Tensors& in, const Tensors&, const Tensors& gz, const Tensors& directions,
                 const std::vector<bool>& needed) const override {
    const Operands x(in, stacked_), d(directions, stacked_);
    const Result from(gz[0], x);
    Tensors g = like(in, needed);
    const Operands wanted(g, stacked_);
    const Tensor ggz = needed[in.size()] ? at::empty(gz[0].sizes(), gz[0].options()) : Tensor();
    const Result to(ggz, x);
    with_type(gz[0].scalar_type(), [&](auto zero) {
      using T = decltype(zero);
      const auto& kernel = kernel_on<kernels::MultivectorProducts<T>>(x.options.device());
      share(x, 4, [&](int64_t first, int64_t last) {
        const kernels::MultivectorProductsInput<T> along = d.arguments<T>();
        kernel.second(x.arguments<T>(), from.product.read<T>(), from.joined.read<T>(),
                      {along.left, along.right, along.join_left, along.join_right, along.reference},
                      wanted.gradients<T>(), to.product.write<T>(), to.joined.write<T>(), first, last);
      });
    });
    g.push_back(ggz);
    return g;
  }

 private:
  /// The five inputs, for expressions.
  Tensors apart(const Tensors& in) const {
    if (!stacked_) {
      return in;
    }
    Tensors five(4);
    for (int64_t i = 0; i < 4 && in[0].defined(); ++i) {
      const int64_t h = in[0].size(2) / 4;
      five[static_cast<size_t>(i)] = in[0].narrow(2, i * h, h);
    }
    five.push_back(in[1]);
    return five;
  }

  /// The inputs as kernels read them, or their directions or gradients, of which some may be undefined.
  struct Operands {
    Operands(const Tensors& in, bool stacked) : reference(contiguous_of(in.back())) {
      const int64_t h = stacked && in[0].defined() ? in[0].size(2) / 4 : 0;
      for (size_t i = 0; i < 4; ++i) {
        factor[i] = stacked ? ComponentRows(in[0], static_cast<int64_t>(i) * h) : ComponentRows(in[i]);
      }
      for (const size_t i : {0, 2}) {
        if (factor[i].tensor.defined()) {
          tokens = factor[i].tensor.size(1);
          channels = stacked ? h : factor[i].tensor.size(2);
          options = factor[i].tensor.options();
          ++parts;
        }
      }
    }
    /// Floating-point operations of the product that factor i belongs to, and of its derivative by one factor: a
    /// multiply-add, two, for each term.
    double product_of(size_t i) const {
      const size_t terms = i < 2 ? clifford::geometric_terms.size() : clifford::join_terms.size();
      return 2 * static_cast<double>(tokens * channels * static_cast<int64_t>(terms));
    }
    template <class T>
    kernels::MultivectorProductsInput<T> arguments() const {
      return {channels,
              factor[0].read<T>(),
              factor[1].read<T>(),
              factor[2].read<T>(),
              factor[3].read<T>(),
              numbers<T>(reference)};
    }
    /// As places to write to.
    template <class T>
    kernels::MultivectorProductsGradients<T> gradients() const {
      return {factor[0].write<T>(), factor[1].write<T>(), factor[2].write<T>(), factor[3].write<T>(),
              mutable_numbers<T>(reference)};
    }
    ComponentRows factor[4];
    Tensor reference;
    int64_t tokens = 0, channels = 0, parts = 0;
    at::TensorOptions options;
  };

  /// The two halves of the result, or of its gradient.
  struct Result {
    Result(const Tensor& z, const Operands& x) {
      if (x.factor[0].tensor.defined()) {
        product = ComponentRows(z);
      }
      if (x.factor[2].tensor.defined()) {
        joined = ComponentRows(z, (x.parts - 1) * x.channels);
      }
    }
    ComponentRows product, joined;
  };

  template <class F>
  static void share(const Operands& x, int64_t times, const F& work) {
    const double each = product_nanoseconds * static_cast<double>(times * x.channels);
    share_or_queue(x.options.device(), x.tokens, each, work);
  }

  static Tensors like(const Tensors& in, const std::vector<bool>& needed) {
    Tensors g(in.size());
    for (size_t i = 0; i < in.size(); ++i) {
      if (needed[i]) {
        g[i] = at::empty(in[i].sizes(), in[i].options());
      }
    }
    return g;
  }

  template <class F>
  static Tensor by(const F& product, const Tensors& in) {
    Tensors both;
    if (in[0].defined()) {
      both.push_back(product(MultivectorProduct::geometric, in[0], in[1]));
    }
    if (in[2].defined()) {
      both.push_back(product(MultivectorProduct::join, in[2], in[3]) * in[4].unsqueeze(-1));
    }
    return both.size() == 1 ? both.front() : at::cat(both, -1);
  }

  bool stacked_;
};

/// Never below float32: a derivative that works the expression out again has no autocast.
Tensor in_full(bool stacked, Tensors inputs) {
  const FullPrecision no_autocast;
  return call(std::make_shared<ProductAndJoin>(stacked), all_widened(std::move(inputs)))[0];
}

void require_alike(const char* where, const char* name, const Tensor& y, const Tensor& x) {
  require_multivectors(where, name, y);
  require(y.sizes() == x.sizes() && y.scalar_type() == x.scalar_type(), where, ": ", name,
          " must be like the first input, ", x.sizes(), " ", x.scalar_type(), ", got ", y.sizes(), " ",
          y.scalar_type());
}

void require_reference(const char* where, const Tensor& reference, const Tensor& x) {
  require(reference.defined() && reference.dim() == 1 && reference.size(0) == x.size(1) &&
              reference.scalar_type() == x.scalar_type(),
          where, ": reference must be (", x.size(1), ") ", x.scalar_type(), ", got ",
          reference.defined() ? reference.sizes() : at::IntArrayRef{});
}

}  // namespace

Tensor geometric_product(const Tensor& x, const Tensor& y) {
  require_multivectors("geometric_product", "x", x);
  require_alike("geometric_product", "y", y, x);
  return in_full(false, {x, y, {}, {}, {}});
}

Tensor join(const Tensor& x, const Tensor& y, const Tensor& reference) {
  require_multivectors("join", "x", x);
  require_alike("join", "y", y, x);
  require_reference("join", reference, x);
  return in_full(false, {{}, {}, x, y, reference});
}

Tensor product_and_join(const Tensor& left, const Tensor& right, const Tensor& join_left,
                        const Tensor& join_right, const Tensor& reference) {
  const char* where = "product_and_join";
  require_multivectors(where, "left", left);
  require_alike(where, "right", right, left);
  require_alike(where, "join_left", join_left, left);
  require_alike(where, "join_right", join_right, left);
  require_reference(where, reference, left);
  return in_full(false, {left, right, join_left, join_right, reference});
}

Tensor product_and_join(const Tensor& four, const Tensor& reference) {
  require_multivectors("product_and_join", "four", four);
  require(four.size(2) % 4 == 0, "product_and_join: four must be (16, N, 4 h), got ", four.sizes());
  require_reference("product_and_join", reference, four);
  return in_full(/*stacked=*/true, {four, reference});
}

}  // namespace weyl
