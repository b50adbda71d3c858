#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Event.h>
#include <optional>

namespace weyl {

using at::Tensor;

/// The loss and the gradient norm of a step.
struct StepNumbers {
  double loss = 0, norm = 0;
  bool finite() const;
};

/// The numbers of a step that a device may still be computing. Reading them at once would wait until the device's queue
/// is empty, and then leave the device idle until the next step is queued. So they are read after the next step has
/// been queued.
class LateNumbers {
 public:
  /// The numbers of a step that is done.
  explicit LateNumbers(const StepNumbers& known) : known_(known) {}
  /// `loss` and `norm`: () float64 on one device. Queues one copy of both to the host and does not wait.
  LateNumbers(const Tensor& loss, const Tensor& norm);

  /// Waits until the device has computed them.
  StepNumbers read() const;
  /// What the device knows of the numbers, in the form that LibTorch's fused optimisers take: () float32, 1 where one
  /// of them is not finite, else 0. Undefined for known numbers.
  const Tensor& found_inf() const { return found_inf_; }
  /// Whether the optimiser is to use the gradient: yes, unless it is known already that a number is not finite.
  bool may_be_finite() const { return found_inf_.defined() || known_.finite(); }

 private:
  StepNumbers known_;
  Tensor on_host_, found_inf_;  // (2) float64, pinned; ()
  std::optional<c10::Event> copied_;
};

/// For tests: while an object lives, trainings that begin read their numbers late on the CPU, too.
class ReadLate {
 public:
  ReadLate();
  ~ReadLate();
  ReadLate(const ReadLate&) = delete;
  ReadLate& operator=(const ReadLate&) = delete;
  static bool active();
};

}  // namespace weyl
