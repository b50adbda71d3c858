// No tool of the tests takes what is no number for an error of nothing: each is shown one, in float32 and float64,
// where another sample, tensor or element is right.
#include <ATen/ATen.h>
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "tests/algebra/lie/operations.h"
#include "tests/closeness.h"
#include "tests/data/fixtures.h"
#include "tests/equivariance.h"
#include "tests/golden.h"
#include "tests/gradients.h"
#include "tests/laws.h"
#include "tests/models/steerable/turns.h"
#include "weyl/algebra/finite/finite_group.h"

namespace weyl {
namespace nan_test {

constexpr at::ScalarType precisions[] = {at::kFloat, at::kDouble};

/// How many expectations fail in f.
int failures(const std::function<void()>& f) {
  testing::TestPartResultArray results;
  {
    testing::ScopedFakeTestPartResultReporter reporter(
        testing::ScopedFakeTestPartResultReporter::INTERCEPT_ONLY_CURRENT_THREAD, &results);
    f();
  }
  int count = 0;
  for (int i = 0; i < results.size(); ++i) {
    count += results.GetTestPartResult(i).failed() ? 1 : 0;
  }
  return count;
}

/// x with one number that is none.
Tensor spoilt(const Tensor& x) {
  Tensor y = x.clone();
  y.view({-1})[y.numel() / 2] = NAN;
  return y;
}

Tensor numbers_in(at::ScalarType type) {
  return at::arange(1, 13, at::kDouble).to(type).view({3, 4});
}

TEST(NaN, FailsTheLawsOfGroups) {
  // Turns by an angle; `bad` has an inverse that is no number.
  const float bad = 0.5F;
  laws::Operations<float> of{[](const float& a, const float& b) { return a + b; },
                             [](const float& a) { return -a; }, 0,
                             [](const float& a, const float& b) { return std::abs(double{a} - b); }};
  const std::vector<float> samples{0.25F, bad, 0.75F};
  EXPECT_EQ(failures([&] { laws::expect_group_laws(of, samples, 1e-6); }), 0);
  of.inverse = [=](const float& a) { return a == bad ? NAN : -a; };
  EXPECT_TRUE(std::isnan(laws::group_law_defect(of, samples)));
  EXPECT_GT(failures([&] { laws::expect_group_laws(of, samples, 1e-6); }), 0);
  const std::function<float(const float&)> rho = [=](const float& a) { return a == bad ? NAN : a; };
  EXPECT_TRUE(std::isnan(laws::homomorphism_defect(rho, of, of, samples)));
  EXPECT_GT(failures([&] { laws::expect_homomorphism(rho, of, of, samples, 1e-6); }), 0);
  EXPECT_TRUE(std::isnan(laws::orthogonal_matrices(2).distance({1, NAN, 0, 1}, {1, 0, 0, 1})));
}

template <class T>
void expect_lie_distances_keep_it() {
  Of<T> of(LieGroup::se3);
  auto g = of.random(), h = g;
  EXPECT_LT(Of<T>::distance(of, g, h), 1e-5);
  h[0] = std::numeric_limits<T>::quiet_NaN();
  EXPECT_TRUE(std::isnan(Of<T>::distance(of, g, h)));
  EXPECT_TRUE(std::isnan(largest_difference(g, h)));
}
TEST(NaN, IsTheDistanceOfLieGroups) {
  expect_lie_distances_keep_it<float>();
  expect_lie_distances_keep_it<double>();
}

TEST(NaN, FailsCloseness) {
  for (const auto type : precisions) {
    const Tensor x = numbers_in(type);
    EXPECT_EQ(failures([&] { expect_close({x, x}, {x, x}, 1e-6, "same"); }), 0);
    EXPECT_EQ(failures([&] { expect_close({x, spoilt(x)}, {x, x}, 1e-6, "found"); }), 1);
    EXPECT_EQ(failures([&] { expect_close({spoilt(x), x}, {x, x}, 1e-6, "found first"); }), 1);
    EXPECT_EQ(failures([&] { expect_close({x, x}, {x, spoilt(x)}, 1e-6, "right"); }), 1);
    EXPECT_EQ(failures([&] { expect_close({spoilt(x)}, {spoilt(x)}, 1e-6, "both"); }), 1);
  }
}

TEST(NaN, FailsGoldens) {
  for (const auto type : precisions) {
    const Tensor x = numbers_in(type);
    const std::vector<double> expected{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    EXPECT_EQ(failures([&] { golden::expect_numbers("x", x, expected, 1e-6); }), 0);
    EXPECT_EQ(failures([&] { golden::expect_numbers("x", spoilt(x), expected, 1e-6); }), 1);
    EXPECT_EQ(failures([&] { golden::expect_digest("x", x, 78, 78, {1, 2}, 1e-6); }), 0);
    EXPECT_GT(failures([&] { golden::expect_digest("x", spoilt(x), 78, 78, {1, 2}, 1e-6); }), 0);
  }
}

TEST(NaN, FailsGradients) {
  const Tensor x = at::tensor({1.0, 0.0, 2.0}, at::kDouble);
  const Expression square = [](const std::vector<Tensor>& in) { return in[0].pow(2); };
  // All values are right. At 0 the first derivative of `root` is no number, and the second one of `edge`.
  const Expression root = [](const std::vector<Tensor>& in) { return at::sqrt(in[0].pow(2)); };
  const Expression edge = [](const std::vector<Tensor>& in) { return in[0].abs().pow(1.5); };
  const Expression hole = [](const std::vector<Tensor>& in) {
    return at::where(in[0].abs() > 1e-9, in[0].detach() * NAN, in[0].pow(2));
  };
  EXPECT_EQ(failures([&] { expect_second_gradients(square, {x}); }), 0);
  EXPECT_EQ(failures([&] { expect_finite_gradients(square, {x}); }), 0);
  EXPECT_GT(failures([&] { expect_gradients(root, {x}); }), 0);
  EXPECT_GT(failures([&] { expect_gradients(root, {x.to(at::kFloat)}); }), 0);
  EXPECT_GT(failures([&] { expect_finite_gradients(root, {x}); }), 0);
  EXPECT_GT(failures([&] { expect_finite_gradients(edge, {x}); }), 0);
  EXPECT_GT(failures([&] { expect_second_gradients(edge, {x}); }), 0);
  EXPECT_GT(failures([&] { expect_gradients(hole, {at::zeros({1}, at::kDouble)}); }), 0);
}

/// Moves each point by its offset from the centroid, and sums up to the squared length of all: exactly equivariant,
/// until `good` calls have been answered; after them one of the outputs holds NaN.
class Fading : public PointsModel {
 public:
  explicit Fading(bool last)
      : PointsModel([] {
          Interface interface;
          interface.outputs = {{"a", Level::graph}, {"b", Level::node, Kind::vector}, {"c", Level::graph}};
          return interface;
        }()),
        spoilt_(last ? "c" : "a") {
    weight_ = parameter("weight", {1}, Init::normal(1));
  }
  Named forward(const Points& p) override {
    const Tensor offset = p.positions - p.positions.mean(0, true) + 0 * weight_;
    const Tensor size = offset.pow(2).sum().view({1, 1});
    Named y{{"a", size}, {"b", offset}, {"c", 2 * size}};
    if (--good < 0) {
      y[spoilt_] = spoilt(y[spoilt_]);
    }
    return y;
  }
  Symmetry symmetry() const override {
    return {{{Claim::Of::finite, "octahedron", named_group("octahedron")},
             {Claim::Of::rotations, "SO(3)", nullptr},
             {Claim::Of::translations, "translations", nullptr},
             {Claim::Of::permutations, "permutations", nullptr}},
            {}};
  }
  Work work(double /*nodes*/) const override { return {1}; }

  int good = 0;

 private:
  std::string spoilt_;
  Tensor weight_;
};

TEST(NaN, FailsEveryClaimOfAModel) {
  const int for_ever = std::numeric_limits<int>::max();
  at::manual_seed(3);
  Points points;
  points.positions = at::randn({5, 3}, at::kDouble);
  points.graphs = Segments::of_sizes(std::vector<int64_t>{5});
  for (const bool last : {false, true}) {
    for (const auto type : precisions) {
      Fading model(last);
      const Schema schema{.interface = model.interface};
      const Batch batch{points, {}};
      model.to(type);
      for (const Claim& claim : model.symmetry().exact) {
        model.good = for_ever;
        EXPECT_LT(equivariance::claim_error(model, claim, batch, schema), 1e-4) << claim.group;
        model.good = 3;  // the first draw is right
        EXPECT_TRUE(std::isnan(equivariance::claim_error(model, claim, batch, schema))) << claim.group;
      }
      model.good = 0;
      EXPECT_GT(failures([&] { equivariance::expect_claims_hold(model, batch, schema); }), 0);
    }
  }
}

TEST(NaN, FailsRelativeErrorsAndLayers) {
  const GroupTables tables(named_group("tetrahedron"));
  for (const auto type : precisions) {
    const Tensor x = numbers_in(type);
    for (const char* bad : {"a", "b"}) {
      Named found{{"a", x + 1}, {"b", x + 1}};
      found[bad] = spoilt(found[bad]);
      EXPECT_TRUE(std::isnan(equivariance::relative_error(found, {{"a", x}, {"b", x}}))) << bad;
    }
    const Tensor f = at::arange(24, at::kDouble).to(type).sin().view({1, 24});
    const auto layer = [&](int64_t bad) {
      return [&, bad](int64_t g) {
        const Tensor y = equivariance::moved_frames(f, tables, g).pow(2);
        return g == bad ? spoilt(y) : y;
      };
    };
    EXPECT_EQ(failures([&] { equivariance::expect_layer_commutes("square", tables, layer(-1), 1e-6); }), 0);
    EXPECT_GT(failures([&] { equivariance::expect_layer_commutes("square", tables, layer(7), 1e-6); }), 0);
  }
}

TEST(NaN, IsTheErrorOfTurnsAndTheDifferenceOfBatches) {
  int calls = 0;
  const auto square = [&](const Tensor& x) { return ++calls == 3 ? spoilt(x) : x; };
  EXPECT_TRUE(std::isnan(steerable::turning_error(square, {2, {1}}, {2, {1}}, 3)));
  for (const auto type : precisions) {
    const Batch a = rich_batch({3, 2}, type);
    for (const char* name : {"energy", "volume"}) {
      Batch b = a;
      b.labels[name] = spoilt(b.labels[name]);
      EXPECT_TRUE(std::isnan(difference(a, b))) << name;
    }
    Batch b = a;
    auto& positions = std::get<Points>(b.input).positions;
    positions = spoilt(positions);
    EXPECT_TRUE(std::isnan(difference(a, b)));
  }
}

}  // namespace nan_test
}  // namespace weyl
