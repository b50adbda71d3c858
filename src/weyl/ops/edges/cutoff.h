#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace at {
class Tensor;
}

namespace weyl {

/// Weights f(d) of lengths d that end at a cutoff R: f = 0 from R on. With x = d / R below it:
///   cosine      (cos(pi x) + 1) / 2, with a continuous first derivative at R. With a lower cutoff L > 0, as
///               in TorchMD-Net, (1 - cos(2 pi (d - L) / (R - L))) / 2 between L and R and 0 elsewhere:
///               another shape, 1 in the middle.
///   polynomial  1 - (p + 1)(p + 2)/2 x^p + p (p + 2) x^(p + 1) - p (p + 1)/2 x^(p + 2), p >= 2: 1 at 0,
///               with two continuous derivatives at R (DimeNet, Gasteiger et al. 2020, as fairchem has it;
///               p = 3 is the smooth step of fifth degree).
///   smooth      exp(1 - 1/(1 - x^2)), with all derivatives continuous (SpookyNet, Unke et al. 2021).
enum class CutoffLaw { cosine, polynomial, smooth };
constexpr auto names_of(CutoffLaw) {
  return std::array<std::string_view, 3>{"cosine", "polynomial", "smooth"};
}

/// f of each length: d of any shape -> the same. `lower` is of cosine alone, `power` (p) of polynomial.
/// Differentiable to any order. ShapeError unless 0 <= lower < upper and power >= 2.
at::Tensor cutoff_weights(const at::Tensor& d, CutoffLaw law, double upper, double lower = 0,
                          int64_t power = 6);

/// The same of one length, with its slope.
struct CutoffWeight {
  double value = 0, slope = 0;
};
CutoffWeight cutoff_weight(double d, CutoffLaw law, double upper, double lower = 0, int64_t power = 6);

}  // namespace weyl
