// Clouds as models are given them: centres, neighbours, frames, and the random changes of training.
#include "weyl/data/clouds/cloud_view.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

#include "tests/data/folder.h"
#include "weyl/core/check.h"

namespace weyl {
namespace cloud_view_test {

constexpr Rotation kUpright{1, 0, 0, 0, 1, 0, 0, 0, 1};
constexpr int kUp = 1;

/// A box of three different sides beside the origin.
std::vector<double> cloud(int64_t count = 200) {
  Stream stream(4, "cloud");
  std::vector<double> points;
  for (int64_t i = 0; i < count; ++i) {
    points.insert(points.end(), {2 * stream.uniform(), 0.5 + stream.uniform(), 3 * stream.uniform() - 1});
  }
  return points;
}

CloudView evaluated(const CloudInput& input, const Rotation& before = kUpright) {
  return view_of(cloud(), input, kUp, before, nullptr);
}

CloudView trained(const CloudInput& input, uint64_t epoch = 0) {
  Stream stream(9, "cloud", {epoch, 5});
  return view_of(cloud(), input, kUp, kUpright, &stream);
}

std::vector<double> turned(std::vector<double> vectors, const Rotation& r) {
  turn(std::span(vectors), r);
  return vectors;
}

void expect_near(const std::vector<double>& a, const std::vector<double>& b, double within = 1e-12) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    ASSERT_NEAR(a[i], b[i], within) << i;
  }
}

TEST(CloudView, IsTheCloudByDefault) {
  for (const CloudView& view : {evaluated({}), trained({}), trained({.centres = 200})}) {
    EXPECT_EQ(view.positions, cloud());
    EXPECT_EQ(view.nodes(), 200);
    EXPECT_EQ(view.rows.back(), 199);
    EXPECT_TRUE(view.neighbours.empty() && view.frame.empty());
  }
}

TEST(CloudView, NeighboursAreVectorsToPointsThatNeedNotBeNodes) {
  const auto points = cloud();
  const CloudView view = evaluated({.centres = 12, .neighbours = 5});
  ASSERT_EQ(view.nodes(), 12);
  ASSERT_EQ(view.neighbours.size(), 12U * 5 * 3);
  for (int64_t m = 0; m < 12; ++m) {
    std::vector<double> lengths;  // of all points from this node, by the definition
    for (size_t p = 0; p < points.size(); p += 3) {
      lengths.push_back(std::hypot(points[p] - view.positions[3 * m],
                                   points[p + 1] - view.positions[3 * m + 1],
                                   points[p + 2] - view.positions[3 * m + 2]));
    }
    EXPECT_EQ(lengths[view.rows[m]], 0);
    std::ranges::sort(lengths);
    for (int64_t k = 0; k < 5; ++k) {
      const double* v = view.neighbours.data() + (m * 5 + k) * 3;
      EXPECT_NEAR(std::hypot(v[0], v[1], v[2]), lengths[k + 1], 1e-12);  // 0 is the node itself
    }
  }
  EXPECT_THROW(evaluated({.neighbours = 200}), ShapeError);
}

TEST(CloudView, FramesAreTheAxesOfTheSampleAsItWasTurned) {
  EXPECT_EQ(evaluated({.frame = CloudFrame::up}).frame, (std::vector<double>{0, 1, 0}));
  EXPECT_EQ(evaluated({.frame = CloudFrame::axes}).frame, (std::vector<double>{1, 0, 0, 0, 1, 0, 0, 0, 1}));
  Stream stream(2, "turn");
  const Rotation r = draw_rotation(Turning::uniform, kUp, stream);
  expect_near(evaluated({.frame = CloudFrame::up}, r).frame, turned({0, 1, 0}, r));
  expect_near(evaluated({.frame = CloudFrame::axes}, r).frame, turned({1, 0, 0, 0, 1, 0, 0, 0, 1}, r));
}

TEST(CloudView, TurnsAllThatTurnsAlike) {
  for (const Turning turning : {Turning::z, Turning::so3, Turning::uniform}) {
    const CloudInput input{.centres = 20,
                           .neighbours = 3,
                           .frame = CloudFrame::axes,
                           .augment = CloudAugmentation{.rotate = turning}};
    const CloudView as_it_is = evaluated(input), view = trained(input);
    EXPECT_NE(view.turned, kUpright);
    EXPECT_EQ(view.rows, as_it_is.rows);  // no draw: the first centre is the same
    expect_near(view.positions, turned(as_it_is.positions, view.turned));
    expect_near(view.neighbours, turned(as_it_is.neighbours, view.turned));
    expect_near(view.frame, turned(as_it_is.frame, view.turned));
    const double upward = view.turned[4];
    EXPECT_EQ(turning == Turning::z, std::abs(upward - 1) < 1e-12);  // about the upward axis, here y
  }
}

