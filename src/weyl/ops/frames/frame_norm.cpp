#include "weyl/ops/frames/frame_norm.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>
#include <memory>

#include "weyl/core/check.h"
#include "weyl/kernels/dispatch.h"
#include "weyl/kernels/frames/frame_norm.h"
#include "weyl/ops/autograd/kernel_inputs.h"
#include "weyl/ops/autograd/parallel.h"
#include "weyl/ops/frames/frames.h"

namespace weyl {
namespace {

constexpr double nanoseconds = 0.5;  // of a number: estimated, to be measured

/// Inputs x (N, G C), branch (N, G C), offset (C), weight (C), bias (C), the last two may be undefined: then the row
/// is one frame. Results sum and normed, or normed alone without a branch. By-products: mean and rstd (N, G).
class BranchAndNorm : public Differentiable {
 public:
  BranchAndNorm(bool branch, double epsilon) : branch_(branch), epsilon_(epsilon) {}
  size_t results() const override { return branch_ ? 2 : 1; }

  Tensors reference(const Tensors& in) const override {
    const int64_t channels = channels_of(in);
    const Tensor sum = branch_ ? in[0] + add_to_frames(in[1], in[2]) : in[0];
    const Tensor normed = at::layer_norm(sum.reshape({sum.size(0), sum.size(1) / channels, channels}),
                                         {channels}, in[3], in[4], epsilon_)
                              .view(sum.sizes());
    return branch_ ? Tensors{sum, normed} : Tensors{normed};
  }
  bool has_forward(const Tensors& in) const override { return kernels_take(in); }
  bool has_backward(const Tensors& in) const override { return kernels_take(in); }
  bool has_second(const Tensors& in) const override { return kernels_take(in); }

  Tensors forward(const Tensors& in) const override {
    const Tensor x = in[0].contiguous(), branch = contiguous_of(in[1]), offset = contiguous_of(in[2]);
    const Tensor weight = contiguous_of(in[3]), bias = contiguous_of(in[4]);
    const int64_t channels = channels_of(in), frames = x.size(1) / channels;
    const Tensor sum = branch_ ? at::empty(x.sizes(), x.options()) : Tensor();
    const Tensor normed = at::empty(x.sizes(), x.options()),
                 mean = at::empty({x.size(0), frames}, x.options());
    const Tensor rstd = at::empty(mean.sizes(), x.options());
    with_type(x.scalar_type(), [&](auto zero) {
      using T = decltype(zero);
      kernels::FrameNormInput<T> f{frames,
                                   channels,
                                   static_cast<T>(epsilon_),
                                   numbers<T>(x),
                                   numbers<T>(branch),
                                   numbers<T>(offset),
                                   numbers<T>(weight),
                                   numbers<T>(bias)};
      const auto& kernel = kernels::best<kernels::FrameNorm<T>>();
      share_out(x.size(0), workers_worth(x.numel(), nanoseconds), [&](int64_t, int64_t first, int64_t last) {
        kernel.forward(f, mutable_numbers<T>(sum), mutable_numbers<T>(normed), mutable_numbers<T>(mean),
                       mutable_numbers<T>(rstd), first, last);
      });
    });
    return branch_ ? Tensors{sum, normed, mean, rstd} : Tensors{normed, mean, rstd};
  }

  Tensors backward(const Tensors& in, const Tensors& out, const Tensors& gys,
                   const std::vector<bool>& needed) const override {
    const Tensor sum = branch_ ? out[0] : in[0].contiguous();
    const Tensor &mean = out[results()], &rstd = out[results() + 1];
    const Tensor weight = contiguous_of(in[3]), bias = contiguous_of(in[4]);
    const Tensor gsum = branch_ ? gys[0].contiguous() : Tensor(), gnormed = gys[results() - 1].contiguous();
    const int64_t channels = channels_of(in), frames = sum.size(1) / channels;
    const int64_t workers = workers_worth(sum.numel(), nanoseconds);
    const Tensor gx = needed[0] || needed[1] ? at::empty(sum.sizes(), sum.options()) : Tensor();
    const Tensor totals = at::zeros({3, workers, channels}, sum.options());  // weight, bias, offset
    with_type(sum.scalar_type(), [&](auto zero) {
      using T = decltype(zero);
      kernels::FrameNormInput<T> f{frames,  channels, static_cast<T>(epsilon_), numbers<T>(sum),
                                   nullptr, nullptr,  numbers<T>(weight),       numbers<T>(bias)};
      const auto& kernel = kernels::best<kernels::FrameNorm<T>>();
      share_out(sum.size(0), workers, [&](int64_t w, int64_t first, int64_t last) {
        const auto total = [&](int64_t i, bool wanted) {
          return wanted ? totals.mutable_data_ptr<T>() + (i * workers + w) * channels : nullptr;
        };
        kernel.backward(f, numbers<T>(mean), numbers<T>(rstd), numbers<T>(gsum), numbers<T>(gnormed),
                        mutable_numbers<T>(gx), total(0, needed[3]), total(1, needed[4]), total(2, needed[2]),
                        first, last);
      });
    });
    const Tensor summed = totals.sum(1);
    Tensors g(5);
    g[0] = gx;
    g[1] = gx;
    g[2] = needed[2] ? summed[2] : Tensor();
    g[3] = needed[3] ? summed[0] : Tensor();
    g[4] = needed[4] ? summed[1] : Tensor();
    return g;
  }

