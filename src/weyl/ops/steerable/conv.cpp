#include "weyl/ops/steerable/conv.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/conv3d.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/index_add.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include <algorithm>

#include "weyl/core/check.h"
#include "weyl/kernels/dispatch.h"
#include "weyl/ops/autograd/differentiable.h"
#include "weyl/ops/autograd/kernel_inputs.h"
#include "weyl/ops/autograd/operations.h"
#include "weyl/ops/autograd/parallel.h"
#include "weyl/ops/constants.h"

namespace weyl::steerable {
namespace {

constexpr double conv_nanoseconds = 0.15;  // of a real multiplication of the plan: estimated, to be measured

/// Inputs x (B, 2 F, pixels...), weights (n, 2) of the plan.
class SteerableConvOp : public Differentiable {
 public:
  SteerableConvOp(std::shared_ptr<const Kernel> kernel, bool same)
      : kernel_(std::move(kernel)), plan_(kernel_->plan()), same_(same) {}

  Tensors reference(const Tensors& in) const override {
    const Tensor dense = kernel_->expand(in[1]);
    const std::vector<int64_t> padding(static_cast<size_t>(in[0].dim() - 2),
                                       same_ ? (plan_->size - 1) / 2 : 0);
    const std::vector<int64_t> one(padding.size(), 1);
    return {in[0].dim() == 4 ? at::conv2d(in[0], dense, {}, one, padding)
                             : at::conv3d(in[0], dense, {}, one, padding)};
  }
  bool has_forward(const Tensors& in) const override { return kernels_take(in); }
  bool has_backward(const Tensors& in) const override { return kernels_take(in); }

  Tensors forward(const Tensors& in) const override {
    const Tensor x = in[0].contiguous(), w = unshared(in[1]);
    return with_type(x.scalar_type(), [&](auto zero) -> Tensors {
      using T = decltype(zero);
      const Operands<T> a(x, w, *this);
      count_operations(a.products());
      const Tensor y = plan_->complete ? at::empty(a.shape, x.options()) : at::zeros(a.shape, x.options());
      const auto& kernel = kernels::best<kernels::SteerableConv<T>>();
      const int64_t tiles = kernel.tiles(a.input);
      const int64_t workers =
          workers_worth(tiles, a.nanoseconds_of(*plan_) / static_cast<double>(std::max<int64_t>(tiles, 1)));
      const int64_t size = kernel.scratch(a.input, false);
      const Tensor scratch = at::zeros({workers, size}, x.options());
      share_out(tiles, workers, [&](int64_t worker, int64_t first, int64_t last) {
        kernel.forward(a.input, mutable_numbers<T>(y), mutable_numbers<T>(scratch) + worker * size, first,
                       last);
      });
      return {y};
    });
  }

  Tensors backward(const Tensors& in, const Tensors&, const Tensors& gys,
                   const std::vector<bool>& needed) const override {
    const Tensor x = in[0].contiguous(), w = unshared(in[1]), gy = gys[0].contiguous();
    return with_type(x.scalar_type(), [&](auto zero) -> Tensors {
      using T = decltype(zero);
      const Operands<T> a(x, w, *this);
      count_operations((needed[0] + needed[1]) * a.products());
      const int64_t chunks = plan_->chunks(), batch = x.size(0);
      const int64_t pieces = std::max<int64_t>(chunks * batch, 1);
      const int64_t threads =
          workers_worth(pieces, 2 * a.nanoseconds_of(*plan_) / static_cast<double>(pieces));
      // Samples are shared out too where chunks of channels alone would leave workers idle.
      const int64_t splits =
          chunks % threads == 0 || chunks >= 8 * threads ? 1 : std::min(batch, 2 * threads / chunks + 1);
      const Tensor gx = needed[0] ? at::zeros(x.sizes(), x.options()) : Tensor();
      const Tensor gw = needed[1] ? at::zeros({splits, w.size(0), 2}, w.options()) : Tensor();
      const int64_t workers = std::min(threads, std::max<int64_t>(chunks * splits, 1));
      const int64_t size = kernels::best<kernels::SteerableConv<T>>().scratch(a.input, true);
      const Tensor scratch = at::zeros({workers, size}, x.options());
      const auto& kernel = kernels::best<kernels::SteerableConvBackward<T>>();
      share_out(chunks * splits, workers, [&](int64_t worker, int64_t first, int64_t last) {
        for (int64_t k = first; k < last; ++k) {
          const int64_t split = k / chunks, chunk = k % chunks;
          kernel.backward(a.input, numbers<T>(gy), mutable_numbers<T>(gx),
                          gw.defined() ? mutable_numbers<T>(gw) + split * w.numel() : nullptr,
                          mutable_numbers<T>(scratch) + worker * size, chunk, chunk + 1,
                          batch * split / splits, batch * (split + 1) / splits);
        }
      });
      Tensors g{gx, Tensor()};
      if (needed[1]) {
        g[1] = splits == 1 ? gw[0] : gw.sum(0);
        if (!plan_->weight_index.empty()) {
          g[1] = at::zeros(in[1].sizes(), in[1].options()).index_add(0, index(at::kCPU), g[1]);
        }
      }
      return g;
    });
  }

 private:
  Tensor index(at::Device device) const { return constant(plan_->weight_index, device); }
  Tensor unshared(const Tensor& w) const {
    return plan_->weight_index.empty() ? w.contiguous() : w.index_select(0, index(w.device()));
  }

