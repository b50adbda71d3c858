#include "weyl/ops/vectors/vector_norm.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/eye.h>
#include <ATen/ops/linalg_cross.h>
#include <ATen/ops/linalg_eigvalsh.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/rsqrt.h>
#include <ATen/ops/zeros.h>
#include <memory>

#include "weyl/core/check.h"
#include "weyl/kernels/dispatch.h"
#include "weyl/kernels/vectors/vector_norm.h"
#include "weyl/ops/autograd/kernel_inputs.h"
#include "weyl/ops/autograd/parallel.h"

namespace weyl {
namespace {

/// x (...) as a factor of matrices (..., 3, 3).
Tensor of_matrices(const Tensor& x) {
  return x.unsqueeze(-1).unsqueeze(-1);
}

}  // namespace

Tensor inverse_square_root(const Tensor& given) {
  require(given.defined() && given.dim() >= 2 && given.size(-1) == 3 && given.size(-2) == 3,
          "inverse_square_root: c must be (..., 3, 3), got ",
          given.defined() ? given.sizes() : at::IntArrayRef{});
  const Tensor c = given.to(at::kDouble);
  const Tensor square = at::matmul(c, c);
  const Tensor i1 = c.diagonal(0, -2, -1).sum(-1);
  const Tensor i2 = (i1 * i1 - square.diagonal(0, -2, -1).sum(-1)) / 2;
  // The triple product of the rows: an elimination has derivatives that divide by its pivots.
  const Tensor i3 = (c.select(-2, 0) * at::linalg_cross(c.select(-2, 1), c.select(-2, 2))).sum(-1);
  const Tensor root = i3.sqrt();
  Tensor a, b;
  {
    const at::NoGradGuard constant;
    const Tensor s = at::linalg_eigvalsh(c.detach()).sqrt();
    a = s.sum(-1);
    b = (a * a - (s * s).sum(-1)) / 2;
  }
  for (int step = 0; step < 2; ++step) {
    const Tensor f1 = a * a - 2 * b - i1, f2 = b * b - 2 * a * root - i2;
    const Tensor determinant = 2 * (a * b - root);
    const Tensor da = (b * f1 + f2) / determinant, db = (root * f1 + a * f2) / determinant;
    a = a - da;
    b = b - db;
  }
  const Tensor unit = at::eye(3, c.options().requires_grad(false));
  const Tensor s =
      (of_matrices(a * a - b) * c - square + of_matrices(a * root) * unit) / of_matrices(a * b - root);
  return (c - of_matrices(a) * s + of_matrices(b) * unit) / of_matrices(root);
}

namespace {

constexpr double nanoseconds = 0.7;  // of a number: estimated, to be measured

/// Inputs x (N, 3, C) and weight (C). By-product: the state of the kernels, (N, vector_norm_state), float64.
class VectorNormOp : public Differentiable {
 public:
  VectorNormOp(double rho, double epsilon) : rho_(rho), epsilon_(epsilon) {}

  Tensors reference(const Tensors& in) const override {
    const Tensor &x = in[0], &weight = in[1];
    const Tensor a = x - x.mean(-1, /*keepdim=*/true);
    if (isotropic()) {
      return {a * at::rsqrt((a * a).mean({-2, -1}, /*keepdim=*/true) + epsilon_) * weight};
    }
    const Tensor whole = a.to(at::kDouble);
    const Tensor s = at::matmul(whole, whole.transpose(-1, -2)) / static_cast<double>(x.size(-1));
    const Tensor t = (s.diagonal(0, -2, -1).sum(-1) / 3).unsqueeze(-1).unsqueeze(-1);
    const Tensor tau = t + epsilon_;
    const Tensor unit = at::eye(3, s.options().requires_grad(false));
    // Its trace is 3 whatever the features' size, so that the roots stay in range.
    const Tensor scaled = ((1 - rho_) * s + (rho_ * t + epsilon_) * unit) / tau;
    const Tensor root = inverse_square_root(scaled) * tau.rsqrt();
    return {at::matmul(root, whole).to(x.scalar_type()) * weight};
  }
  bool has_forward(const Tensors& in) const override { return kernels_take(in); }
  bool has_backward(const Tensors& in) const override { return kernels_take(in); }
  bool has_second(const Tensors& in) const override { return isotropic() && kernels_take(in); }

