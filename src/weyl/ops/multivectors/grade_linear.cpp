#include "weyl/ops/multivectors/grade_linear.h"

#include <ATen/TensorOperators.h>
#include <ATen/autocast_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/zeros.h>

#include <memory>

#include "weyl/algebra/clifford/blades.h"
#include "weyl/core/check.h"
#include "weyl/kernels/dispatch.h"
#include "weyl/kernels/multivectors/grade_linear.h"
#include "weyl/ops/autograd/differentiable.h"
#include "weyl/ops/autograd/operations.h"
#include "weyl/ops/autograd/parallel.h"
#include "weyl/ops/multivectors/kernel_rows.h"
#include "weyl/ops/multivectors/layout.h"
#include "weyl/ops/multivectors/tables.h"

namespace weyl {
namespace {

/// y with `part` (N, O) added to its component 0.
Tensor with_scalar_part(const Tensor& y, const Tensor& part) {
  if (!part.defined()) {
    return y;
  }
  return at::cat({y.narrow(0, 0, 1) + part.unsqueeze(0), y.narrow(0, 1, y.size(0) - 1)}, 0);
}

/// As the authors have it: weights times basis first, one dense (16 O, 16 I) map of that.
Tensor dense_map(const Tensor& x, const Tensor& weight) {
  constexpr int64_t n = clifford::components;
  const int64_t out = weight.size(0), in = weight.size(1);
  const Tensor map = at::matmul(weight.reshape({out * in, kernels::grade_maps}),
                                grade_basis(weight).view({kernels::grade_maps, n * n}))
                         .view({out, in, n, n})
                         .permute({3, 1, 2, 0})
                         .reshape({n * in, n * out});
  const Tensor rows = x.permute({1, 0, 2}).reshape({x.size(1), n * in});
  return at::matmul(rows, map).view({x.size(1), n, out}).permute({1, 0, 2});
}

/// Matrix products of the rows of a grade.
Tensor grade_wise(const Tensor& x, const Tensor& weight) {
  const auto part = [&](int map, int64_t first, int64_t count) {
    const kernels::GradeMap& of = kernels::grade_map[map];
    return at::matmul(x.narrow(0, of.in + first, count), weight.select(2, map).t() * of.scale);
  };
  return at::cat({part(0, 0, 1), part(1, 0, 1) + part(5, 0, 1), part(1, 1, 3), part(2, 0, 3) + part(6, 0, 3),
                  part(2, 3, 3), part(3, 0, 3) + part(7, 0, 3), part(3, 3, 1), part(4, 0, 1) + part(8, 0, 1)},
                 0);
}

/// Whether the dense map is the faster one: on a device, where its few launches are worth more than the products with zeros.
/// 1e10 operations are estimated at a quarter of a millisecond, as thirty launches are; docs/gpu.md has what it came to.
bool dense_pays(const Tensor& x, const Tensor& weight) {
  constexpr int64_t n = clifford::components;
  return !x.is_cpu() && 2.0 * static_cast<double>(x.size(1) * n * n * weight.size(0) * weight.size(1)) < 1e10;
}

/// Inputs x (16, N, I), weight (O, I, 9), and the scalar part (N, O), which may be undefined.
class GradeLinear : public Differentiable {
 public:
  Tensors reference(const Tensors& in) const override {
    return {with_scalar_part(dense_map(in[0], in[1]), in[2])};
  }
  Tensors without_kernels(const Tensors& in) const override {
    const auto form = dense_pays(in[0], in[1]) ? &dense_map : &grade_wise;
    return {with_scalar_part(form(in[0], in[1]), in[2])};
  }

  bool has_forward(const Tensors& in) const override {
    return kernels_take(in) && !at::autocast::is_autocast_enabled(at::kCPU);
  }
  bool has_backward(const Tensors& in) const override { return kernels_take(in); }
  bool has_second(const Tensors& in) const override { return kernels_take(in); }

  Tensors forward(const Tensors& in) const override {
    const Tensor y = at::empty({clifford::components, in[0].size(1), in[1].size(0)}, in[0].options());
    apply(in[0], in[1], false, in[2], false, y);
    count_operations(products_of(in));
    return {y};
  }

  Tensors backward(const Tensors& in, const Tensors&, const Tensors& gys,
                   const std::vector<bool>& needed) const override {
    count_operations((needed[0] + needed[1]) * products_of(in));
    return {needed[0] ? input_gradient(in[1], gys[0], in[0]) : Tensor(),
            needed[1] ? weight_gradient(in[0], gys[0], in[1]) : Tensor(),
            needed[2] ? gys[0].select(0, 0) : Tensor()};
  }

