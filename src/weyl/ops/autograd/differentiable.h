#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <optional>
#include <vector>

#include "weyl/ops/autograd/plain_attention.h"

namespace weyl {

using at::Tensor;
using Tensors = std::vector<Tensor>;

/// An op that is differentiable, by kernels where it has them. It defines `reference`, a torch expression that is
/// batched (never a loop over graphs) and differentiable to any order. Where it pays, it adds kernels for the value,
/// the first and the second derivative. `call` chooses:
///   kernels          when the device and dtype have them
///   without_kernels  otherwise, and for every order of derivative that has no kernel
///   reference        under UseReferences
/// Inputs may be non-contiguous. An undefined input is passed through as undefined and has no gradient. An op must not
/// hold a tensor that could need a gradient.
class Differentiable {
 public:
  virtual ~Differentiable() = default;

  virtual Tensors reference(const Tensors& inputs) const = 0;

  /// The torch expression to use where no kernel runs: `reference`, unless a faster expression has the same value.
  virtual Tensors without_kernels(const Tensors& inputs) const { return reference(inputs); }

  /// Whether, where no kernel runs, the graph keeps only the inputs and derivatives compute the expression again. For
  /// ops whose expression makes much more than it is given.
  virtual bool recomputes() const { return false; }

  /// How many tensors `reference` returns. `forward` may return more: by-products such as row sums, which `backward`
  /// and `second` find again among their `outputs`. Callers never see them.
  virtual size_t results() const { return 1; }

  virtual bool has_forward(const Tensors&) const { return false; }
  virtual Tensors forward(const Tensors& inputs) const;

  /// The gradients of the inputs whose `needed` is set, from the gradients of the results; the others are undefined.
  virtual bool has_backward(const Tensors&) const { return false; }
  virtual Tensors backward(const Tensors& inputs, const Tensors& outputs, const Tensors& output_gradients,
                           const std::vector<bool>& needed) const;

  /// The derivative of `backward`: the gradients of (inputs, output_gradients), in this order, where `needed` is set,
  /// from the gradients of the results of `backward` (undefined where zero). Needs `has_backward`.
  virtual bool has_second(const Tensors&) const { return false; }
  virtual Tensors second(const Tensors& inputs, const Tensors& outputs, const Tensors& output_gradients,
                         const Tensors& gradients_of_backward, const std::vector<bool>& needed) const;
};

Tensors call(std::shared_ptr<const Differentiable> op, const Tensors& inputs);

/// While one lives (thread-local), ops with kernels but without a `second` run without kernels, because a kernel's
/// forward would have to be recomputed for the second derivative. Tasks that train on gradients set it.
class ExpectSecondDerivatives {
 public:
  ExpectSecondDerivatives();
  ~ExpectSecondDerivatives();
  ExpectSecondDerivatives(const ExpectSecondDerivatives&) = delete;
  ExpectSecondDerivatives& operator=(const ExpectSecondDerivatives&) = delete;
  static bool active();
};

/// While one lives (thread-local), every op uses its reference, and modules neither fuse ops nor cache what follows
/// from their parameters. A model then runs as its plain definition, which benchmarks and tests compare with.
class UseReferences {
 public:
  explicit UseReferences(PlainAttention attention = PlainAttention::pairs);
  ~UseReferences();
  UseReferences(const UseReferences&) = delete;
  UseReferences& operator=(const UseReferences&) = delete;
  static bool active();
  /// The form of attention that references use, as the newest of the living objects says.
  static PlainAttention attention();

 private:
  PlainAttention before_;
};

/// The two switches above as they stood on the thread where this object was made. While an Again lives they stand so
/// again. Backward passes need it: autograd runs them on a thread of its own for each device.
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