  Tensors forward(const Tensors& in) const override {
    const Tensor x = in[0].contiguous(), weight = in[1].contiguous();
    const Tensor y = at::empty(x.sizes(), x.options());
    const Tensor state = at::empty({x.size(0), kernels::vector_norm_state}, x.options().dtype(at::kDouble));
    with_type(x.scalar_type(), [&](auto zero) {
      using T = decltype(zero);
      const auto& kernel = kernels::best<kernels::VectorNorm<T>>();
      share_out(x.size(0), workers_worth(x.numel(), nanoseconds), [&](int64_t, int64_t first, int64_t last) {
        kernel.forward(arguments<T>(x, weight), y.mutable_data_ptr<T>(), state.mutable_data_ptr<double>(),
                       first, last);
      });
    });
    return {y, state};
  }

  Tensors backward(const Tensors& in, const Tensors& out, const Tensors& gys,
                   const std::vector<bool>& needed) const override {
    const Tensor x = in[0].contiguous(), weight = in[1].contiguous(), gy = gys[0].contiguous();
    const int64_t workers = workers_worth(x.numel(), nanoseconds);
    const Tensor gx = needed[0] ? at::empty(x.sizes(), x.options()) : Tensor();
    const Tensor sums = needed[1] ? at::zeros({workers, weight.size(0)}, x.options()) : Tensor();
    with_type(x.scalar_type(), [&](auto zero) {
      using T = decltype(zero);
      const auto& kernel = kernels::best<kernels::VectorNorm<T>>();
      share_out(x.size(0), workers, [&](int64_t w, int64_t first, int64_t last) {
        kernel.backward(arguments<T>(x, weight), numbers<double>(out[1]), numbers<T>(gy),
                        mutable_numbers<T>(gx), row_of<T>(sums, w), first, last);
      });
    });
    return {gx, needed[1] ? sums.sum(0) : Tensor()};
  }

  Tensors second(const Tensors& in, const Tensors& out, const Tensors& gys, const Tensors& directions,
                 const std::vector<bool>& needed) const override {
    const Tensor x = in[0].contiguous(), weight = in[1].contiguous(), gy = gys[0].contiguous();
    const Tensor dx = contiguous_of(directions[0]), dweight = contiguous_of(directions[1]);
    const int64_t workers = workers_worth(x.numel(), nanoseconds);
    const Tensor gx = needed[0] ? at::empty(x.sizes(), x.options()) : Tensor(),
                 ggy = needed[2] ? at::empty(x.sizes(), x.options()) : Tensor();
    const Tensor sums = needed[1] ? at::zeros({workers, weight.size(0)}, x.options()) : Tensor();
    with_type(x.scalar_type(), [&](auto zero) {
      using T = decltype(zero);
      const auto& kernel = kernels::best<kernels::VectorNorm<T>>();
      share_out(x.size(0), workers, [&](int64_t w, int64_t first, int64_t last) {
        kernel.second(arguments<T>(x, weight), numbers<double>(out[1]), numbers<T>(gy), numbers<T>(dx),
                      numbers<T>(dweight), mutable_numbers<T>(gx), row_of<T>(sums, w),
                      mutable_numbers<T>(ggy), first, last);
      });
    });
    return {gx, needed[1] ? sums.sum(0) : Tensor(), ggy};
  }

 private:
  bool isotropic() const { return rho_ == 1; }

  template <class T>
  kernels::VectorNormInput<T> arguments(const Tensor& x, const Tensor& weight) const {
    return {x.size(2), rho_, epsilon_, numbers<T>(x), numbers<T>(weight)};
  }

  double rho_, epsilon_;
};

}  // namespace

Tensor vector_norm(const Tensor& x, const Tensor& weight, double rho, double epsilon) {
  require(x.defined() && x.dim() == 3 && x.size(1) == 3, "vector_norm: x must be (N, 3, C), got ",
          x.defined() ? x.sizes() : at::IntArrayRef{});
  require(weight.defined() && weight.dim() == 1 && weight.size(0) == x.size(2),
          "vector_norm: weight must be (", x.size(2), "), got ",
          weight.defined() ? weight.sizes() : at::IntArrayRef{});
  require(rho >= 0 && rho <= 1 && epsilon > 0, "vector_norm: rho must be in [0, 1] and epsilon above 0, got ",
          rho, " and ", epsilon);
  return call(std::make_shared<VectorNormOp>(rho, epsilon), {x, weight})[0];
}

}  // namespace weyl
