#pragma once

#include <optional>

#include "weyl/models/steerable/layers.h"
#include "weyl/models/steerable/options.h"

namespace weyl::steerable {

/// The norm of that name; null for none.
std::shared_ptr<Layer> make_norm(NormLaw law, const SteerableType& type);

/// A convolution with what the options say of kernels.
std::shared_ptr<Conv> make_conv(const Options& options, const SteerableType& in, const SteerableType& out,
                                int64_t kernel, int64_t stride, bool same);

/// Convolution, activation, and with a second type a convolution to it, then a norm: a stage without its
/// pooling, and a step of the decoder. Between activation and second convolution a norm too where one is
/// asked for (`norm_between`), around CG products, whose outputs are squares (before them as well), and
/// without an activation.
class StageNet : public Layer {
 public:
  struct Shape {
    SteerableType in, middle;
    std::optional<SteerableType> out;  // absent: `middle` is the last
    int64_t kernel = 5, stride = 1;
    bool same = true, low_pass = false;  // the latter before a stride
    Activation activation = Activation::relu;
    bool norm_between = false, norm_after = true;  // after the activation; after the last convolution
  };
  StageNet(const Options& options, const Shape& shape);
  Tensor operator()(const Tensor& x) const override;
  /// The pixels of the result that see one of `seen` (Conv::reached).
  Tensor reached(const Tensor& seen) const;
  /// Of a pixel of the result. `input_learns`: the input depends on parameters.
  Work work_on(bool input_learns) const;

 private:
  int64_t spacing_;  // that x is smoothed for
  std::shared_ptr<Conv> first_, second_;
  std::shared_ptr<Layer> activation_, before_, between_, after_;
};

}  // namespace weyl::steerable
