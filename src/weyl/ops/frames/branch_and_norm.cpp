#include "weyl/ops/frames/branch_and_norm.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/rsqrt.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <utility>

#include "weyl/kernels/dispatch.h"
#include "weyl/kernels/frames/frame_norm.h"
#include "weyl/ops/autograd/kernel_inputs.h"
#include "weyl/ops/autograd/operations.h"
#include "weyl/ops/frames/fourier_tables.h"
#include "weyl/ops/frames/frames.h"

namespace weyl {
namespace {

constexpr double frame_norm_nanoseconds = 0.5;  // of a number: estimated, to be measured

/// By-products of the norm: mean and rstd (N, G).
class BranchAndNorm : public Differentiable {
 public:
  explicit BranchAndNorm(BranchAndNormParts parts) : parts_(std::move(parts)) {}

  size_t results() const override { return (parts_.branch ? 1 : 0) + (parts_.norm ? count() : 0); }

  Tensors reference(const Tensors& in) const override {
    Tensor sum = in[kX];
    Tensors results;
    if (parts_.branch) {
      const int64_t channels = channels_of(in);
      Tensor branch = parts_.planes ? rows_of_planes(branch_of(in), *parts_.planes) : in[kBranch];
      branch = add_to_frames(branch, in[kOffset]);
      if (in[kScale].defined()) {
        branch = (branch.view({branch.size(0), branch.size(1) / channels, channels}) * in[kScale])
                     .view(branch.sizes());
      }
      branch = in[kRows].defined() ? branch * in[kRows].unsqueeze(1) : branch;
      sum = sum + (in[kNoise].defined() ? branch * in[kNoise] : branch);
      results.push_back(sum);
    }
    if (parts_.norm) {
      const Tensor normed = normed_reference(sum, in);
      const Tensors function = parts_.planes ? planes_of_rows(normed, *parts_.planes) : Tensors{normed};
      results.insert(results.end(), function.begin(), function.end());
    }
    return results;
  }
  bool has_forward(const Tensors& in) const override { return kernels_take(in); }
  bool has_backward(const Tensors& in) const override { return kernels_take(in); }
  // Not with a scale, by which the branch is multiplied.
  bool has_second(const Tensors& in) const override { return kernels_take(in) && !in[kScale].defined(); }

  Tensors forward(const Tensors& in) const override {
    tell_operations(in);
    const Tensors dense = densified(in), branch = branch_of(dense);
    const Tensor& x = dense[kX];
    const int64_t frames = x.size(1) / channels_of(in);
    const auto new_tensor = [&](bool wanted, at::IntArrayRef sizes) {
      return wanted ? at::empty(sizes, x.options()) : Tensor();
    };
    const Tensor sum = new_tensor(parts_.branch, x.sizes()),
                 mean = new_tensor(parts_.norm, {x.size(0), frames}),
                 rstd = new_tensor(parts_.norm, {x.size(0), frames});
    const Tensors normed = parts_.norm ? new_function(x) : Tensors();
    with_type(x.scalar_type(), [&](auto zero) {
      using T = decltype(zero);
      const FunctionTiles<T> branch_tiles = tiles_of<T>(branch), normed_tiles = tiles_of<T>(normed);
      const auto& kernel = kernels::best<kernels::FrameNorm<T>>();
      share_tiles<T>(x.size(0), x.size(1), workers_of(x), parts_.planes ? 1 : 0, [&](const Tile<T>& tile) {
        auto input = terms<T>(dense, tile);
        input.a = at_row<T>(x, tile);
        input.b = branch_tiles.read(tile.first, tile.last, tile.buffer(0));
        T* to = normed_tiles.place(tile.first, tile.buffer(0));
        kernel.forward(input, at_row<T>(sum, tile), to, at_row<T>(mean, tile), at_row<T>(rstd, tile), 0,
                       tile.count());
        normed_tiles.written(to, tile.first, tile.last);
      });
    });
    Tensors results = parts_.branch ? Tensors{sum} : Tensors();
    results.insert(results.end(), normed.begin(), normed.end());
    if (parts_.norm) {
      results.insert(results.end(), {mean, rstd});
    }
    return results;
  }

