// Are the tensors of two computations the same to rounding?
#pragma once

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "weyl/core/worst_of.h"

namespace weyl {

/// Each tensor of `found` has the shape of the one of `right` and differs from it by less than `tolerance`,
/// relative to the largest number of `right` or to 1. No number is never close.
inline void expect_close(const std::vector<at::Tensor>& found, const std::vector<at::Tensor>& right,
                         double tolerance, const std::string& name) {
  ASSERT_EQ(found.size(), right.size()) << name;
  for (size_t i = 0; i < found.size(); ++i) {
    ASSERT_EQ(found[i].sizes(), right[i].sizes()) << name << ", tensor " << i;
    if (found[i].numel() == 0) {
      continue;
    }
    const double scale = worst_of(1, right[i].abs().max().item<double>());
    const double error =
        (found[i].to(at::kDouble) - right[i].to(at::kDouble)).abs().max().item<double>() / scale;
    EXPECT_LT(error, tolerance) << name << ", tensor " << i;
  }
}

}  // namespace weyl
