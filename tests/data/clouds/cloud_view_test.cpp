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

// ---- moments ----

const CloudInput kMoments{.centres = 12, .neighbours = 9, .neighbours_as = NeighboursAs::moments};

/// The moments of a point by their definition (cloud_input.h). In place of the eigenvalues of each matrix, what they are roots of:
/// its trace, the trace of its square, and its determinant.
struct Expected {
  std::vector<double> numbers, vectors;
};
Expected moments_by_definition(const std::vector<double>& points, int64_t row, int64_t count) {
  using V = std::array<double, 3>;
  const int64_t all = std::ssize(points) / 3;
  const auto at = [&](int64_t i) { return V{points[3 * i], points[3 * i + 1], points[3 * i + 2]}; };
  V to_mean{};
  std::vector<V> from;
  for (int64_t i = 0; i < all; ++i) {
    V v{};
    for (int d = 0; d < 3; ++d) {
      v[d] = at(i)[d] - at(row)[d];
      to_mean[d] += v[d] / static_cast<double>(all);
    }
    if (i != row) {
      from.push_back(v);
    }
  }
  const auto norm = [](const V& v) { return std::hypot(v[0], v[1], v[2]); };
  std::ranges::sort(from, {}, norm);
  const double radius = norm(from[count - 1]);
  Expected found{{radius, norm(to_mean)}, {to_mean[0], to_mean[1], to_mean[2]}};
  for (int b = 0; b < 2; ++b) {
    double sum = 0, m[3][3] = {};
    V mean{};
    for (int64_t j = 0; j < count; ++j) {
      const double r = norm(from[j]) / radius;
      const double w = (b == 0 ? 3 : 12 * r * r) * std::pow(1 - r * r, 2) / static_cast<double>(count);
      sum += w;
      for (int d = 0; d < 3; ++d) {
        mean[d] += w * from[j][d] / radius;
        for (int e = 0; e < 3; ++e) {
          m[d][e] += w * from[j][d] * from[j][e] / (radius * radius);
        }
      }
    }
    double trace = 0, square = 0;
    for (int d = 0; d < 3; ++d) {
      trace += m[d][d];
      for (int e = 0; e < 3; ++e) {
        square += m[d][e] * m[d][e];
      }
    }
    const double determinant = m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) -
                               m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0]) +
                               m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]);
    found.numbers.insert(found.numbers.end(), {sum, norm(mean), trace, square, determinant});
    found.vectors.insert(found.vectors.end(), mean.begin(), mean.end());
  }
  return found;
}

TEST(CloudMoments, AreThoseOfTheDefinition) {
  const auto points = cloud();
  const CloudView view = evaluated(kMoments);
  ASSERT_EQ(view.numbers.size(), 12U * moment_numbers);
  ASSERT_EQ(view.neighbours.size(), 12U * moment_vectors * 3);
  for (int64_t m = 0; m < 12; ++m) {
    const Expected expected = moments_by_definition(points, view.rows[m], 9);
    std::vector<double> found(view.numbers.begin() + m * moment_numbers,
                              view.numbers.begin() + (m + 1) * moment_numbers);
    for (const size_t first : {4U, 9U}) {  // of three eigenvalues
      const double a = found[first], b = found[first + 1], c = found[first + 2];
      EXPECT_LE(-1e-9, a);
      EXPECT_LE(a, b);
      EXPECT_LE(b, c);
      found[first] = a + b + c;
      found[first + 1] = a * a + b * b + c * c;
      found[first + 2] = a * b * c;
    }
    expect_near(found, expected.numbers, 1e-10);
    expect_near({view.neighbours.begin() + m * moment_vectors * 3,
                 view.neighbours.begin() + (m + 1) * moment_vectors * 3},
                expected.vectors);
  }
}