  Tensors backward(const Tensors& in, const Tensors& out, const Tensors& gys,
                   const std::vector<bool>& needed) const override {
    tell_operations(in);
    const Saved saved(*this, in, out, gys);
    const Tensor& sum = saved.sum;
    const bool of_branch = parts_.branch && any_from(needed, kBranch, count()),
               ends_branch = of_branch || needed[kOffset] || needed[kScale];
    const Tensor gx = parts_.norm ? at::empty(sum.sizes(), sum.options()) : saved.gsum;
    const Tensors gbranch = of_branch && !shares_gradient(in) ? new_function(sum) : Tensors();
    const Tensors branch = needed[kScale] ? branch_of(saved.in) : Tensors();
    const Tensor totals = at::zeros({4, workers_of(sum), channels_of(in)}, sum.options());
    with_type(sum.scalar_type(), [&](auto zero) {
      using T = decltype(zero);
      const FunctionTiles<T> gnormed_tiles = tiles_of<T>(saved.gnormed), branch_tiles = tiles_of<T>(branch),
                             gbranch_tiles = tiles_of<T>(gbranch);
      const auto& kernel = kernels::best<kernels::FrameNorm<T>>();
      share_tiles<T>(
          sum.size(0), sum.size(1), workers_of(sum), parts_.planes ? 1 : 0, [&](const Tile<T>& tile) {
            const auto total = [&](int64_t i, bool wanted) {
              return row_of_total<T>(totals, i, tile.worker, wanted);
            };
            auto input = terms<T>(saved.in, tile);
            if (parts_.norm) {
              input.a = at_row<T>(sum, tile);
              kernel.backward(input, at_row<T>(saved.mean, tile), at_row<T>(saved.rstd, tile),
                              at_row<T>(saved.gsum, tile),
                              gnormed_tiles.read(tile.first, tile.last, tile.buffer(0)), at_row<T>(gx, tile),
                              total(0, needed[kWeight]), total(1, needed[kBias]), 0, tile.count());
            }
            if (ends_branch) {
              input.b = branch_tiles.read(tile.first, tile.last, tile.buffer(0));
              T* to = gbranch_tiles.place(tile.first, tile.buffer(0));
              kernel.branch_backward(input, at_row<T>(gx, tile), to, total(2, needed[kOffset]),
                                     total(3, needed[kScale]), 0, tile.count());
              gbranch_tiles.written(to, tile.first, tile.last);
            }
          });
    });
    Tensors g = gradients(in, gx, gbranch);
    const Tensor summed = totals.sum(1);
    const std::pair<size_t, int64_t> of_totals[] = {{kWeight, 0}, {kBias, 1}, {kOffset, 2}, {kScale, 3}};
    for (const auto& [input, i] : of_totals) {
      g[input] = needed[input] ? summed[i] : Tensor();
    }
    return g;
  }