  Tensors second(const Tensors& in, const Tensors& out, const Tensors& gys, const Tensors& gg,
                 const std::vector<bool>& needed) const override {
    const Tensor sum = branch_ ? out[0] : in[0].contiguous();
    const Tensor &mean = out[results()], &rstd = out[results() + 1];
    const Tensor weight = contiguous_of(in[3]), gnormed = gys[results() - 1].contiguous();
    Tensors d;
    for (const Tensor& tangent : gg) {
      d.push_back(contiguous_of(tangent));
    }
    const auto like_sum = [&](bool wanted) {
      return wanted ? at::empty(sum.sizes(), sum.options()) : Tensor();
    };
    const size_t of_normed = in.size() + results() - 1;
    const Tensor gx = like_sum(needed[0] || needed[1]), ggsum = like_sum(branch_ && needed[in.size()]),
                 ggnormed = like_sum(needed[of_normed]);
    const int64_t channels = channels_of(in), workers = workers_worth(sum.numel(), 2 * nanoseconds);
    const Tensor totals = at::zeros({2, workers, channels}, sum.options());  // weight, offset
    with_type(sum.scalar_type(), [&](auto zero) {
      using T = decltype(zero);
      const kernels::FrameNormInput<T> f{sum.size(1) / channels, channels, static_cast<T>(epsilon_),
                                         numbers<T>(sum),        nullptr,  nullptr,
                                         numbers<T>(weight)};
      const kernels::FrameNormTangents<T> tangents{numbers<T>(d[0]), numbers<T>(d[1]), numbers<T>(d[2]),
                                                   numbers<T>(d[3]), numbers<T>(d[4])};
      const auto& kernel = kernels::best<kernels::FrameNorm<T>>();
      share_out(sum.size(0), workers, [&](int64_t w, int64_t first, int64_t last) {
        const auto total = [&](int64_t i, bool wanted) {
          return wanted ? totals.mutable_data_ptr<T>() + (i * workers + w) * channels : nullptr;
        };
        kernel.second(f, numbers<T>(mean), numbers<T>(rstd), numbers<T>(gnormed), tangents,
                      mutable_numbers<T>(gx), mutable_numbers<T>(ggsum), mutable_numbers<T>(ggnormed),
                      total(0, needed[3]), total(1, needed[2]), first, last);
      });
    });
    const Tensor summed = totals.sum(1);
    Tensors g{gx, gx, needed[2] ? summed[1] : Tensor(), needed[3] ? summed[0] : Tensor(), Tensor()};
    if (branch_) {
      g.push_back(ggsum);
    }
    g.push_back(ggnormed);
    return g;
  }

 private:
  static int64_t channels_of(const Tensors& in) {
    return in[3].defined() ? in[3].size(0) : std::max<int64_t>(in[0].size(1), 1);
  }

  bool branch_;
  double epsilon_;
};

/// Inputs x, branch (N, G C), offset (C).
class Branch : public Differentiable {
 public:
  Tensors reference(const Tensors& in) const override { return {in[0] + add_to_frames(in[1], in[2])}; }
  bool has_forward(const Tensors& in) const override { return kernels_take(in); }
  bool has_backward(const Tensors& in) const override { return kernels_take(in); }
  bool has_second(const Tensors& in) const override { return kernels_take(in); }

