#include "weyl/ops/frames/group_linear.h"

#include "tests/gradients.h"
#include "weyl/core/check.h"
#include "weyl/core/worst_of.h"

namespace weyl {
namespace group_linear_test {

TEST(GroupLinear, BlockOfTwoFramesIsTheKernelOfTheirQuotient) {
  const GroupTables tables(named_group("tetrahedron"));
  const Tensor kernel = (at::arange(12 * 3 * 2, at::kDouble) * 0.37).sin().view({12, 3, 2});
  const Tensor w = expand_group_kernel(kernel, tables);
  ASSERT_EQ(w.sizes(), (std::vector<int64_t>{36, 24}));
  bool inverted_differs = false;
  for (int64_t h = 0; h < 12; ++h) {
    for (int64_t g = 0; g < 12; ++g) {
      const Tensor block = w.slice(0, 3 * h, 3 * h + 3).slice(1, 2 * g, 2 * g + 2);
      EXPECT_TRUE(at::equal(block, kernel[tables.group().left_quotient(g, h)]));
      inverted_differs = inverted_differs || !at::equal(block, kernel[tables.group().left_quotient(h, g)]);
    }
  }
  EXPECT_TRUE(inverted_differs);  // control: the other convention is another matrix
}

TEST(GroupLinear, CommutesWithLeftTranslation) {
  const GroupTables tables(named_group("octahedron"));
  const Tensor kernel = (at::arange(24 * 2 * 2, at::kDouble) * 0.37).sin().view({24, 2, 2});
  const Tensor w = expand_group_kernel(kernel, tables), x = (at::arange(48, at::kDouble) * 0.9).cos();
  const auto move = [&](const Tensor& f, int64_t g) {
    return f.view({24, 2}).index_select(0, tables.translation(g, at::kCPU)).flatten();
  };
  const Tensor other = (at::arange(48 * 48, at::kDouble) * 0.37).sin().view({48, 48});
  double control = 0;
  for (int64_t g = 0; g < 24; ++g) {
    EXPECT_LT((at::mv(w, move(x, g)) - move(at::mv(w, x), g)).abs().max().item<double>(), 1e-12);
    control =
        worst_of(control, (at::mv(other, move(x, g)) - move(at::mv(other, x), g)).abs().max().item<double>());
  }
  EXPECT_GT(control, 0.1);  // control: a matrix that is no group kernel does not commute
}

TEST(GroupLinear, DerivativesAreRight) {
  const GroupTables tables(named_group("tetrahedron"));
  const Tensor kernel = (at::arange(12 * 2 * 2, at::kDouble) * 0.37).sin().view({12, 2, 2});
  expect_second_gradients([&](const auto& x) { return expand_group_kernel(x[0], tables).pow(2); }, {kernel});
}

TEST(GroupLinear, WrongOrderIsRefused) {
  const GroupTables tables(named_group("tetrahedron"));
  EXPECT_THROW(expand_group_kernel(at::zeros({11, 2, 2}), tables), ShapeError);
}

}  // namespace group_linear_test
}  // namespace weyl