  Tensors second(const Tensors& in, const Tensors&, const Tensors& gys, const Tensors& directions,
                 const std::vector<bool>& needed) const override {
    const Tensor &dx = directions[0], &dweight = directions[1], &dpart = directions[2];
    Tensors g(4);
    if (needed[0] && dweight.defined()) {
      g[0] = input_gradient(dweight, gys[0], in[0]);
    }
    if (needed[1] && dx.defined()) {
      g[1] = weight_gradient(dx, gys[0], in[1]);
    }
    if (needed[3]) {
      g[3] = at::empty(gys[0].sizes(), gys[0].options());
      if (dx.defined()) {
        apply(dx, in[1], false, dpart, false, g[3]);
      }
      if (dweight.defined()) {
        apply(in[0], dweight, false, dx.defined() ? Tensor() : dpart, dx.defined(), g[3]);
      }
      if (!dx.defined() && !dweight.defined()) {
        g[3].zero_();
        if (dpart.defined()) {
          g[3].select(0, 0).copy_(dpart);
        }
      }
    }
    return g;
  }

 private:
  /// Floating-point operations of the map: a multiply-add, two, for each component that a map takes to another.
  static double products_of(const Tensors& in) {
    int64_t terms = 0;
    for (const kernels::GradeMap& map : kernels::grade_map) {
      terms += map.count;
    }
    return 2 * static_cast<double>(terms * in[0].size(1) * in[1].size(0) * in[1].size(1));
  }

  /// y = map of x, or with `add` y += it; `transposed` from the gradient of y to that of x.
  static void apply(const Tensor& x, const Tensor& weight, bool transposed, const Tensor& scalar_part,
                    bool add, const Tensor& y) {
    const Tensor w = weight.contiguous(), part = contiguous_of(scalar_part);
    const ComponentRows from(x), to(y);
    const int64_t inputs = x.size(2), outputs = y.size(2);
    with_type(y.scalar_type(), [&](auto zero) {
      using T = decltype(zero);
      const auto& kernel = kernels::best<kernels::GradeLinear<T>>();
      const Tensor packed = at::empty({kernel.packed(inputs, outputs)}, y.options());
      kernel.pack(numbers<T>(w), w.size(0), w.size(1), transposed, mutable_numbers<T>(packed));
      share_out(x.size(1), workers_worth(x.size(1), cost(inputs, outputs)),
                [&](int64_t, int64_t first, int64_t last) {
                  kernel.apply(from.read<T>(), inputs, numbers<T>(packed), transposed, numbers<T>(part),
                               outputs, add, to.write<T>(), outputs, first, last);
                });
    });
  }

  static Tensor input_gradient(const Tensor& weight, const Tensor& gy, const Tensor& x) {
    const Tensor gx = at::empty(x.sizes(), x.options());
    apply(gy, weight, true, {}, false, gx);
    return gx;
  }

  static Tensor weight_gradient(const Tensor& x, const Tensor& gy, const Tensor& weight) {
    const int64_t outputs = weight.size(0), inputs = weight.size(1), tokens = x.size(1),
                  workers = workers_worth(tokens, cost(inputs, outputs));
    const Tensor sums = at::zeros({workers, kernels::grade_maps * outputs * inputs}, x.options()),
                 gweight = at::empty(weight.sizes(), weight.options());
    const ComponentRows from(x), g(gy);
    with_type(x.scalar_type(), [&](auto zero) {
      using T = decltype(zero);
      const auto& kernel = kernels::best<kernels::GradeLinear<T>>();
      share_out(tokens, workers, [&](int64_t w, int64_t first, int64_t last) {
        kernel.weight_gradient(from.read<T>(), inputs, g.read<T>(), outputs, row_of<T>(sums, w), first, last);
      });
      const Tensor total = workers == 1 ? sums : sums.sum(0);
      kernel.unpack(numbers<T>(total), outputs, inputs, mutable_numbers<T>(gweight));
    });
    return gweight;
  }

  /// Nanoseconds of a token: measured, at 80 GFLOP/s.
  static double cost(int64_t inputs, int64_t outputs) {
    return 50 + 0.6 * static_cast<double>(inputs * outputs);
  }
};

}  // namespace

Tensor grade_linear(const Tensor& x, const Tensor& weight, const Tensor& scalar_part) {
  const char* where = "grade_linear";
  require_multivectors(where, "x", x);
  require(weight.defined() && weight.dim() == 3 && weight.size(1) == x.size(2) &&
              weight.size(2) == kernels::grade_maps,
          where, ": weight must be (O, ", x.size(2), ", 9), got ",
          weight.defined() ? weight.sizes() : at::IntArrayRef{});
  require(!scalar_part.defined() || (scalar_part.dim() == 2 && scalar_part.size(0) == x.size(1) &&
                                     scalar_part.size(1) == weight.size(0)),
          where, ": scalar_part must be (", x.size(1), ", ", weight.size(0), "), got ",
          scalar_part.defined() ? scalar_part.sizes() : at::IntArrayRef{});
  return call(std::make_shared<GradeLinear>(), {x, weight, scalar_part})[0];
}

}  // namespace weyl