TEST(CloudView, ScalesByFactorsOfTheWholeRangeAndLeavesTheFrame) {
  const CloudInput input{
      .neighbours = 2, .frame = CloudFrame::up, .augment = CloudAugmentation{.scale = 1.25}};
  const CloudView as_it_is = evaluated(input);
  double least = 2, most = 0;
  for (uint64_t epoch = 0; epoch < 300; ++epoch) {
    const CloudView view = trained(input, epoch);
    const double factor = view.positions[0] / as_it_is.positions[0];
    for (size_t i = 0; i < view.positions.size(); ++i) {
      ASSERT_NEAR(view.positions[i], factor * as_it_is.positions[i], 1e-12);
    }
    for (size_t i = 0; i < view.neighbours.size(); ++i) {
      ASSERT_NEAR(view.neighbours[i], factor * as_it_is.neighbours[i], 1e-12);
    }
    EXPECT_EQ(view.frame, as_it_is.frame);
    least = std::min(least, factor);
    most = std::max(most, factor);
  }
  EXPECT_GE(least, 0.8);
  EXPECT_LT(least, 0.81);
  EXPECT_LE(most, 1.25);
  EXPECT_GT(most, 1.24);
}

TEST(CloudView, NoiseIsNormalInUnitsOfTheSizeOfTheCloud) {
  const auto points = cloud(20000);
  double mean[3] = {}, size = 0, noise = 0, fourth = 0;
  for (size_t i = 0; i < points.size(); ++i) {
    mean[i % 3] += points[i] / 20000;
  }
  for (size_t i = 0; i < points.size(); ++i) {
    size += std::pow(points[i] - mean[i % 3], 2) / 20000;
  }
  Stream stream(1, "noise");
  const CloudView view =
      view_of(points, {.augment = CloudAugmentation{.jitter = 0.1}}, kUp, kUpright, &stream);
  for (size_t i = 0; i < points.size(); ++i) {
    const double x = (view.positions[i] - points[i]) / (0.1 * std::sqrt(size));
    noise += x * x / 60000;
    fourth += x * x * x * x / 60000;
  }
  EXPECT_NEAR(noise, 1, 0.03);
  EXPECT_NEAR(fourth, 3, 0.2);
}

TEST(CloudView, DrawsTheFirstCentreInTrainingAlone) {
  const CloudInput input{.centres = 4, .augment = CloudAugmentation{.draw = true}};
  std::set<int64_t> first;
  for (uint64_t epoch = 0; epoch < 40; ++epoch) {
    first.insert(trained(input, epoch).rows.front());
    EXPECT_EQ(trained(input, epoch).rows, trained(input, epoch).rows);
  }
  EXPECT_GT(first.size(), 20U);
  EXPECT_EQ(evaluated(input).rows, evaluated({.centres = 4}).rows);
}

TEST(CloudRows, AreDrawnWithoutRepeatsInTheirOrder) {
  std::vector<int64_t> seen(10);
  for (uint64_t epoch = 0; epoch < 600; ++epoch) {
    Stream stream(1, "rows", {epoch});
    const auto rows = draw_rows(10, 4, stream);
    ASSERT_EQ(rows.size(), 4U);
    EXPECT_EQ(std::ranges::adjacent_find(rows, std::greater_equal{}), rows.end());
    for (const int64_t row : rows) {
      ++seen[row];
    }
  }
  for (const int64_t count : seen) {
    EXPECT_NEAR(static_cast<double>(count), 240, 60);
  }
  Stream stream(1, "rows");
  EXPECT_EQ(draw_rows(3, 4, stream), (std::vector<int64_t>{0, 1, 2}));
  EXPECT_EQ(draw_rows(3, 0, stream), (std::vector<int64_t>{0, 1, 2}));
}

TEST(CloudInput, RefusesWhatCannotAct) {
  const auto refusal = [](const CloudInput& input, int64_t points) {
    return message_of<ConfigError>([&] { require_effects(input, points, "data.clouds"); });
  };
  EXPECT_EQ(
      refusal({.augment = CloudAugmentation{}}, 10),
      "data.clouds.augment: must draw, rotate, scale, jitter or shift, or be false; as it is it changes nothing");
  EXPECT_EQ(refusal({.augment = CloudAugmentation{.draw = true}}, 0),
            "data.clouds.augment.draw: needs points or centres above 0: it draws so many");
  EXPECT_EQ(refusal({.centres = 10}, 10),
            "data.clouds.centres: must be less than points = 10, of which they are chosen, got 10");
  EXPECT_EQ(refusal({.neighbours = 12}, 10),
            "data.clouds.neighbours: must be less than points = 10, among which they are, got 12");
  require_effects({.centres = 10, .neighbours = 12, .augment = CloudAugmentation{.draw = true}}, 0, "x");
  EXPECT_TRUE(features_of({}).empty());
}

}  // namespace cloud_view_test
}  // namespace weyl
