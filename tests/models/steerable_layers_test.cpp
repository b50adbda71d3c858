// Layers of the steerable system, each under the turns of its grid.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "tests/models/steerable_turns.h"
#include "weyl/core/check.h"
#include "weyl/models/steerable/activation.h"
#include "weyl/models/steerable/conv.h"
#include "weyl/models/steerable/linear.h"

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
  const SteerableNorm joint(plane, SteerableNorm::Law::joint), each(mixed, SteerableNorm::Law::irrep);
  const Tensor x = at::randn({2, 2 * plane.width(), 4, 4}, at::kDouble), y = joint(x);
  const Tensor of_channels = y.view({2, 2, 5, 3, 4, 4}).square().sum({1, 2});
  EXPECT_LT((of_channels - 1).abs().max().item<double>(), 1e-6);
  EXPECT_LT(turning_error(joint, plane, plane, 5), 1e-13);
  EXPECT_LT(turning_error(each, mixed, mixed, 4), 1e-13);
  EXPECT_THROW(SteerableNorm(mixed, SteerableNorm::Law::joint), ShapeError);
}

TEST(SteerableLinears, TurnWithTheGrid) {
  const BuildOn wide(at::kCPU, at::kDouble);
  const SteerableType wider{3, {4, 1, 3}}, halves{2, {2, 2, 1, 1, 3}};
  const SteerableLinear in_space(mixed, wider), in_plane(plane, halves);
  EXPECT_LT(turning_error(in_space, mixed, wider, 3), 1e-13);
  EXPECT_LT(turning_error(in_plane, plane, halves, 4), 1e-13);
  EXPECT_EQ(in_space.parameter_count(), 3 * 4 + 2 * 1 + 1 * 3);
}

TEST(SteerableLinears, AreOneComplexMatrixForEachIrrep) {
  const BuildOn wide(at::kCPU, at::kDouble);
  for (const auto& [in, out] :
       {std::pair{mixed, SteerableType{3, {2, 4, 3}}}, std::pair{plane, SteerableType{2, {2, 2, 2, 4, 4}}}}) {
    SteerableLinear layer(in, out);
    const Tensor x = at::randn({2, 2 * in.width(), 3, 4}, at::kDouble), y = layer(x);
    const Tensor w = layer.parameters()[0].tensor.detach();
    int64_t first = 0;
    for (int64_t l = 0; l < in.irreps(); ++l) {
      const int64_t o = out.channels[l], c = in.channels[l];
      const Tensor matrix = at::view_as_complex(w.narrow(0, first, o * c).contiguous()).view({o, c});
      first += o * c;
      for (int64_t m = 0; m < in.components(l); ++m) {
        const auto of = [&](const Tensor& features, const SteerableType& type) {
          const int64_t at_m = type.offset(l) + m * type.channels[l];
          return at::complex(features.narrow(1, at_m, type.channels[l]).contiguous(),
                             features.narrow(1, type.width() + at_m, type.channels[l]).contiguous());
        };
        const Tensor expected = at::matmul(matrix, of(x, in).flatten(2)).view({2, o, 3, 4});
        EXPECT_LT((of(y, out) - expected).abs().max().item<double>(), 1e-13) << l << " " << m;
      }
    }
    layer.train(false);
    EXPECT_TRUE(at::equal(layer(x), y));
    EXPECT_THROW(layer(at::randn({2, 3, 4, 4}, at::kDouble)), ShapeError);
  }
  EXPECT_THROW(SteerableLinear(plane, mixed), ShapeError);
}

TEST(SteerableLayers, AreFiniteAtZeroWithTheirGradients) {
  const BuildOn wide(at::kCPU, at::kDouble);
  const NormActivation act(plane, NormActivation::Law::gelu);
  const SteerableNorm norm(plane, SteerableNorm::Law::joint);
  const Tensor x = at::zeros({1, 2 * plane.width(), 3, 3}, at::kDouble).requires_grad_(true);
  const Tensor y = act(x) + norm(x);
  EXPECT_EQ(y.abs().max().item<double>(), 0);
  y.sum().backward();
  EXPECT_TRUE(at::isfinite(x.grad()).all().item<bool>());
}

}  // namespace
}  // namespace weyl
