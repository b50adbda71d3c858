#include "weyl/ops/frames/bias_activation.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/silu.h>
#include <ATen/ops/softplus.h>
#include <ATen/ops/tanh.h>
#include <ATen/ops/zeros.h>

#include <memory>
#include <utility>

#include "weyl/core/check.h"
#include "weyl/kernels/dispatch.h"
#include "weyl/ops/autograd/kernel_inputs.h"
#include "weyl/ops/autograd/operations.h"
#include "weyl/ops/frames/fourier_tables.h"
#include "weyl/ops/frames/frames.h"
#include "weyl/ops/frames/group_tables.h"

namespace weyl {
namespace {

constexpr double activation_nanoseconds = 1;  // of a number: estimated, to be measured

Tensor activated(ActivationLaw law, const Tensor& t) {
  switch (law) {
    case ActivationLaw::gelu:
      return at::gelu(t);
    case ActivationLaw::silu:
      return at::silu(t);
    case ActivationLaw::relu:
      return at::relu(t);
    case ActivationLaw::mish:
      return t * at::tanh(at::softplus(t));  // at::mish has no finite second derivative far out
  }
  return t;
}

/// Inputs bias (C), noise (N, G C), either may be undefined, and x: rows (N, G C), or planes.
class BiasActivation : public Differentiable {
 public:
  BiasActivation(ActivationLaw law, std::shared_ptr<const FourierTables> planes)
      : law_(law), planes_(std::move(planes)) {}

  size_t results() const override { return count(); }

  Tensors reference(const Tensors& in) const override {
    const Tensor x = planes_ ? rows_of_planes(dense_from(in, x_at, count()), *planes_) : in[x_at];
    Tensor y = activated(law_, add_to_frames(x, in[0]));
    y = in[1].defined() ? y * in[1] : y;
    return planes_ ? planes_of_rows(y, *planes_) : Tensors{y};
  }
  bool has_forward(const Tensors& in) const override { return kernels_take(in); }
  bool has_backward(const Tensors& in) const override { return kernels_take(in); }
  bool has_second(const Tensors& in) const override { return kernels_take(in); }

  Tensors forward(const Tensors& in) const override {
    tell_operations(in);
    const Call call(*this, in);
    const Tensors y = empty_like(call.x);
    with_type(in[x_at].scalar_type(), [&](auto zero) {
      using T = decltype(zero);
      const FunctionTiles<T> x_tiles(call.x, planes_.get()), y_tiles(y, planes_.get());
      const auto& kernel = kernels::best<kernels::BiasActivation<T>>();
      share_tiles<T>(call.n, call.width, call.workers, planes_ ? 1 : 0, [&](const Tile<T>& tile) {
        T* to = y_tiles.place(tile.first, tile.buffer(0));
        kernel.forward(call.arguments<T>(x_tiles, tile, 0), to, 0, tile.count());
        y_tiles.written(to, tile.first, tile.last);
      });
    });
    return y;
  }

  Tensors backward(const Tensors& in, const Tensors&, const Tensors& gys,
                   const std::vector<bool>& needed) const override {
    tell_operations(in);
    const Call call(*this, in);
    const Tensors gy = dense_from(gys, 0, count()),
                  gx = any_from(needed, x_at, count()) ? empty_like(call.x) : Tensors();
    const Tensor sums = call.sums(needed[0]);
    with_type(in[x_at].scalar_type(), [&](auto zero) {
      using T = decltype(zero);
      const FunctionTiles<T> x_tiles(call.x, planes_.get()), gy_tiles(gy, planes_.get()),
          gx_tiles(gx, planes_.get());
      const auto& kernel = kernels::best<kernels::BiasActivation<T>>();
      share_tiles<T>(call.n, call.width, call.workers, planes_ ? 2 : 0, [&](const Tile<T>& tile) {
        T* to = gx_tiles.place(tile.first, tile.buffer(0));
        kernel.backward(call.arguments<T>(x_tiles, tile, 0),
                        gy_tiles.read(tile.first, tile.last, tile.buffer(1)), to,
                        row_of<T>(sums, tile.worker), 0, tile.count());
        gx_tiles.written(to, tile.first, tile.last);
      });
    });
    return gradients(needed[0] ? sums.sum(0) : Tensor(), {gx});
  }

