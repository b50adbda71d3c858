#pragma once

#include <cstdint>
#include <vector>

namespace weyl {

/// Clebsch-Gordan coefficients C^{l m}_{l1 m1 l2 m2} = <l1 m1 l2 m2 | l m>, real, with the phases of Condon
/// and Shortley (<l1 l1 l2 l-l1 | l l> > 0). Orders m run from -l to l. For f1, f2 of degrees l1, l2 that
/// turn by D_l1, D_l2 (wigner.h) the vector sum_{m1 m2} C^{l m}_{l1 m1 l2 m2} f1_m1 f2_m2 turns by D_l, and
/// no other bilinear map does, up to scale. All zero unless |l1 - l2| <= l <= l1 + l2.
class ClebschGordan {
 public:
  /// Degrees from 0 to 64, else ShapeError. Errors below 1e-14 up to degree 8.
  ClebschGordan(int64_t l1, int64_t l2, int64_t l);

  double operator()(int64_t m, int64_t m1, int64_t m2) const {
    return m1 + m2 == m ? values_[((m + l_) * (2 * l1_ + 1) + m1 + l1_) * (2 * l2_ + 1) + m2 + l2_] : 0;
  }
  /// (2l + 1, 2 l1 + 1, 2 l2 + 1), row-major.
  const std::vector<double>& values() const { return values_; }

 private:
  int64_t l1_, l2_, l_;
  std::vector<double> values_;
};

/// |l1 - l2| <= l <= l1 + l2.
constexpr bool triangle(int64_t l1, int64_t l2, int64_t l) {
  return l <= l1 + l2 && l1 <= l + l2 && l2 <= l + l1;
}

}  // namespace weyl
