#include "weyl/ops/edges/gaussian_densities.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/exp.h>
#include <ATen/ops/zeros.h>
#include <cmath>
#include <memory>
#include <numbers>

#include "weyl/core/check.h"
#include "weyl/kernels/dispatch.h"
#include "weyl/kernels/edges/gaussian_densities.h"
#include "weyl/ops/autograd/kernel_inputs.h"
#include "weyl/ops/autograd/parallel.h"

namespace weyl {

Tensor exp_or_zero(const Tensor& x) {
  return at::exp(x).masked_fill(x < -64, 0);
}

namespace {

constexpr double density_nanoseconds = 1.5;  // of a density: estimated, to be measured

/// Inputs u (N), means (K), widths (K).
class GaussianDensitiesOp : public Differentiable {
 public:
  Tensors reference(const Tensors& in) const override {
    const Tensor z = (in[0].unsqueeze(1) - in[1]) / in[2];
    return {exp_or_zero(z * z * -0.5) / (in[2] * std::sqrt(2 * std::numbers::pi))};
  }
  bool has_forward(const Tensors& in) const override { return kernels_take(in); }
  bool has_backward(const Tensors& in) const override { return kernels_take(in); }
  bool has_second(const Tensors& in) const override { return kernels_take(in); }

  Tensors forward(const Tensors& in) const override {
    const Contiguous x(in);
    const Tensor b = at::empty({x.rows, x.count}, x.u.options());
    with_type(x.u.scalar_type(), [&](auto zero) {
      using T = decltype(zero);
      const auto& kernel = kernels::best<kernels::GaussianDensities<T>>();
      share_out(x.rows, x.workers(), [&](int64_t, int64_t first, int64_t last) {
        kernel.forward(x.arguments<T>(), b.mutable_data_ptr<T>(), first, last);
      });
    });
    return {b};
  }

  Tensors backward(const Tensors& in, const Tensors&, const Tensors& gbs,
                   const std::vector<bool>& needed) const override {
    const Contiguous x(in);
    const Tensor gb = gbs[0].contiguous();
    const Sums sums(x, needed);
    with_type(x.u.scalar_type(), [&](auto zero) {
      using T = decltype(zero);
      const auto& kernel = kernels::best<kernels::GaussianDensities<T>>();
      share_out(x.rows, x.workers(), [&](int64_t w, int64_t first, int64_t last) {
        kernel.backward(x.arguments<T>(), numbers<T>(gb), mutable_numbers<T>(sums.u),
                        row_of<T>(sums.means, w), row_of<T>(sums.widths, w), first, last);
      });
    });
    return sums.gradients();
  }

  Tensors second(const Tensors& in, const Tensors&, const Tensors& gbs, const Tensors& directions,
                 const std::vector<bool>& needed) const override {
    const Contiguous x(in);
    const Tensor gb = gbs[0].contiguous(), du = contiguous_of(directions[0]),
                 dm = contiguous_of(directions[1]), ds = contiguous_of(directions[2]);
    const Sums sums(x, needed);
    const Tensor ggb = needed[3] ? at::empty({x.rows, x.count}, x.u.options()) : Tensor();
    with_type(x.u.scalar_type(), [&](auto zero) {
      using T = decltype(zero);
      const auto& kernel = kernels::best<kernels::GaussianDensities<T>>();
      share_out(x.rows, x.workers(), [&](int64_t w, int64_t first, int64_t last) {
        kernel.second(x.arguments<T>(), numbers<T>(gb), numbers<T>(du), numbers<T>(dm), numbers<T>(ds),
                      mutable_numbers<T>(sums.u), row_of<T>(sums.means, w), row_of<T>(sums.widths, w),
                      mutable_numbers<T>(ggb), first, last);
      });
    });
    Tensors result = sums.gradients();
    result.push_back(ggb);
    return result;
  }

 private:
  /// What the kernels read.
  struct Contiguous {
    Tensor u, means, inverse;
    int64_t rows, count;
    explicit Contiguous(const Tensors& in)
        : u(in[0].contiguous()),
          means(in[1].contiguous()),
          inverse(in[2].reciprocal().contiguous()),
          rows(u.size(0)),
          count(means.size(0)) {}
    int64_t workers() const { return workers_worth(rows * count, density_nanoseconds); }
    template <class T>
    kernels::GaussianDensitiesInput<T> arguments() const {
      return {count, numbers<T>(u), numbers<T>(means), numbers<T>(inverse)};
    }
  };
  /// Gradients of the inputs that are needed; those of means and widths by worker.
  struct Sums {
    Tensor u, means, widths;
    Sums(const Contiguous& x, const std::vector<bool>& needed) {
      const auto by_worker = [&](bool wanted) {
        return wanted ? at::zeros({x.workers(), x.count}, x.u.options()) : Tensor();
      };
      u = needed[0] ? at::empty({x.rows}, x.u.options()) : Tensor();
      means = by_worker(needed[1]);
      widths = by_worker(needed[2]);
    }
    Tensors gradients() const {
      return {u, means.defined() ? means.sum(0) : Tensor(), widths.defined() ? widths.sum(0) : Tensor()};
    }
  };
};

}  // namespace

Tensor gaussian_densities(const Tensor& u, const Tensor& means, const Tensor& widths) {
  const auto shape = [](const Tensor& x) { return x.defined() ? x.sizes() : at::IntArrayRef{}; };
  require(u.defined() && u.dim() == 1 && u.is_floating_point(),
          "gaussian_densities: u must be (N) floating, got ", shape(u));
  for (const Tensor& x : {means, widths}) {
    require(x.defined() && x.dim() == 1 && x.sizes() == means.sizes() && x.scalar_type() == u.scalar_type(),
            "gaussian_densities: means and widths must be (K) in the dtype of u, got ", shape(means), " and ",
            shape(widths));
  }
  return call(std::make_shared<GaussianDensitiesOp>(), {u, means, widths})[0];
}

}  // namespace weyl