  Tensors second(const Tensors& in, const Tensors&, const Tensors& gys, const Tensors& directions,
                 const std::vector<bool>& needed) const override {
    const Call call(*this, in);
    const Tensors gy = dense_from(gys, 0, count()), dx = filled_from(directions, x_at, call.x),
                  gx = any_from(needed, x_at, count()) ? empty_like(call.x) : Tensors(),
                  ggy = any_from(needed, in.size(), count()) ? empty_like(call.x) : Tensors();
    const Tensor dbias = contiguous_of(directions[0]), sums = call.sums(needed[0]);
    with_type(in[x_at].scalar_type(), [&](auto zero) {
      using T = decltype(zero);
      const auto tiles_of = [&](const Tensors& f) { return FunctionTiles<T>(f, planes_.get()); };
      const FunctionTiles<T> x_tiles = tiles_of(call.x), gy_tiles = tiles_of(gy), dx_tiles = tiles_of(dx),
                             gx_tiles = tiles_of(gx), ggy_tiles = tiles_of(ggy);
      const auto& kernel = kernels::best<kernels::BiasActivation<T>>();
      share_tiles<T>(call.n, call.width, call.workers, planes_ ? 3 : 0, [&](const Tile<T>& tile) {
        const auto read = [&](const FunctionTiles<T>& tiles, int64_t buffer) {
          return tiles.read(tile.first, tile.last, tile.buffer(buffer));
        };
        T *to = gx_tiles.place(tile.first, tile.buffer(0)),
          *to_gy = ggy_tiles.place(tile.first, tile.buffer(1));
        kernel.second(call.arguments<T>(x_tiles, tile, 0), read(gy_tiles, 1), read(dx_tiles, 2),
                      numbers<T>(dbias), to, row_of<T>(sums, tile.worker), to_gy, 0, tile.count());
        gx_tiles.written(to, tile.first, tile.last);
        ggy_tiles.written(to_gy, tile.first, tile.last);
      });
    });
    return gradients(needed[0] ? sums.sum(0) : Tensor(), {gx, ggy});
  }

 private:
  static constexpr size_t x_at = 2;

  size_t count() const { return planes_ ? planes_->spectrum().irreps().size() : 1; }

  // Both transforms; what is transformed again for a derivative does not count.
  void tell_operations(const Tensors& in) const {
    if (planes_) {
      const Call call(*this, in);
      const auto channels =
          static_cast<double>(call.n * call.width) / static_cast<double>(planes_->spectrum().order());
      count_operations(4 * channels * static_cast<double>(planes_->multiply_adds()));
    }
  }

  // Of bias, noise and functions that may be none.
  Tensors gradients(const Tensor& bias, const std::vector<Tensors>& functions) const {
    Tensors g{bias, Tensor()};
    for (const Tensors& function : functions) {
      for (size_t i = 0; i < count(); ++i) {
        g.push_back(function.empty() ? Tensor() : function[i]);
      }
    }
    return g;
  }

  /// What every kernel of one call takes.
  struct Call {
    Call(const BiasActivation& op, const Tensors& in)
        : law(op.law_),
          bias(contiguous_of(in[0])),
          noise(contiguous_of(in[1])),
          x(dense_from(in, x_at, op.count())) {
      n = op.planes_ ? rows_in(x, *op.planes_) : x[0].size(0);
      width = op.planes_ ? channels_in(x, *op.planes_) * op.planes_->spectrum().order() : x[0].size(1);
      workers = workers_worth(n * width, activation_nanoseconds);
    }
    template <class T>
    kernels::BiasActivationInput<T> arguments(const FunctionTiles<T>& tiles, const Tile<T>& tile,
                                              int64_t buffer) const {
      return {law,
              width,
              bias.defined() ? bias.size(0) : width,
              tiles.read(tile.first, tile.last, tile.buffer(buffer)),
              numbers<T>(bias),
              noise.defined() ? noise.const_data_ptr<T>() + tile.first * width : nullptr};
    }
    Tensor sums(bool wanted) const {
      return wanted ? at::zeros({workers, bias.size(0)}, x[0].options()) : Tensor();
    }
    ActivationLaw law;
    Tensor bias, noise;
    Tensors x;
    int64_t n, width, workers;
  };

  ActivationLaw law_;
  std::shared_ptr<const FourierTables> planes_;
};

void require_noise(const Tensor& noise, int64_t n, int64_t width, const Tensor& x) {
  require(!noise.defined() ||
              (noise.sizes() == at::IntArrayRef{n, width} && noise.scalar_type() == x.scalar_type()),
          "bias_activation: noise must be (", n, ", ", width, ") ", x.scalar_type(), ", got ",
          noise.defined() ? noise.sizes() : at::IntArrayRef{});
}

}  // namespace

Tensor bias_activation(const Tensor& x, const Tensor& bias, ActivationLaw law, const Tensor& noise) {
  require_frames("bias_activation", x, bias);
  require_noise(noise, x.size(0), x.size(1), x);
  return call(std::make_shared<BiasActivation>(law, nullptr), {bias, noise, x})[0];
}

std::vector<Tensor> bias_activation(const std::vector<Tensor>& planes, const GroupTables& tables,
                                    const Tensor& bias, ActivationLaw law, const Tensor& noise) {
  const auto fourier = tables.fourier();
  require_planes("bias_activation", planes, *fourier);
  const int64_t channels = channels_in(planes, *fourier);
  require(!bias.defined() ||
              (bias.dim() == 1 && bias.size(0) == channels && bias.scalar_type() == planes[0].scalar_type()),
          "bias_activation: bias must be (", channels, "), of the planes' type, got ",
          bias.defined() ? bias.sizes() : at::IntArrayRef{});
  require_noise(noise, rows_in(planes, *fourier), channels * tables.group().order(), planes[0]);
  Tensors in{bias, noise};
  in.insert(in.end(), planes.begin(), planes.end());
  return call(std::make_shared<BiasActivation>(law, fourier), in);
}

}  // namespace weyl