  Tensors forward(const Tensors& in) const override {
    const Tensor x = in[0].contiguous(), branch = in[1].contiguous(), offset = contiguous_of(in[2]);
    const Tensor sum = at::empty(x.sizes(), x.options());
    const int64_t channels = offset.defined() ? offset.size(0) : x.size(1);
    with_type(x.scalar_type(), [&](auto zero) {
      using T = decltype(zero);
      kernels::FrameNormInput<T> f{x.size(1) / channels, channels,           T(0),    numbers<T>(x),
                                   numbers<T>(branch),   numbers<T>(offset), nullptr, nullptr};
      const auto& kernel = kernels::best<kernels::FrameNorm<T>>();
      share_out(x.size(0), workers_worth(x.numel(), nanoseconds), [&](int64_t, int64_t first, int64_t last) {
        kernel.forward(f, sum.mutable_data_ptr<T>(), nullptr, nullptr, nullptr, first, last);
      });
    });
    return {sum};
  }

  Tensors backward(const Tensors& in, const Tensors&, const Tensors& gys,
                   const std::vector<bool>& needed) const override {
    Tensors g{gys[0], gys[0], Tensor()};
    if (needed[2]) {
      const Tensor gy = gys[0].contiguous();
      const int64_t channels = in[2].size(0), workers = workers_worth(gy.numel(), nanoseconds);
      const Tensor totals = at::zeros({workers, channels}, gy.options());
      with_type(gy.scalar_type(), [&](auto zero) {
        using T = decltype(zero);
        const auto& kernel = kernels::best<kernels::FrameNorm<T>>();
        share_out(gy.size(0), workers, [&](int64_t w, int64_t first, int64_t last) {
          kernel.sum_frames(numbers<T>(gy), gy.size(1), channels, totals.mutable_data_ptr<T>() + w * channels,
                            first, last);
        });
      });
      g[2] = totals.sum(0);
    }
    return g;
  }

  // Linear: only what the gradient of the sum gets is not zero.
  Tensors second(const Tensors&, const Tensors&, const Tensors& gys, const Tensors& gg,
                 const std::vector<bool>&) const override {
    Tensor ggy;
    for (const Tensor& tangent : {gg[0], gg[1]}) {
      if (tangent.defined()) {
        ggy = ggy.defined() ? ggy + tangent : tangent;
      }
    }
    if (gg[2].defined()) {
      ggy = add_to_frames(ggy.defined() ? ggy.contiguous() : at::zeros_like(gys[0]), gg[2]);
    }
    return {Tensor(), Tensor(), Tensor(), ggy};
  }
};

void require_branch(const char* where, const Tensor& x, const Tensor& branch, const Tensor& branch_bias) {
  require(x.sizes() == branch.sizes() && x.scalar_type() == branch.scalar_type(), where,
          ": x and branch must agree, got ", x.sizes(), " ", x.scalar_type(), " and ", branch.sizes(), " ",
          branch.scalar_type());
  require_frames(where, branch, branch_bias);
}

void require_norm(const char* where, const Tensor& x, const Tensor& weight, const Tensor& bias) {
  require(weight.defined() == bias.defined() && (!weight.defined() || weight.sizes() == bias.sizes()), where,
          ": weight and bias must both be (C), or both undefined");
  require_frames(where, x, weight);
  require_frames(where, x, bias);
}

}  // namespace

Tensor frame_layer_norm(const Tensor& x, const Tensor& weight, const Tensor& bias, double epsilon) {
  require_norm("frame_layer_norm", x, weight, bias);
  return call(std::make_shared<BranchAndNorm>(false, epsilon), {x, {}, {}, weight, bias})[0];
}

Tensor add_branch(const Tensor& x, const Tensor& branch, const Tensor& branch_bias) {
  require_branch("add_branch", x, branch, branch_bias);
  return call(std::make_shared<Branch>(), {x, branch, branch_bias})[0];
}

NormedSum add_branch_and_norm(const Tensor& x, const Tensor& branch, const Tensor& branch_bias,
                              const Tensor& weight, const Tensor& bias, double epsilon) {
  const char* where = "add_branch_and_norm";
  require_branch(where, x, branch, branch_bias);
  require_norm(where, x, weight, bias);
  const int64_t channels = weight.defined() ? weight.size(0) : x.size(1);
  require(!branch_bias.defined() || branch_bias.size(0) == channels, where, ": branch_bias must be (",
          channels, "), as wide as a frame, got ",
          branch_bias.defined() ? branch_bias.sizes() : at::IntArrayRef{});
  const Tensors both =
      call(std::make_shared<BranchAndNorm>(true, epsilon), {x, branch, branch_bias, weight, bias});
  return {both[0], both[1]};
}

}  // namespace weyl
