#include "weyl/ops/lie/elements.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/eye.h>
#include <ATen/ops/tensor.h>

#include <memory>
#include <vector>

#include "weyl/core/check.h"
#include "weyl/kernels/dispatch.h"
#include "weyl/kernels/lie/map_formulas.h"
#include "weyl/ops/autograd/kernel_inputs.h"
#include "weyl/ops/autograd/parallel.h"
#include "weyl/ops/constants.h"
#include "weyl/ops/lie/number.h"
#include "weyl/ops/lie/planes.h"

namespace weyl::lie {
namespace {

constexpr double element_nanoseconds = 20;  // of an element: estimated, to be measured

using kernels::LieMap;

/// (N, in) -> (N, out), row by row.
class MapRows : public Differentiable {
 public:
  MapRows(LieMap map, LieGroup group) : map_(map), group_(group) {}

  Tensors reference(const Tensors& in) const override {
    return lie_number::formulas::visit_map(map_, group_, [&]<class M, class G>(M, G) -> Tensors {
      const auto run = [&]<class S>(S) {
        return lie_number::rows_of(M::of(lie_number::columns_of<S, M::in>(in[0])), in[0].size(0),
                                   in[0].options());
      };
      if (is_rigid(G::group) && in[0].scalar_type() != at::kDouble) {
        return {run(lie_number::formulas::Computed<G, float>{})};
      }
      return {run(double{})};
    });
  }

  bool has_forward(const Tensors& in) const override { return kernels_take(in); }
  bool has_backward(const Tensors& in) const override { return kernels_take(in); }

  Tensors forward(const Tensors& in) const override {
    const Tensor x = in[0].contiguous();
    const int64_t out = lie_number::formulas::visit_map(
        map_, group_, [](auto map, auto) -> int64_t { return decltype(map)::out; });
    const Tensor y = at::empty({x.size(0), out}, x.options());
    with_type(x.scalar_type(), [&](auto zero) {
      using T = decltype(zero);
      const auto& kernel = kernels::best<kernels::LieMaps<T>>();
      share(x, [&](int64_t first, int64_t last) {
        kernel.forward(map_, group_, numbers<T>(x), mutable_numbers<T>(y), first, last);
      });
    });
    return {y};
  }

  Tensors backward(const Tensors& in, const Tensors&, const Tensors& gys,
                   const std::vector<bool>&) const override {
    const Tensor x = in[0].contiguous(), gy = gys[0].contiguous(), gx = at::empty(x.sizes(), x.options());
    with_type(x.scalar_type(), [&](auto zero) {
      using T = decltype(zero);
      const auto& kernel = kernels::best<kernels::LieMaps<T>>();
      share(x, [&](int64_t first, int64_t last) {
        kernel.backward(map_, group_, numbers<T>(x), numbers<T>(gy), mutable_numbers<T>(gx), first, last);
      });
    });
    return {gx};
  }

 private:
  template <class F>
  static void share(const Tensor& x, const F& work) {
    share_out(x.size(0), workers_worth(x.size(0), element_nanoseconds),
              [&](int64_t, int64_t first, int64_t last) { work(first, last); });
  }

  LieMap map_;
  LieGroup group_;
};

Tensor mapped(LieMap map, LieGroup group, const Tensor& x) {
  return call(std::make_shared<MapRows>(map, group), {x})[0];
}

void require_precision(const char* where, const char* name, const Tensor& x) {
  require(x.scalar_type() == at::kFloat || x.scalar_type() == at::kDouble, where, ": ", name,
          " must be float32 or float64, got ", x.scalar_type());
}

void require_rows(const char* where, const char* name, const Tensor& x, int64_t width) {
  require(x.defined() && x.dim() == 2 && x.size(1) == width, where, ": ", name, " must be (N, ", width,
          "), got ", x.defined() ? x.sizes() : at::IntArrayRef{});
  require_precision(where, name, x);
}

Tensor of_two(const char* where, LieMap map, const Tensor& a, const Tensor& b, LieGroup group) {
  require_rows(where, "a", a, compact_size(group));
  require_rows(where, "b", b, compact_size(group));
  require(a.size(0) == b.size(0) && a.scalar_type() == b.scalar_type(), where,
          ": a and b must have the same rows and dtype, got ", a.sizes(), " ", a.scalar_type(), " and ",
          b.sizes(), " ", b.scalar_type());
  require_rotations(where, a, group);
  require_rotations(where, b, group);
  return mapped(map, group, at::cat({a, b}, 1));
}

Tensor scales(const Tensor& w, LieGroup group) {
  const auto s = orthonormal_scales(group);
  require(w.dim() >= 1 && w.size(-1) == static_cast<int64_t>(s.size()), "to_orthonormal: w must be (..., ",
          s.size(), "), got ", w.sizes());
  return constant(at::ArrayRef<double>(s.data(), s.size()), w.scalar_type(), w.device());
}

}  // namespace

Tensor compact_elements(const Tensor& matrices, LieGroup group) {
  const int64_t m = matrix_size(group);
  require(matrices.defined() && matrices.dim() == 3 && matrices.size(1) == m && matrices.size(2) == m,
          "compact_elements: matrices of ", name_of(group), " must be (N, ", m, ", ", m, "), got ",
          matrices.defined() ? matrices.sizes() : at::IntArrayRef{});
  require_precision("compact_elements", "matrices", matrices);
  return mapped(LieMap::from_matrix, group, matrices.reshape({matrices.size(0), m * m}));
}

Tensor element_matrices(const Tensor& compact, LieGroup group) {
  require_rows("element_matrices", "elements", compact, compact_size(group));
  require_rotations("element_matrices", compact, group);
  const int64_t m = matrix_size(group);
  return mapped(LieMap::to_matrix, group, compact).view({compact.size(0), m, m});
}

Tensor exp(const Tensor& coordinates, LieGroup group) {
  require_rows("lie_exp", "coordinates", coordinates, degrees_of_freedom(group));
  return mapped(LieMap::exp, group, coordinates);
}

Tensor compose(const Tensor& a, const Tensor& b, LieGroup group) {
  return of_two("lie_compose", LieMap::compose, a, b, group);
}

Tensor between(const Tensor& a, const Tensor& b, LieGroup group) {
  return of_two("lie_between", LieMap::between, a, b, group);
}

Tensor frobenius_distances(const Tensor& a, const Tensor& b, LieGroup group) {
  const Tensor off = element_matrices(between(a, b, group), group) - at::eye(matrix_size(group), a.options());
  return off.square().sum({1, 2});
}

Tensor to_orthonormal(const Tensor& w, LieGroup group) {
  return w * scales(w, group);
}

Tensor from_orthonormal(const Tensor& w, LieGroup group) {
  return w / scales(w, group);
}

}  // namespace weyl::lie
