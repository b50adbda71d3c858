#include "weyl/core/segments.h"

#include <gtest/gtest.h>

#include "weyl/core/check.h"

namespace weyl {
namespace {

TEST(Segments, CountsRowsAndPairsOfRaggedGroups) {
  const auto s = Segments::of_sizes(std::vector<int64_t>{3, 0, 2});
  EXPECT_EQ(s.count(), 3);
  EXPECT_EQ(s.rows(), 5);
  EXPECT_EQ(s.longest(), 3);
  EXPECT_EQ(s.pairs(), 13);
  EXPECT_FALSE(s.uniform());
  const std::vector<int64_t> index(s.index.data_ptr<int64_t>(), s.index.data_ptr<int64_t>() + 5);
  EXPECT_EQ(index, (std::vector<int64_t>{0, 0, 0, 2, 2}));
}

TEST(Segments, EmptyIsAGroupOfNothing) {
  const auto s = Segments::of_sizes({});
  EXPECT_EQ(s.count(), 0);
  EXPECT_EQ(s.rows(), 0);
  EXPECT_EQ(s.longest(), 0);
  EXPECT_EQ(s.index.numel(), 0);
}

TEST(Segments, RefusesDecreasingOffsets) {
  EXPECT_THROW(Segments::of_offsets({0, 3, 2}), ShapeError);
  EXPECT_THROW(Segments::of_offsets({1, 2}), ShapeError);
  EXPECT_THROW(Segments::of_offsets({}), ShapeError);
}

}  // namespace
}  // namespace weyl