TEST(CloudMoments, OfACloudThatIsTurnedMirroredAndMovedAreTheSameNumbersAndTurnedVectors) {
  Stream stream(6, "turn");
  Rotation r = draw_rotation(Turning::uniform, kUp, stream);
  for (double& x : r) {
    x = -x;  // and mirrored
  }
  auto points = turned(cloud(), r);
  for (size_t i = 0; i < points.size(); ++i) {
    points[i] += i % 3 == 1 ? 7 : -3;
  }
  const CloudView before = evaluated(kMoments), after = view_of(points, kMoments, kUp, kUpright, nullptr);
  EXPECT_EQ(after.rows, before.rows);
  expect_near(after.numbers, before.numbers, 1e-7);
  expect_near(after.neighbours, turned(before.neighbours, r), 1e-10);
  // The control: of a cloud that is stretched they are others.
  auto stretched = cloud();
  for (size_t i = 0; i < stretched.size(); i += 3) {
    stretched[i] *= 1.2;
  }
  const CloudView other = view_of(stretched, kMoments, kUp, kUpright, nullptr);
  double change = 0;
  for (size_t i = 0; i < other.numbers.size(); ++i) {
    change = std::max(change, std::abs(other.numbers[i] - before.numbers[i]));
  }
  EXPECT_GT(change, 0.01);
}

/// On a lattice the last of nine neighbours is one of twelve that are equally far: which one is taken is a matter of the order
/// of the points, and the vectors to them show it.
TEST(CloudMoments, DoNotDependOnTheOrderOfThePointsNorOnWhichOfEquallyFarPointsIsTaken) {
  std::vector<double> lattice, reversed;
  for (int i = 0; i < 125; ++i) {
    lattice.insert(lattice.end(), {i % 5 * 1.0, i / 5 % 5 * 1.0, i / 25 * 1.0});
  }
  for (int i = 124; i >= 0; --i) {
    reversed.insert(reversed.end(), lattice.begin() + 3 * i, lattice.begin() + 3 * (i + 1));
  }
  const auto of_middle = [](const std::vector<double>& points, NeighboursAs as) {
    const CloudView view = view_of(points, {.neighbours = 9, .neighbours_as = as}, kUp, kUpright, nullptr);
    const int64_t vectors = as == NeighboursAs::moments ? moment_vectors : 9;
    std::vector<double> found(view.neighbours.begin() + 62 * vectors * 3,
                              view.neighbours.begin() + 63 * vectors * 3);
    if (as == NeighboursAs::moments) {
      found.insert(found.end(), view.numbers.begin() + 62 * moment_numbers,
                   view.numbers.begin() + 63 * moment_numbers);
    }
    return found;
  };
  expect_near(of_middle(lattice, NeighboursAs::moments), of_middle(reversed, NeighboursAs::moments));
  EXPECT_NE(of_middle(lattice, NeighboursAs::vectors), of_middle(reversed, NeighboursAs::vectors));
}

TEST(CloudMoments, OfPointsAtOnePlaceOnALineAndInAPlaneAreFinite) {
  for (const int dimensions : {0, 1, 2}) {
    std::vector<double> points(3 * 20, 0.5);
    Stream stream(3, "flat");
    for (size_t i = 0; i < points.size(); ++i) {
      points[i] = static_cast<int>(i % 3) < dimensions ? stream.uniform() : 0.5;
    }
    const CloudView view =
        view_of(points, {.neighbours = 5, .neighbours_as = NeighboursAs::moments}, kUp, kUpright, nullptr);
    for (int64_t m = 0; m < 20; ++m) {
      const double* x = view.numbers.data() + m * moment_numbers;
      EXPECT_TRUE(std::all_of(x, x + moment_numbers, [](double y) { return std::isfinite(y); }));
      for (int k = 0; k < 3 - dimensions; ++k) {  // as many directions are empty
        EXPECT_NEAR(x[4 + k], 0, 1e-8);
        EXPECT_NEAR(x[9 + k], 0, 1e-8);
      }
      EXPECT_EQ(x[0] > 0, dimensions > 0);
      EXPECT_EQ(x[6] > 1e-3, dimensions > 0);
    }
  }
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
  for (const int64_t few : {0, 3}) {
    EXPECT_EQ(refusal({.neighbours = few, .neighbours_as = NeighboursAs::moments}, 10),
              text("data.clouds.neighbours: must be at least 4 with neighbours_as = \"moments\", got ", few));
  }
  require_effects({.centres = 10, .neighbours = 12, .augment = CloudAugmentation{.draw = true}}, 0, "x");
  EXPECT_TRUE(features_of({}).empty());
  const auto features = features_of(kMoments);
  ASSERT_EQ(features.size(), 2U);
  EXPECT_EQ(features[0], (Quantity{.name = "surroundings", .channels = 12}));
  EXPECT_EQ(features[1], (Quantity{.name = "moments", .kind = Kind::vector, .channels = 3}));
}

}  // namespace cloud_view_test
}  // namespace weyl
