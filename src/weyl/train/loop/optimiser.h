#pragma once

#include <vector>

#include "weyl/core/tensor_file.h"
#include "weyl/nn/module.h"
#include "weyl/train/options.h"

namespace weyl {

/// Adam with decoupled weight decay (adamw) or with decay coupled to the gradient (adam, "L2"), and LAMB (You et al.,
/// 2020, algorithm 2), on parameters by name. At the t-th step of a parameter w with gradient g and rate a:
///
///   adam:   g <- g + d w          adamw:  w <- w - a d w
///   m <- b1 m + (1 - b1) g,   v <- b2 v + (1 - b2) g^2,   r = (m / (1 - b1^t)) / (sqrt(v / (1 - b2^t)) + e)
///   w <- w - a r                  lamb:   r <- r + d w,  w <- w - a (|w| / |r|) r
///
/// The decay d applies to parameters whose module declares `decay`, or to all (`decaying`). LAMB scales the steps of
/// the same parameters, by 1 where a norm is zero, and treats the others as Adam does. A parameter without a gradient
/// does not change, nor does its step count. Parameters that are not trainable, or frozen, are ignored: they have no
/// state.
///
/// Both Adams use LibTorch's fused kernels on the CPU and on CUDA; LAMB uses them on CUDA, for its moments. Torch
/// expressions serve elsewhere, for LAMB on the CPU, and under UseReferences.
class Optimiser {
 public:
  /// Holds the parameters' tensors: their dtype and device must not change any more. ShapeError: two parameters have
  /// one name; a tensor is neither float32 nor float64.
  Optimiser(const std::vector<Parameter>& parameters, const OptimiserOptions& options);

  /// Returns the global norm sqrt(sum |g|^2) of the gradients and, with a limit c in the options, then scales them by
  /// min(1, c / (norm + 1e-6)). A norm that is not finite leaves the gradients alone, and the caller decides (the
  /// trainer stops before the step, so that the weights stay whole).
  double clip_gradients();
  /// The same on the parameters' device, without the host waiting for it: () float64, 0 without gradients. A norm that
  /// is not finite spoils the gradients, so the following step must be told (`found_inf`).
  Tensor clip_gradients_on_device();

  /// One step at `factor` times the rate of the options. The gradients stay. `found_inf`, if defined, is () float32 on
  /// the parameters' device: 1 when the gradients are not finite, else 0. With 1 nothing changes, and the host does not
  /// learn it.
  void step(double factor = 1, const Tensor& found_inf = {});

  void clear_gradients();

  /// "first.<name>", "second.<name>" (as the parameter) and "steps.<name>" (), float32. Copies on the CPU.
  NamedTensors state() const;

  /// Loads the state. DataError names the first missing, unexpected or misshaped tensor; `where` names the file.
  void load(const NamedTensors& state, const std::string& where);

 private:
  struct Group {  // parameters with one weight decay
    double decay = 0;
    bool scaled = false;  // whether lamb scales their steps
    std::vector<std::string> names;
    std::vector<Tensor> weights, first, second, steps;
  };
  struct Slice {  // the parameters of a group that have a gradient
    std::vector<Tensor> weights, gradients, first, second, steps;
  };
  std::vector<Tensor> gradients() const;
  void step_fused(const Slice& of, double rate, double decay, const Tensor& found_inf) const;
  void step_lamb(const Slice& of, double rate, double decay, const Tensor& found_inf) const;
  void step_plain(const Tensor& weight, const Tensor& gradient, const Tensor& first, const Tensor& second,
                  double step, double rate, const Group& group) const;

  OptimiserOptions options_;
  at::Device device_;  // of the parameters
  Group groups_[2];    // without decay, and with it
};

}  // namespace weyl
