#include "weyl/ops/pairs.h"

#include "tests/gradients.h"
#include "weyl/ops/segment.h"

namespace weyl {
namespace {

TEST(Pairs, StandInTheOrderOfPairLevel) {
  const Segments graphs = Segments::of_sizes(std::vector<int64_t>{2, 0, 3, 1});
  const Pairs pairs = all_pairs(graphs);
  const auto rows = [](std::vector<int64_t> values) { return at::tensor(values, at::kLong); };
  EXPECT_TRUE(at::equal(pairs.first, rows({0, 0, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 5})));
  EXPECT_TRUE(at::equal(pairs.second, rows({0, 1, 0, 1, 2, 3, 4, 2, 3, 4, 2, 3, 4, 5})));
  EXPECT_EQ(pairs.first.size(0), graphs.pairs());
  EXPECT_EQ(pairs.of_first.sizes(), (std::vector<int64_t>{2, 2, 3, 3, 3, 1}));
  EXPECT_EQ(all_pairs(Segments::of_sizes(std::vector<int64_t>{})).second.size(0), 0);
}

TEST(Pairs, OfAGraphSumToItsCentroid) {
  const Segments graphs = Segments::of_sizes(std::vector<int64_t>{2, 0, 3, 1});
  const Tensor x = (at::arange(12, at::kDouble) * 0.7).sin().view({6, 2});
  const auto mean_of_all = [&](const auto& in) {
    const Pairs pairs = all_pairs(graphs);
    return segment_mean(in[0].index_select(0, pairs.second), pairs.of_first);
  };
  EXPECT_TRUE(at::allclose(mean_of_all(std::vector<Tensor>{x}),
                           segment_mean(x, graphs).index_select(0, graphs.index), 1e-14, 1e-14));
  expect_gradients(mean_of_all, {x});
}

}  // namespace
}  // namespace weyl
