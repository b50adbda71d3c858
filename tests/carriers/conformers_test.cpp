// How many conformers molecules have before the first comes again.
#include "weyl/carriers/conformers.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "weyl/core/check.h"

namespace weyl {
namespace conformers_test {

/// (N, C, 3), of which each number stands for a place.
Tensor places(const std::vector<std::vector<double>>& atoms) {
  std::vector<Tensor> rows;
  for (const auto& row : atoms) {
    rows.push_back(at::tensor(row, at::kDouble).unsqueeze(1).expand({-1, 3}).clone());
  }
  return at::stack(rows);
}

std::vector<int64_t> counts(const Tensor& conformers, const std::vector<int64_t>& sizes) {
  const Tensor found = count_conformers(conformers, Segments::of_sizes(sizes));
  EXPECT_EQ(found.scalar_type(), at::kLong);
  return {found.const_data_ptr<int64_t>(), found.const_data_ptr<int64_t>() + found.numel()};
}

TEST(Conformers, AreCountedUntilTheFirstComesAgain) {
  // Two that alternate; four of which one atom stays; one; two, then the first, then others that no longer count.
  const Tensor four =
      places({{1, 2, 1, 2}, {5, 6, 5, 6}, {1, 1, 1, 1}, {1, 2, 3, 4}, {9, 9, 9, 9}, {1, 2, 1, 3}});
  EXPECT_EQ(counts(four, {2, 2, 1, 1}), (std::vector<int64_t>{2, 4, 1, 2}));
  // Atoms of another molecule do not count: the same rows, cut otherwise.
  EXPECT_EQ(counts(four, {1, 1, 1, 1, 1, 1}), (std::vector<int64_t>{2, 2, 1, 4, 1, 2}));
  EXPECT_EQ(counts(four.slice(1, 0, 1), {2, 2, 1, 1}), (std::vector<int64_t>{1, 1, 1, 1}));
  EXPECT_EQ(counts(four.slice(0, 0, 0), {}), std::vector<int64_t>{});
  // One coordinate alone makes another conformer.
  Tensor near = places({{1, 1}});
  near[0][1][2] += 1e-12;
  EXPECT_EQ(counts(near, {1}), std::vector<int64_t>{2});
  EXPECT_THROW(count_conformers(four, Segments::of_sizes(std::vector<int64_t>{2, 2})), ShapeError);
}

}  // namespace conformers_test
}  // namespace weyl
