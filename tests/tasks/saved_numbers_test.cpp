#include "weyl/tasks/label_statistics.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "weyl/core/check.h"

namespace weyl {
namespace saved_numbers_test {

std::string refusal(const NamedTensors& state, std::initializer_list<int64_t> shape) {
  try {
    saved_numbers(state, "this", "x", shape);
  } catch (const DataError& e) {
    return e.what();
  }
  return "(accepted)";
}

TEST(SavedNumbers, AreGivenInFloat64) {
  const Tensor x = at::rand({2, 3}, at::kFloat);
  const Tensor found = saved_numbers({{"x", x}}, "this", "x", {2, -1});
  EXPECT_EQ(found.scalar_type(), at::kDouble);
  EXPECT_TRUE(at::equal(found, x.to(at::kDouble)));
}

TEST(SavedNumbers, RefuseWhatIsMissingMisshapenOrNoNumber) {
  const std::string begin = "task this: state must hold the numbers 'x' of shape (2, any), got ";
  EXPECT_EQ(refusal({}, {2, -1}), begin + "none");
  EXPECT_EQ(refusal({{"y", at::rand({2, 3})}}, {2, -1}), begin + "none");
  EXPECT_EQ(refusal({{"x", at::rand({3, 2})}}, {2, -1}), begin + "Float [3, 2]");
  EXPECT_EQ(refusal({{"x", at::rand({2})}}, {2, -1}), begin + "Float [2]");
  EXPECT_EQ(refusal({{"x", at::rand({2, 0})}}, {2, -1}), begin + "Float [2, 0]");
  EXPECT_EQ(refusal({{"x", at::ones({2, 1}, at::kLong)}}, {2, -1}), begin + "Long [2, 1]");
  EXPECT_EQ(refusal({{"x", at::full({1}, NAN)}}, {1}), "task this: 'x' must be finite");
  EXPECT_EQ(refusal({{"x", at::ones({1})}}, {1}), "(accepted)");
}

}  // namespace saved_numbers_test
}  // namespace weyl
