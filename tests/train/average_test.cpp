#include "weyl/train/loop/average.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include "weyl/core/check.h"

namespace weyl {
namespace average_test {

Parameter one_parameter(std::initializer_list<double> values, std::string name = "w") {
  Parameter p;
  p.name = std::move(name);
  p.tensor = at::tensor(std::vector<double>(values), at::kDouble).requires_grad_();
  return p;
}

void set(const Parameter& p, double value) {
  const at::NoGradGuard no_grad;
  p.tensor.fill_(value);
}

TEST(Average, FollowsTheFormula) {
  const Parameter p = one_parameter({5, 5});
  Average average({p}, 0.75);
  double a = 5;
  for (int t = 0; t < 10; ++t) {
    const double w = 1 + t * t;
    set(p, w);
    average.update();
    const double d = std::min(0.75, 1 - 1 / (t + 1.0));
    a = d * a + (1 - d) * w;
    EXPECT_NEAR(average.state().at("weights.w")[1].item<double>(), a, 1e-13) << t;
    if (t == 3) {
      EXPECT_NEAR(a, (1 + 2 + 5 + 10) / 4.0, 1e-13);  // while it warms up, the plain mean
    }
  }
}

TEST(Average, WithoutWarmUpTheFirstWeightsFade) {
  const Parameter p = one_parameter({5});
  Average average({p}, 0.75, /*warmup=*/false), warm({p}, 0.75);
  double a = 5;
  for (int t = 0; t < 10; ++t) {
    set(p, 1 + t * t);
    average.update();
    warm.update();
    a = 0.75 * a + 0.25 * (1 + t * t);
    EXPECT_NEAR(average.state().at("weights.w").item<double>(), a, 1e-13) << t;
  }
  EXPECT_GT(std::abs(warm.state().at("weights.w").item<double>() - a), 0.1);
}

TEST(Average, TakesWhatHasChangedSinceTheStepAsItWas) {
  const Parameter p = one_parameter({5}), other = one_parameter({5}, "other");
  Average average({p, other}, 0.5, /*warmup=*/false);
  set(p, 1);
  set(other, NAN);
  average.update({{"other", at::full({1}, 3.0, at::kDouble)}});
  EXPECT_EQ(average.state().at("weights.w").item<double>(), 3);
  EXPECT_EQ(average.state().at("weights.other").item<double>(), 4);
}

TEST(Average, RunningStatisticsAreAveragedWithTheWeightsThatMadeThem) {
  Parameter statistic = one_parameter({5}, "mean");
  statistic.tensor = statistic.tensor.detach();
  statistic.trainable = false;
  const Parameter p = one_parameter({5});
  Average average({p, statistic}, 0.5, /*warmup=*/false);
  set(p, 1);
  set(statistic, 1);
  average.update();
  average.swap();
  EXPECT_EQ(p.tensor.item<double>(), 3);
  EXPECT_EQ(statistic.tensor.item<double>(), 3);
  average.swap();
  EXPECT_EQ(statistic.tensor.item<double>(), 1);

  auto older = average.state();  // of a file from before they were averaged
  older.erase("weights.mean");
  set(statistic, 7);
  average.load(older, "f");
  EXPECT_EQ(average.state().at("weights.mean").item<double>(), 7);
  EXPECT_EQ(average.state().at("weights.w").item<double>(), 3);
}

TEST(Average, SwapsInPlaceAndBack) {
  const Parameter p = one_parameter({1});
  const auto* identity = p.tensor.unsafeGetTensorImpl();
  Average average({p}, 0.5);
  for (double w : {2.0, 4.0}) {
    set(p, w);
    average.update();
  }
  average.swap();
  EXPECT_EQ(p.tensor.item<double>(), 3);
  EXPECT_EQ(p.tensor.unsafeGetTensorImpl(), identity);
  EXPECT_TRUE(p.tensor.requires_grad());
  EXPECT_THROW(average.update(), ShapeError);
  EXPECT_EQ(average.state().at("weights.w").item<double>(), 3);
  average.swap();
  EXPECT_EQ(p.tensor.item<double>(), 4);
  EXPECT_TRUE(p.tensor.is_leaf());
}

TEST(Average, ContinuesFromItsStateBitForBit) {
  const Parameter p = one_parameter({1, 2}), q = one_parameter({1, 2});
  Average through({p}, 0.9);
  std::optional<Average> parted(std::in_place, std::vector{q}, 0.9);
  for (int t = 0; t < 20; ++t) {
    set(p, 1.0 / (t + 3));
    set(q, 1.0 / (t + 3));
    through.update();
    parted->update();
    if (t == 7) {
      const auto state = parted->state();
      parted.emplace(std::vector{q}, 0.9);
      parted->load(state, "f");
    }
  }
  EXPECT_TRUE(at::equal(through.state().at("weights.w"), parted->state().at("weights.w")));
}

TEST(Average, RefusesAStateThatIsNotItsOwn) {
  Average average({one_parameter({1, 2})}, 0.9);
  auto state = average.state();
  auto broken = state;
  broken.erase("weights.w");
  EXPECT_THROW(average.load(broken, "f"), DataError);
  broken = state;
  broken["weights.w"] = at::zeros({3}, at::kDouble);
  EXPECT_THROW(average.load(broken, "f"), DataError);
  broken = state;
  broken["weights.v"] = at::zeros({2}, at::kDouble);
  EXPECT_THROW(average.load(broken, "f"), DataError);
  broken = state;
  broken.erase("updates");
  EXPECT_THROW(average.load(broken, "f"), DataError);
  average.load(state, "f");
  EXPECT_THROW(Average({one_parameter({1})}, 1.0), ConfigError);
}

}  // namespace average_test
}  // namespace weyl
