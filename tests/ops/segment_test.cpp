#include "weyl/ops/segment.h"

#include "tests/gradients.h"
#include "weyl/core/check.h"

namespace weyl {
namespace segment_test {

const std::vector<int64_t> sizes{2, 0, 3, 1};

Tensor rows() {
  return (at::arange(12, at::kDouble) * 0.7).sin().view({6, 2});
}

TEST(Segment, SumsAndMeansAreThoseOfEachSegment) {
  const Segments s = Segments::of_sizes(sizes);
  const Tensor x = rows();
  const Tensor sum = segment_sum(x, s), mean = segment_mean(x, s);
  for (int64_t i = 0; i < s.count(); ++i) {
    const Tensor part = x.slice(0, s.offsets[i], s.offsets[i + 1]);
    EXPECT_TRUE(at::allclose(sum[i], part.sum(0)));
    EXPECT_TRUE(at::allclose(mean[i], part.sum(0) / std::max<int64_t>(s.size(i), 1)));
  }
  EXPECT_EQ(segment_sum(x.to(at::kLong), s).scalar_type(), at::kLong);
}

TEST(Segment, SoftmaxAddsUpToOneAndSurvivesLargeNumbers) {
  const Segments s = Segments::of_sizes(sizes);
  const Tensor y = segment_softmax(rows() * 1000, s);
  EXPECT_TRUE(at::isfinite(y).all().item<bool>());
  const Tensor total = segment_sum(y, s).select(1, 0);
  EXPECT_TRUE(at::allclose(total, at::tensor({1.0, 0.0, 1.0, 1.0}, at::kDouble)));
}

TEST(Segment, LogSumExpOfRaggedAndOfEqualSegments) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  Tensor x = rows() * 1000;
  x[5][1] = -infinity;  // alone in its segment
  for (const auto& lengths : {sizes, std::vector<int64_t>{3, 3}}) {
    const Segments s = Segments::of_sizes(lengths);
    const Tensor y = segment_logsumexp(x, s);
    for (int64_t i = 0; i < s.count(); ++i) {
      const Tensor part = x.slice(0, s.offsets[i], s.offsets[i + 1]);
      EXPECT_TRUE(
          at::allclose(y[i], s.size(i) > 0 ? at::logsumexp(part, 0) : at::full({2}, -infinity, at::kDouble)));
    }
  }
}

TEST(Segment, DerivativesAreRight) {
  const Segments s = Segments::of_sizes(sizes);
  expect_second_gradients([&](const auto& x) { return segment_sum(x[0] * x[0], s); }, {rows()});
  expect_second_gradients([&](const auto& x) { return segment_mean(x[0] * x[0], s); }, {rows()});
  expect_second_gradients([&](const auto& x) { return segment_softmax(x[0], s); }, {rows()});
  const Segments full = Segments::of_sizes(std::vector<int64_t>{2, 3, 1});
  expect_second_gradients([&](const auto& x) { return segment_logsumexp(x[0], full); }, {rows()});
}

TEST(Segment, NoRowsAtAll) {
  const Segments s = Segments::of_sizes(std::vector<int64_t>{0, 0});
  const Tensor x = at::zeros({0, 3});
  EXPECT_EQ(segment_sum(x, s).sizes(), (std::vector<int64_t>{2, 3}));
  EXPECT_TRUE(at::isfinite(segment_mean(x, s)).all().item<bool>());
  EXPECT_EQ(segment_softmax(x, s).size(0), 0);
  EXPECT_EQ(segment_sum(x, Segments::of_sizes(std::vector<int64_t>{})).size(0), 0);
}

TEST(WeightedSoftmax, IsItsFormulaAndLosesARowSmoothly) {
  const Segments s = Segments::of_sizes(sizes);
  const Tensor x = rows() * 3, w = at::tensor({0.5, 1.0, 0.0, 0.2, 0.9, 0.7}, at::kDouble);
  const Tensor e = x.exp() * w.unsqueeze(1);
  const Tensor want = e / (segment_sum(e, s) + 0.1).index_select(0, s.index);
  EXPECT_TRUE(at::allclose(segment_softmax(x, s, w, 0.1), want, 1e-13, 1e-14));
  EXPECT_TRUE(
      at::allclose(segment_softmax(x, s, at::ones_like(w), 1e-300), segment_softmax(x, s), 1e-13, 1e-14));
  expect_second_gradients([&](const auto& in) { return segment_softmax(in[0], s, in[1], 0.1); }, {x, w});
  // A row without weight passes nothing on, however large its score.
  for (const double more : {5.0, 40.0, 1e4}) {
    Tensor higher = x.clone();
    higher[2] += more;
    EXPECT_TRUE(at::allclose(segment_softmax(higher, s, w, 0.1), want, 1e-13, 1e-14)) << more;
    expect_finite_gradients([&](const auto& in) { return segment_softmax(in[0], s, in[1], 0.1); },
                            {higher.to(at::kFloat), w.to(at::kFloat)});
  }
}

TEST(WeightedSoftmax, StandsScoresOfAnySize) {
  const Segments s = Segments::of_sizes(std::vector<int64_t>{2, 2, 1, 0});
  const Tensor x = at::tensor({1000.0, 999.0, -1000.0, -1001.0, 0.0}, at::kFloat).view({5, 1}),
               w = at::tensor({1.0, 1.0, 1.0, 1.0, 0.0}, at::kFloat);
  const Tensor y = segment_softmax(x, s, w, 1e-6);
  EXPECT_NEAR(y[0][0].item<double>(), 1 / (1 + std::exp(-1.0)), 1e-6);
  EXPECT_EQ(y[2][0].item<double>(), 0);
  EXPECT_EQ(y[4][0].item<double>(), 0);
  expect_finite_gradients([&](const auto& in) { return segment_softmax(in[0], s, in[1], 1e-6); }, {x, w});
  EXPECT_EQ(segment_softmax(at::zeros({0, 2}), Segments::of_sizes(std::vector<int64_t>{0}), at::zeros({0}), 1)
                .size(0),
            0);
  EXPECT_THROW(segment_softmax(x, s, w, 0), ShapeError);
  EXPECT_THROW(segment_softmax(x, s, w.slice(0, 1), 1), ShapeError);
}

TEST(Segment, WrongRowsAreRefused) {
  EXPECT_THROW(segment_sum(at::zeros({5}), Segments::of_sizes(sizes)), ShapeError);
}

}  // namespace segment_test
}  // namespace weyl
