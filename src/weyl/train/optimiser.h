#pragma once

#include <vector>

#include "weyl/core/tensor_file.h"
#include "weyl/nn/module.h"
#include "weyl/train/options.h"

namespace weyl {

/// Adam with decoupled weight decay (adamw) or with decay coupled to the gradient (adam, "L2"), and LAMB (You et al., 2020,
/// algorithm 2), on parameters by name. At the t-th step of a parameter w with gradient g and rate a:
///   adam:   g <- g + d w          adamw:  w <- w - a d w
///   m <- b1 m + (1 - b1) g,   v <- b2 v + (1 - b2) g^2,   r = (m / (1 - b1^t)) / (sqrt(v / (1 - b2^t)) + e)
///   w <- w - a r                  lamb:   r <- r + d w,  w <- w - a (|w| / |r|) r
/// The decay d touches parameters whose module declares `decay`, or all (`decaying`); lamb scales the steps of the same, by
/// 1 where a norm is zero, and leaves the others to Adam. A parameter without a gradient is left alone, its step count too;
/// parameters that are not trainable, or frozen, are ignored: they have no state.
///
/// Uses LibTorch's fused kernels on the CPU and on CUDA for both Adams, and on CUDA for the moments of lamb; torch
/// expressions elsewhere, for lamb on the CPU and under UseReferences.
class Optimiser {
 public:
  /// Holds the parameters' tensors: their dtype and device must not change any more. ShapeError: two
  /// parameters of one name, a tensor that is neither float32 nor float64.
  Optimiser(const std::vector<Parameter>& parameters, const OptimiserOptions& options);

  /// The global norm sqrt(sum |g|^2) of the gradients as they are; then, with a limit c in the options,
  /// scales them by min(1, c / (norm + 1e-6)). A norm that is not finite leaves the gradients alone: the
  /// caller decides (the trainer stops before the step, so that the weights stay whole).
  double clip_gradients();
  /// The same on the parameters' device, for which the host does not wait: () float64, 0 without gradients. A norm that is not finite spoils the
  /// gradients: what follows must be a step that is told so.
  Tensor clip_gradients_on_device();

  /// One step at `factor` times the rate of the options. Gradients stay. `found_inf`, where defined: () float32 on the
  /// parameters' device, 0, or 1 when the gradients are not finite: then nothing changes, without the host knowing.
  void step(double factor = 1, const Tensor& found_inf = {});

  void clear_gradients();

  /// "first.<name>", "second.<name>" (as the parameter) and "steps.<name>" (), float32. Copies on the CPU.
  NamedTensors state() const;

  /// DataError, naming the first missing, unexpected or misshaped tensor; `where` names the file.
  void load(const NamedTensors& state, const std::string& where);

 private:
  struct Group {  // of parameters with one weight decay
    double decay = 0;
    bool scaled = false;  // by lamb
    std::vector<std::string> names;
    std::vector<Tensor> weights, first, second, steps;
  };
  struct Slice {  // of a group: the parameters that have a gradient
    std::vector<Tensor> weights, gradients, first, second, steps;
  };
  std::vector<Tensor> gradients() const;
  void step_fused(const Slice& of, double rate, double decay, const Tensor& found_inf) const;
  void step_lamb(const Slice& of, double rate, double decay, const Tensor& found_inf) const;
  void step_plain(const Tensor& weight, const Tensor& gradient, const Tensor& first, const Tensor& second,
                  double step, double rate, const Group& group) const;

  OptimiserOptions options_;
  at::Device device_;  // of the parameters
  Group groups_[2];    // without decay, with
};

}  // namespace weyl
