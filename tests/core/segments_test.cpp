#include "weyl/core/segments.h"

#include <gtest/gtest.h>

#include "weyl/core/check.h"

namespace weyl {
namespace segments_test {

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

TEST(Segments, TablesAreMadeOnceForAllCopies) {
  const auto s = Segments::of_sizes(std::vector<int64_t>{3, 0, 2});
  const Segments copy = s;
  int made = 0;
  const auto make = [&] {
    ++made;
    return std::vector<at::Tensor>{at::tensor({1, 2}, at::kLong), at::Tensor()};
  };
  EXPECT_EQ(s.table("pairs", make)[0].const_data_ptr(), copy.table("pairs", make)[0].const_data_ptr());
  EXPECT_FALSE(copy.table("pairs", make)[1].defined());
  EXPECT_EQ(made, 1);
  copy.table("others", make);
  s.to(at::kCPU).table("pairs", make);  // elsewhere anew
  EXPECT_EQ(made, 3);
  EXPECT_TRUE(at::equal(s.offsets_on_device(), at::tensor({0, 3, 3, 5}, at::kInt)));
  EXPECT_TRUE(at::equal(s.sizes_on_device(), at::tensor({3, 0, 2}, at::kLong)));
  EXPECT_THROW(Segments{}.table("pairs", make), ShapeError);
}

TEST(Segments, AnIndexThatIsThereIsTaken) {
  const auto index = at::tensor({0, 0, 2}, at::kLong);
  const auto s = Segments::of_index({0, 2, 2, 3}, index);
  EXPECT_EQ(s.index.const_data_ptr(), index.const_data_ptr());
  EXPECT_EQ(s.sizes(), (std::vector<int64_t>{2, 0, 1}));
}

}  // namespace segments_test
}  // namespace weyl
