#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Event.h>

#include <optional>

namespace weyl {

using at::Tensor;

/// Loss and norm of the gradient of a step.
struct StepNumbers {
  double loss = 0, norm = 0;
  bool finite() const;
};

/// The numbers of a step that a device may still be working on. To read them at once would be to wait until its queue is
/// empty, and then to leave it idle until the next step has been queued: so they are read when that has been done.
class LateNumbers {
 public:
  /// Of a step that is done.
  explicit LateNumbers(const StepNumbers& known) : known_(known) {}
  /// `loss` and `norm`: () float64 on one device. One copy of both to the host is queued; nothing waits.
  LateNumbers(const Tensor& loss, const Tensor& norm);

  /// Waits until the device has come to them.
  StepNumbers read() const;
  /// What the device itself knows of them, as LibTorch's fused optimisers take it: () float32, 1 where one is not finite,
  /// else 0. Undefined for known numbers.
  const Tensor& found_inf() const { return found_inf_; }
  /// Whether the optimiser is to use the gradient: not when it is known that it must not.
  bool may_be_finite() const { return found_inf_.defined() || known_.finite(); }

 private:
  StepNumbers known_;
  Tensor on_host_, found_inf_;  // (2) float64, pinned; ()
  std::optional<c10::Event> copied_;
};

/// While one lives, trainings that begin read their numbers late on the CPU too. For tests.
class ReadLate {
 public:
  ReadLate();
  ~ReadLate();
  ReadLate(const ReadLate&) = delete;
  ReadLate& operator=(const ReadLate&) = delete;
  static bool active();
};

}  // namespace weyl
