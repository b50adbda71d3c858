#pragma once

namespace weyl {

/// Tells the counter of this thread, if one lives, that a kernel has done so many floating-point operations: those of the
/// products that it is, a multiply-add counting two, not what it works out again to keep less, nor what it does number by
/// number (models/work.h says what counts). Without a counter it does nothing.
void count_operations(double flops);

/// Counts, while it lives, what kernels do on this thread, values and first derivatives (second ones tell nothing). One
/// within another takes its place.
class CountOperations {
 public:
  CountOperations();
  ~CountOperations();
  CountOperations(const CountOperations&) = delete;
  CountOperations& operator=(const CountOperations&) = delete;
  double flops() const { return flops_; }

 private:
  friend void count_operations(double flops);
  double flops_ = 0;
  CountOperations* before_;
};

}  // namespace weyl