  Tensors second(const Tensors& in, const Tensors& out, const Tensors& gys, const Tensors& gg,
                 const std::vector<bool>& needed) const override {
    const Saved saved(*this, in, out, gys);
    const Tensor& sum = saved.sum;
    const Tensor d_x = contiguous_of(gg[kX]), d_offset = contiguous_of(gg[kOffset]),
                 d_weight = contiguous_of(gg[kWeight]), d_bias = contiguous_of(gg[kBias]);
    const Tensors d_branch = parts_.branch ? filled_from(gg, kBranch, branch_of(saved.in)) : Tensors();
    const bool of_branch = parts_.branch && parts_.norm && any_from(needed, kBranch, count());
    // The tangent of gx, which is the gradient that gsum gets.
    const Tensor u = at::empty(sum.sizes(), sum.options()),
                 gx = parts_.norm ? at::empty(sum.sizes(), sum.options()) : Tensor();
    const Tensors gbranch = of_branch && !shares_gradient(in) ? new_function(sum) : Tensors();
    const Tensors ggnormed = parts_.norm ? new_function(sum) : Tensors();
    const Tensor totals = at::zeros({2, workers_of(sum), channels_of(in)}, sum.options());
    with_type(sum.scalar_type(), [&](auto zero) {
      using T = decltype(zero);
      const FunctionTiles<T> d_tiles = tiles_of<T>(d_branch), gnormed_tiles = tiles_of<T>(saved.gnormed),
                             gbranch_tiles = tiles_of<T>(gbranch), ggnormed_tiles = tiles_of<T>(ggnormed);
      const auto& kernel = kernels::best<kernels::FrameNorm<T>>();
      share_tiles<T>(
          sum.size(0), sum.size(1), workers_of(sum), parts_.planes ? 1 : 0, [&](const Tile<T>& tile) {
            const auto total = [&](int64_t i, bool wanted) {
              return row_of_total<T>(totals, i, tile.worker, wanted);
            };
            auto tangent = terms<T>(saved.in, tile), input = tangent;
            tangent.a = at_row<T>(d_x, tile);
            tangent.b = d_tiles.read(tile.first, tile.last, tile.buffer(0));
            tangent.offset = numbers<T>(d_offset);
            kernel.forward(tangent, at_row<T>(u, tile), nullptr, nullptr, nullptr, 0, tile.count());
            if (!parts_.norm) {
              return;
            }
            input.a = at_row<T>(sum, tile);
            T* to = ggnormed_tiles.place(tile.first, tile.buffer(0));
            kernel.second(input, at_row<T>(saved.mean, tile), at_row<T>(saved.rstd, tile),
                          gnormed_tiles.read(tile.first, tile.last, tile.buffer(0)), at_row<T>(u, tile),
                          numbers<T>(d_weight), numbers<T>(d_bias), at_row<T>(gx, tile), to,
                          total(0, needed[kWeight]), 0, tile.count());
            ggnormed_tiles.written(to, tile.first, tile.last);
            if (of_branch || needed[kOffset]) {
              T* branch = gbranch_tiles.place(tile.first, tile.buffer(0));
              kernel.branch_backward(input, at_row<T>(gx, tile), branch, total(1, needed[kOffset]), nullptr,
                                     0, tile.count());
              gbranch_tiles.written(branch, tile.first, tile.last);
            }
          });
    });
    const Tensor summed = totals.sum(1);
    Tensors g = gradients(in, gx, gbranch);
    g[kWeight] = needed[kWeight] && parts_.norm ? summed[0] : Tensor();
    g[kOffset] = needed[kOffset] && parts_.norm ? summed[1] : Tensor();
    if (parts_.branch) {
      g.push_back(u);
    }
    g.insert(g.end(), ggnormed.begin(), ggnormed.end());
    return g;
  }

 private:
  size_t count() const { return parts_.planes ? parts_.planes->spectrum().irreps().size() : 1; }
  Tensors branch_of(const Tensors& in) const {
    return parts_.branch ? dense_from(in, kBranch, count()) : Tensors();
  }
  Tensors new_function(const Tensor& rows) const {
    return parts_.planes ? empty_planes(*parts_.planes, rows.size(0),
                                        rows.size(1) / parts_.planes->spectrum().order(), rows.options())
                         : Tensors{at::empty(rows.sizes(), rows.options())};
  }
  template <class T>
  FunctionTiles<T> tiles_of(const Tensors& function) const {
    return {function, parts_.planes.get()};
  }
  static int64_t workers_of(const Tensor& rows) {
    return workers_worth(rows.numel(), frame_norm_nanoseconds);
  }

  static int64_t channels_of(const Tensors& in) {
    for (const BranchAndNormInput i : {kWeight, kScale, kOffset}) {
      if (in[i].defined()) {
        return in[i].size(0);
      }
    }
    return std::max<int64_t>(in[kX].size(1), 1);
  }

  static Tensors densified(Tensors in) {
    for (Tensor& x : in) {
      x = contiguous_of(x);
    }
    return in;
  }

