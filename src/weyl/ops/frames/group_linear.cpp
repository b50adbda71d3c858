#include "weyl/ops/frames/group_linear.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/zeros_like.h>

#include <memory>

#include "weyl/core/check.h"
#include "weyl/kernels/frames/group_kernel.h"
#include "weyl/ops/autograd/kernel_inputs.h"
#include "weyl/ops/autograd/parallel.h"

namespace weyl {
namespace {

constexpr double group_linear_nanoseconds = 0.5;  // of a number: estimated, to be measured

Tensor expanded(const Tensor& kernel, const Tensor& quotients) {
  const int64_t order = kernel.size(0), out = kernel.size(1), in = kernel.size(2);
  return kernel.index_select(0, quotients.flatten())
      .view({order, order, out, in})
      .permute({0, 2, 1, 3})
      .reshape({order * out, order * in});
}

/// Inputs: kernels (G, O_i, I). Linear in them, so its second derivative is zero by kernel and gradient, and
/// the expansion itself by the gradient of the gradient.
class ExpandGroupKernels : public Differentiable {
 public:
  explicit ExpandGroupKernels(Tensor quotients) : quotients_(std::move(quotients)) {}

  Tensors reference(const Tensors& in) const override {
    Tensors dense;
    for (const Tensor& kernel : in) {
      dense.push_back(expanded(kernel, quotients_));
    }
    return {dense.size() == 1 ? dense.front() : at::cat(dense, 0)};
  }
  bool has_forward(const Tensors& in) const override { return kernels_take(in); }
  bool has_backward(const Tensors& in) const override { return kernels_take(in); }
  bool has_second(const Tensors& in) const override { return kernels_take(in); }

  Tensors forward(const Tensors& in) const override {
    const int64_t order = in[0].size(0), width = order * in[0].size(2);
    int64_t rows = 0;
    for (const Tensor& kernel : in) {
      rows += order * kernel.size(1);
    }
    const Tensor dense = at::empty({rows, width}, in[0].options());
    int64_t first_row = 0;
    for (const Tensor& given : in) {
      const Tensor kernel = given.contiguous();
      with_type(kernel.scalar_type(), [&](auto zero) {
        using T = decltype(zero);
        T* to = dense.mutable_data_ptr<T>() + first_row * width;
        const int64_t count = order * kernel.size(1);
        share_out(count, workers_worth(count * width, group_linear_nanoseconds),
                  [&](int64_t, int64_t first, int64_t last) {
                    kernels::expand_group_kernel<T>(shape<T>(kernel), numbers<T>(kernel), to, first, last);
                  });
        first_row += count;
      });
    }
    return {dense};
  }

  Tensors backward(const Tensors& in, const Tensors&, const Tensors& gys,
                   const std::vector<bool>& needed) const override {
    const Tensor gdense = gys[0].contiguous();
    const int64_t width = gdense.size(1);
    Tensors g(in.size());
    int64_t first_row = 0;
    for (size_t i = 0; i < in.size(); ++i) {
      const int64_t order = in[i].size(0), out = in[i].size(1);
      if (needed[i]) {
        g[i] = at::empty(in[i].sizes(), in[i].options());
        with_type(in[i].scalar_type(), [&](auto zero) {
          using T = decltype(zero);
          const T* from = numbers<T>(gdense) + first_row * width;
          share_out(out, workers_worth(order * out * width, group_linear_nanoseconds),
                    [&](int64_t, int64_t first, int64_t last) {
                      kernels::gather_group_kernel<T>(shape<T>(in[i]), from,
                                                      g[i].template mutable_data_ptr<T>(), first, last);
                    });
        });
      }
      first_row += order * out;
    }
    return g;
  }

  Tensors second(const Tensors& in, const Tensors&, const Tensors&, const Tensors& gg,
                 const std::vector<bool>& needed) const override {
    Tensors g(in.size() + 1), directions;
    for (size_t i = 0; i < in.size(); ++i) {
      directions.push_back(gg[i].defined() ? gg[i] : at::zeros_like(in[i]));
    }
    if (needed[in.size()]) {
      g[in.size()] = forward(directions)[0];
    }
    return g;
  }

 private:
  template <class T>
  kernels::GroupKernel<T> shape(const Tensor& kernel) const {
    return {kernel.size(0), kernel.size(1), kernel.size(2), quotients_.const_data_ptr<int64_t>()};
  }

  Tensor quotients_;  // (G, G) int64: [h][g] = index of g^-1 h
};

}  // namespace

Tensor expand_group_kernel(const Tensor& kernel, const GroupTables& tables) {
  return expand_group_kernels({kernel}, tables);
}

Tensor expand_group_kernels(const std::vector<Tensor>& kernels, const GroupTables& tables) {
  const int64_t order = tables.group().order();
  require(!kernels.empty(), "expand_group_kernels: needs a kernel");
  for (const Tensor& kernel : kernels) {
    require(kernel.dim() == 3 && kernel.size(0) == order && kernel.size(2) == kernels[0].size(2),
            "expand_group_kernel: kernel must be (", order, ", O, I), I the same for all, got ",
            kernel.sizes());
  }
  return call(std::make_shared<ExpandGroupKernels>(tables.left_quotients(kernels[0].device())), kernels)[0];
}

}  // namespace weyl
