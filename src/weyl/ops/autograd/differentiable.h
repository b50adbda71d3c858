#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <optional>
#include <vector>

#include "weyl/ops/autograd/plain_attention.h"

namespace weyl {

using at::Tensor;
using Tensors = std::vector<Tensor>;

/// How a kernel becomes a differentiable op. An op states its definition as a torch expression, `reference`
/// (batched, never a loop over graphs, differentiable to any order), and, where it pays, kernels for the
/// value, the first and the second derivative. `call` picks: kernels when the device and dtype have them;
/// `without_kernels` otherwise, and for every order of derivative that has no kernel; the reference under
/// UseReferences. Inputs may be non-contiguous; undefined inputs are passed through as undefined and have no
/// gradient. An op holds no tensor that could need a gradient.
class Differentiable {
 public:
  virtual ~Differentiable() = default;

  virtual Tensors reference(const Tensors& inputs) const = 0;

  /// The torch expression to use where no kernel runs: the reference, unless a faster one says the same.
  virtual Tensors without_kernels(const Tensors& inputs) const { return reference(inputs); }

  /// Whether, where no kernel runs, the graph keeps the inputs alone and derivatives work the expression out again: for ops
  /// whose expression makes much more than it is given.
  virtual bool recomputes() const { return false; }

  /// How many tensors `reference` returns. `forward` may return more: by-products (row sums, say) that
  /// `backward` and `second` find again among their `outputs`, and that callers never see.
  virtual size_t results() const { return 1; }

  virtual bool has_forward(const Tensors&) const { return false; }
  virtual Tensors forward(const Tensors& inputs) const;

  /// Gradients of the inputs whose `needed` is set (others undefined), given the gradients of the results.
  virtual bool has_backward(const Tensors&) const { return false; }
  virtual Tensors backward(const Tensors& inputs, const Tensors& outputs, const Tensors& output_gradients,
                           const std::vector<bool>& needed) const;

  /// Derivative of `backward`: given the gradients of its results (undefined where zero), the gradients of
  /// (inputs, output_gradients), in this order, those whose `needed` is set. Needs `has_backward`.
  virtual bool has_second(const Tensors&) const { return false; }
  virtual Tensors second(const Tensors& inputs, const Tensors& outputs, const Tensors& output_gradients,
                         const Tensors& gradients_of_backward, const std::vector<bool>& needed) const;
};

Tensors call(std::shared_ptr<const Differentiable> op, const Tensors& inputs);

/// While one lives (thread-local), ops with kernels but without a `second` run without kernels, because a
/// kernel forward would have to be recomputed for the second derivative. Set by tasks that train on
/// gradients.
class ExpectSecondDerivatives {
 public:
  ExpectSecondDerivatives();
  ~ExpectSecondDerivatives();
  ExpectSecondDerivatives(const ExpectSecondDerivatives&) = delete;
  ExpectSecondDerivatives& operator=(const ExpectSecondDerivatives&) = delete;
  static bool active();
};

/// While one lives (thread-local), every op uses its reference, and modules neither fuse ops nor keep what
/// follows from their parameters: a model as its plain definition, the other side of benchmarks and tests.
class UseReferences {
 public:
  explicit UseReferences(PlainAttention attention = PlainAttention::pairs);
  ~UseReferences();
  UseReferences(const UseReferences&) = delete;
  UseReferences& operator=(const UseReferences&) = delete;
  static bool active();
  /// What the reference of attention is; of those that live, the last one says.
  static PlainAttention attention();

 private:
  PlainAttention before_;
};

/// The two switches above as they stood on the thread where this was made. What is worked out later in its name, by a
/// backward pass that autograd runs on a thread of its own for each device, has them again while an Again lives.
class Switches {
 public:
  Switches();

  class Again {
   public:
    explicit Again(const Switches& as);

   private:
    std::optional<ExpectSecondDerivatives> second_;
    std::optional<UseReferences> references_;
  };

 private:
  bool expects_second_;
  std::optional<PlainAttention> references_;
};

}  // namespace weyl
