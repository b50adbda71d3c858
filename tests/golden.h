// Numbers of a fact sheet, compared with a tolerance and a name.
#pragma once

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace weyl::golden {

/// `value` must hold exactly these numbers (row-major), each to `tolerance`.
inline void expect_numbers(const std::string& name, const at::Tensor& value,
                           const std::vector<double>& expected, double tolerance) {
  const at::Tensor flat = value.detach().to(at::kCPU, at::kDouble).contiguous().view({-1});
  ASSERT_EQ(flat.numel(), static_cast<int64_t>(expected.size())) << name;
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(flat[static_cast<int64_t>(i)].item<double>(), expected[i], tolerance)
        << name << ", number " << i;
  }
}

/// The first numbers of `value`.
inline void expect_first(const std::string& name, const at::Tensor& value,
                         const std::vector<double>& expected, double tolerance) {
  expect_numbers(name, value.detach().reshape({-1}).narrow(0, 0, static_cast<int64_t>(expected.size())),
                 expected, tolerance);
}

/// The sum, the sum of absolute values, and the first numbers.
inline void expect_digest(const std::string& name, const at::Tensor& value, double sum, double absolute,
                          const std::vector<double>& first, double tolerance) {
  const at::Tensor wide = value.detach().to(at::kCPU, at::kDouble);
  EXPECT_NEAR(wide.sum().item<double>(), sum, tolerance) << name << ", sum";
  EXPECT_NEAR(wide.abs().sum().item<double>(), absolute, tolerance) << name << ", sum of absolute values";
  expect_first(name, wide, first, tolerance);
}

}  // namespace weyl::golden