  template <class T>
  struct Operands {
    Operands(const Tensor& x, const Tensor& w, const SteerableConvOp& op)
        : values(op.plan_->values.begin(), op.plan_->values.end()) {
      const Plan& plan = *op.plan_;
      const int64_t dimension = x.dim() - 2;
      shape = {x.size(0), 2 * op.kernel_->out.width()};
      for (int64_t a = 0; a < 3; ++a) {
        const bool real = a >= 3 - dimension;
        input.size[a] = real ? x.size(a - 1 + dimension) : 1;
        input.kernel[a] = real ? plan.size : 1;
        input.before[a] = real && op.same_ ? (plan.size - 1) / 2 : 0;
        input.out[a] = input.size[a] + 2 * input.before[a] - input.kernel[a] + 1;
        if (real) {
          shape.push_back(input.out[a]);
        }
      }
      input.batch = x.size(0);
      input.in_width = op.kernel_->in.width();
      input.out_width = op.kernel_->out.width();
      input.irreps = plan.irreps.data();
      input.irrep_count = static_cast<int64_t>(plan.irreps.size());
      input.pairs = plan.pairs.data();
      input.row_terms = plan.row_terms.data();
      input.terms = plan.terms.data();
      input.groups = plan.groups.data();
      input.group_count = static_cast<int64_t>(plan.groups.size());
      input.filters = plan.filters;
      input.taps = plan.taps.data();
      input.values = values.data();
      input.x = numbers<T>(x);
      input.weights = numbers<T>(w);
    }
    /// Floating-point operations of the dense convolution that this one is equal to, a multiply-add counting two.
    double products() const {
      double of_a_pair = 2 * 4 * static_cast<double>(input.batch);  // of complex numbers: four of real ones
      for (int64_t a = 0; a < 3; ++a) {
        of_a_pair *= static_cast<double>(input.out[a] * input.kernel[a]);
      }
      return of_a_pair * static_cast<double>(input.in_width * input.out_width);
    }
    /// Of a forward pass on one thread, about.
    double nanoseconds_of(const Plan& plan) const {
      double pixels = static_cast<double>(input.batch);
      for (const int64_t size : input.out) {
        pixels *= static_cast<double>(size);
      }
      return conv_nanoseconds * pixels * (plan.filter_work + plan.mixing_work);
    }
    std::vector<T> values;
    std::vector<int64_t> shape;
    kernels::SteerableConvInput<T> input;
  };

  std::shared_ptr<const Kernel> kernel_;
  std::shared_ptr<const Plan> plan_;
  bool same_;
};

}  // namespace

Tensor conv(const Tensor& x, const Tensor& weights, const std::shared_ptr<const Kernel>& kernel, bool same) {
  const char* where = "steerable_conv";
  const int64_t dimension = kernel->in.dimension;
  require(x.defined() && x.dim() == dimension + 2 && x.size(1) == 2 * kernel->in.width(), where,
          ": x must be (B, ", 2 * kernel->in.width(), ", ", dimension, " axes), got ",
          x.defined() ? x.sizes() : at::IntArrayRef{});
  require(weights.defined() && weights.sizes() == at::IntArrayRef({kernel->weights(), 2}) &&
              weights.scalar_type() == x.scalar_type(),
          where, ": weights must be (", kernel->weights(), ", 2) ", x.scalar_type(), ", got ",
          weights.defined() ? weights.sizes() : at::IntArrayRef{});
  require(kernel->plan() != nullptr, where, ": the kernel has no plan");
  for (int64_t a = 2; a < x.dim(); ++a) {
    require(same || x.size(a) >= kernel->plan()->size, where, ": x must not be smaller than the kernel of ",
            kernel->plan()->size, " pixels, got ", x.sizes());
  }
  return call(std::make_shared<SteerableConvOp>(kernel, same), {x, weights})[0];
}

bool conv_pays(const Tensor& x, const Kernel& kernel, bool same, bool expanded) {
  if (kernel.plan() == nullptr || !kernels_take({x}) || x.dim() != kernel.in.dimension + 2 ||
      x.numel() == 0) {
    return false;
  }
  const Plan& plan = *kernel.plan();
  double pixels = static_cast<double>(x.size(0)), taps = 1;
  for (int64_t a = 2; a < x.dim(); ++a) {
    const int64_t size = same ? x.size(a) : x.size(a) - plan.size + 1;
    if (size <= 0) {
      return false;
    }
    pixels *= static_cast<double>(size);
    taps *= static_cast<double>(plan.size);
  }
  const auto numbers = static_cast<double>(4 * kernel.in.width() * kernel.out.width());
  const double dense = numbers * taps * pixels + (expanded ? 0 : 4 * numbers * taps);
  // Measured: a multiplication of the dense form takes a third of the time of one here, and a number of the
  // result as long as 25. Margins of short rows are filtered with them.
  const int64_t last = same ? x.size(-1) : x.size(-1) - plan.size + 1;
  const double margin = static_cast<double>(last + plan.size - 1) / static_cast<double>(last);
  const double plain =
      3 * (plan.filter_work * margin + plan.mixing_work) + 50.0 * static_cast<double>(kernel.out.width());
  return plain * pixels < dense;
}

}  // namespace weyl::steerable
