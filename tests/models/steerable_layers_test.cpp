// Layers of the steerable system, each under the turns of its grid.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "tests/models/steerable_turns.h"
#include "weyl/core/check.h"
#include "weyl/models/steerable/activation.h"
#include "weyl/models/steerable/conv.h"

namespace weyl {
namespace {

const SteerableType plane{2, {3, 3, 3, 3, 3}}, space{3, {2, 2, 2}}, mixed{3, {3, 2, 1}};

TEST(SteerableConvs, TurnWithTheGrid) {
  const BuildOn wide(at::kCPU, at::kDouble);
  for (const int64_t stride : {1, 2}) {
    SteerableConvOptions options;
    options.stride = stride;
    const SteerableConv in_plane({2, {1}}, plane, options), in_space(mixed, space, options);
    EXPECT_LT(turning_error(in_plane, {2, {1}}, plane, 9), 1e-13) << stride;
    EXPECT_LT(turning_error(in_space, mixed, space, 7), 1e-13) << stride;
  }
  SteerableConvOptions valid;
  valid.same = false;
  valid.dilation = 2;
  EXPECT_LT(turning_error(SteerableConv(plane, plane, valid), plane, plane, 11), 1e-13);
}

TEST(SteerableConvs, DoNotTurnWhenStridesCutARow) {
  const BuildOn wide(at::kCPU, at::kDouble);
  SteerableConvOptions options;
  options.stride = 2;
  EXPECT_GT(turning_error(SteerableConv(plane, plane, options), plane, plane, 8), 1e-2);
}

TEST(SteerableConvs, HaveComplexWeights) {
  const SteerableConv conv({2, {3}}, {2, {8, 8, 8, 8}}, {});
  EXPECT_EQ(conv.parameter_count_real(), 2 * conv.parameter_count());
}

TEST(SteerableConvs, GiveTheSameInEvaluationMode) {
  const BuildOn wide(at::kCPU, at::kDouble);
  SteerableConv conv(plane, plane, {});
  const Tensor x = at::randn({2, 2 * plane.width(), 6, 6}, at::kDouble), y = conv(x);
  conv.train(false);
  EXPECT_TRUE(at::equal(conv(x), y));
  EXPECT_TRUE(at::equal(conv(x), y));
  EXPECT_THROW(conv(at::randn({2, 3, 6, 6}, at::kDouble)), ShapeError);
}

TEST(NormActivations, TurnWithTheGrid) {
  const BuildOn wide(at::kCPU, at::kDouble);
  for (const auto law : {NormActivation::Law::relu, NormActivation::Law::gelu}) {
    NormActivation in_plane(plane, law), in_space(mixed, law);
    for (Module* m : {static_cast<Module*>(&in_plane), static_cast<Module*>(&in_space)}) {
      m->parameters()[0].tensor.detach().uniform_(-1, 0);
    }
    EXPECT_LT(turning_error(in_plane, plane, plane, 5), 1e-13);
    EXPECT_LT(turning_error(in_space, mixed, mixed, 4), 1e-13);
  }
}

TEST(SteerableNorms, GiveVectorsOfLengthOneAndTurn) {
  const SteerableNorm joint(plane, true), each(mixed, false);
  const Tensor x = at::randn({2, 2 * plane.width(), 4, 4}, at::kDouble), y = joint(x);
  const Tensor of_channels = y.view({2, 2, 5, 3, 4, 4}).square().sum({1, 2});
  EXPECT_LT((of_channels - 1).abs().max().item<double>(), 1e-6);
  EXPECT_LT(turning_error(joint, plane, plane, 5), 1e-13);
  EXPECT_LT(turning_error(each, mixed, mixed, 4), 1e-13);
  EXPECT_THROW(SteerableNorm(mixed, true), ShapeError);
}

TEST(SteerableLayers, AreFiniteAtZeroWithTheirGradients) {
  const BuildOn wide(at::kCPU, at::kDouble);
  const NormActivation act(plane, NormActivation::Law::gelu);
  const SteerableNorm norm(plane, true);
  const Tensor x = at::zeros({1, 2 * plane.width(), 3, 3}, at::kDouble).requires_grad_(true);
  const Tensor y = act(x) + norm(x);
  EXPECT_EQ(y.abs().max().item<double>(), 0);
  y.sum().backward();
  EXPECT_TRUE(at::isfinite(x.grad()).all().item<bool>());
}

}  // namespace
}  // namespace weyl
