#include "weyl/ops/edges/cutoff.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cos.h>
#include <ATen/ops/exp.h>
#include <ATen/ops/pow.h>

#include <cmath>
#include <numbers>

#include "weyl/core/check.h"

namespace weyl {

at::Tensor cutoff_weights(const at::Tensor& d, CutoffLaw law, double upper, double lower, int64_t power) {
  const char* where = "cutoff_weights";
  require(d.defined() && d.is_floating_point(), where, ": d must be floating");
  require(lower >= 0 && lower < upper, where, ": lower must be 0 <= lower < upper, got ", lower, " and ",
          upper);
  require(lower == 0 || law == CutoffLaw::cosine, where, ": a lower cutoff is of the cosine law alone, got ",
          lower);
  require(power >= 2, where, ": power must be 2 or more, got ", power);
  const at::Tensor outside =
      lower > 0 ? (d >= upper) | (d <= lower) : d >= upper;  // NaN is neither, and stays
  switch (law) {
    case CutoffLaw::cosine:
      if (lower > 0) {
        return ((1 - at::cos((d - lower) * (2 * std::numbers::pi / (upper - lower)))) * 0.5)
            .masked_fill(outside, 0);
      }
      return ((at::cos(d * (std::numbers::pi / upper)) + 1) * 0.5).masked_fill(outside, 0);
    case CutoffLaw::polynomial: {
      const at::Tensor x = d.masked_fill(outside, 0) * (1 / upper);
      const auto p = static_cast<double>(power);
      const at::Tensor bracket = (x * (-p * (p + 1) / 2) + p * (p + 2)) * x - (p + 1) * (p + 2) / 2;
      return (at::pow(x, power) * bracket + 1).masked_fill(outside, 0);
    }
    case CutoffLaw::smooth: {
      // Taken at zero where it is not wanted, so that no infinite slope arises there: the last lengths below the
      // cutoff can be 1 after rounding.
      const at::Tensor ratio = d * (1 / upper);
      const at::Tensor ended = outside | (ratio >= 1);
      const at::Tensor x = ratio.masked_fill(ended, 0);
      return at::exp(1 - (1 - x * x).reciprocal()).masked_fill(ended, 0);
    }
  }
  return {};
}

CutoffWeight cutoff_weight(double d, CutoffLaw law, double upper, double lower, int64_t power) {
  const double x = d / upper;
  if (x >= 1 || (lower > 0 && d <= lower)) {
    return {};
  }
  switch (law) {
    case CutoffLaw::cosine: {
      const double rate = (lower > 0 ? 2 : 1) * std::numbers::pi / (upper - lower), sign = lower > 0 ? -1 : 1;
      return {(1 + sign * std::cos((d - lower) * rate)) * 0.5,
              -sign * rate * 0.5 * std::sin((d - lower) * rate)};
    }
    case CutoffLaw::polynomial: {
      const auto p = static_cast<double>(power);
      const double bracket = (x * (-p * (p + 1) / 2) + p * (p + 2)) * x - (p + 1) * (p + 2) / 2;
      const double lowered = std::pow(x, p - 1), rest = 1 - x;
      return {1 + lowered * x * bracket, -0.5 * p * (p + 1) * (p + 2) * lowered * rest * rest / upper};
    }
    case CutoffLaw::smooth: {
      const double rest = 1 - x * x, value = std::exp(1 - 1 / rest);
      return {value, -2 * x / (rest * rest) * value / upper};
    }
  }
  return {};
}

}  // namespace weyl