  /// The gradient of the branch is that of the sum itself.
  bool shares_gradient(const Tensors& in) const {
    return !parts_.planes && !in[kScale].defined() && !in[kRows].defined() && !in[kNoise].defined();
  }

  // What is not a function: those of x and the branch.
  Tensors gradients(const Tensors& in, const Tensor& gx, const Tensors& gbranch) const {
    Tensors g(in.size());
    g[kX] = gx;
    for (size_t i = 0; kBranch + i < in.size(); ++i) {
      g[kBranch + i] = i < gbranch.size() ? gbranch[i] : (shares_gradient(in) ? gx : Tensor());
    }
    return g;
  }

  Tensor normed_reference(const Tensor& sum, const Tensors& in) const {
    const int64_t channels = channels_of(in);
    const Tensor framed = sum.reshape({sum.size(0), sum.size(1) / channels, channels});
    if (parts_.centred) {
      return at::layer_norm(framed, {channels}, in[kWeight], in[kBias], parts_.epsilon).view(sum.sizes());
    }
    const Tensor y = framed * at::rsqrt((framed * framed).mean(-1, /*keepdim=*/true) + parts_.epsilon);
    return (in[kWeight].defined() ? y * in[kWeight] : y).view(sum.sizes());
  }

  // A transform of each function; what is transformed again for a derivative does not count.
  void tell_operations(const Tensors& in) const {
    if (parts_.planes) {
      const double functions = (parts_.branch ? 1 : 0) + (parts_.norm ? 1 : 0);
      count_operations(2 * functions * static_cast<double>(in[kX].numel()) /
                       static_cast<double>(parts_.planes->spectrum().order()) *
                       static_cast<double>(parts_.planes->multiply_adds()));
    }
  }

  template <class T>
  static T* at_row(const Tensor& rows, const Tile<T>& tile) {
    return rows.defined() ? const_cast<T*>(rows.const_data_ptr<T>()) + tile.first * rows.stride(0) : nullptr;
  }
  template <class T>
  static T* row_of_total(const Tensor& totals, int64_t i, int64_t worker, bool wanted) {
    return wanted ? totals.mutable_data_ptr<T>() + (i * totals.size(1) + worker) * totals.size(2) : nullptr;
  }

  /// What a tile's kernel takes but for a and b; of dense inputs.
  template <class T>
  kernels::FrameNormInput<T> terms(const Tensors& in, const Tile<T>& tile) const {
    const int64_t channels = channels_of(in);
    kernels::FrameNormInput<T> input;
    input.frames = in[kX].size(1) / channels;
    input.channels = channels;
    input.epsilon = static_cast<T>(parts_.epsilon);
    input.centred = parts_.centred;
    input.offset = numbers<T>(in[kOffset]);
    input.scale = numbers<T>(in[kScale]);
    input.rows = at_row<T>(in[kRows], tile);
    input.noise = at_row<T>(in[kNoise], tile);
    input.weight = numbers<T>(in[kWeight]);
    input.bias = numbers<T>(in[kBias]);
    return input;
  }

  /// What derivatives find again.
  struct Saved {
    Saved(const BranchAndNorm& op, const Tensors& inputs, const Tensors& out, const Tensors& gys)
        : in(densified(inputs)), sum(op.parts_.branch ? out[0] : in[kX]) {
      if (op.parts_.branch) {
        gsum = gys[0].contiguous();
      }
      if (op.parts_.norm) {
        gnormed = dense_from(gys, op.parts_.branch ? 1 : 0, op.count());
        mean = out[op.results()];
        rstd = out[op.results() + 1];
      }
    }
    Tensors in;
    Tensor sum, gsum, mean, rstd;
    Tensors gnormed;
  };

  BranchAndNormParts parts_;
};

}  // namespace

std::shared_ptr<const Differentiable> branch_and_norm(BranchAndNormParts parts) {
  return std::make_shared<BranchAndNorm>(std::move(parts));
}

}  // namespace weyl
