// Steerable attention turns with its grid for every radial law, and only for positional vectors that do.
#include "weyl/models/steerable/encoder.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <memory>

#include "tests/models/steerable/turns.h"
#include "weyl/core/check.h"
#include "weyl/ops/steerable/attention.h"

namespace weyl::steerable {
namespace attention_test {

const SteerableType plane{2, {4, 4, 4, 4}}, space{3, {4, 2, 2}};

AttentionOptions options_of(RadialLaw law, ScoreScale scale = ScoreScale::head) {
  AttentionOptions options;
  options.heads = 2;
  options.scale = scale;
  options.positions.radial = law;
  options.positions.reach = 3;  // less than the grid's corners are apart
  return options;
}

constexpr RadialLaw laws[] = {RadialLaw::inverse_square, RadialLaw::gaussian, RadialLaw::table,
                              RadialLaw::none};

TEST(SteerableAttentionLayers, TurnWithTheGrid) {
  for (const RadialLaw law : laws) {
    const BuildOn wide(at::kCPU, at::kDouble);
    const Attention in_plane(plane, options_of(law)), in_space(space, options_of(law, ScoreScale::full));
    EXPECT_LT(turning_error(in_plane, plane, plane, 5), 1e-12) << static_cast<int>(law);
    EXPECT_LT(turning_error(in_space, space, space, 3), 1e-12) << static_cast<int>(law);
    const auto narrow = [](const Attention& layer) {
      return [&layer](const Tensor& x) { return layer(x.to(at::kFloat)).to(at::kDouble); };
    };
    EXPECT_LT(turning_error(narrow(in_plane), plane, plane, 5), 1e-5) << static_cast<int>(law);
    EXPECT_LT(turning_error(narrow(in_space), space, space, 3), 1e-5) << static_cast<int>(law);
  }
}

TEST(SteerableAttentionLayers, DoNotTurnWithPositionsThatAreNotHarmonic) {
  // Theorem 1 of the paper: the condition on P is necessary.
  for (const auto& [type, grid] :
       {std::pair{plane, std::vector<int64_t>{4, 4}}, std::pair{space, std::vector<int64_t>{3, 3, 3}}}) {
    const Positions right(type, grid, {});
    const auto of = [&, &type = type, &grid = grid](const Tensor& harmonics) {
      const auto p = std::make_shared<Positions>(grid, harmonics, right.radius(), 1);
      const int64_t multiplicity = type.dimension == 2 ? 16 : 8;
      const Tensor wk = at::linspace(-1, 1, 2 * multiplicity, at::kDouble).view({1, multiplicity, 2});
      return turning_error(
          [&](const Tensor& x) {
            const Tensor t = x.flatten(2);
            return attention(t, t, t, type, 2, 0.3, p, wk, wk.cos()).view(x.sizes());
          },
          type, type, grid[0]);
    };
    EXPECT_LT(of(right.harmonics()), 1e-12);
    EXPECT_GT(of(right.harmonics() * at::rand_like(right.harmonics())), 1e-3);
  }
}

TEST(SteerableAttentionLayers, DependOnRelativePositionsAlone) {
  // Tokens that a longer grid has beyond these, made to count for nothing by values and weights alike, would
  // still take part in the softmax: so the shift is tested on positions themselves.
  for (const RadialLaw law : {RadialLaw::inverse_square, RadialLaw::gaussian, RadialLaw::table}) {
    const Positions p(plane, {3, 4}, options_of(law).positions);
    const Tensor offsets = p.offsets();
    // (0, 0) from (1, 1), and (1, 2) from (2, 3)
    EXPECT_EQ(offsets[0][5].item<int64_t>(), offsets[6][11].item<int64_t>());
    EXPECT_NE(offsets[0][5].item<int64_t>(), offsets[5][0].item<int64_t>());
    const int64_t zero = offsets[0][0].item<int64_t>();
    EXPECT_EQ(p.harmonics()[zero].abs().max().item<double>(), 0);
  }
}

TEST(SteerableAttentionLayers, CountTheirComplexNumbersOnce) {
  const SteerableType type{2, {64, 64, 64, 64}};
  auto options = options_of(RadialLaw::inverse_square);
  options.heads = 8;
  EXPECT_EQ(Attention(type, options).parameter_count(), 4 * (4 * 64 * 64 + 2 * 64));
  EXPECT_EQ(Attention(space, options_of(RadialLaw::none)).parameter_count(), 4 * (16 + 4 + 4));
  const int64_t radii = position_radii(3, options_of(RadialLaw::table).positions);
  EXPECT_EQ(Attention(space, options_of(RadialLaw::table)).parameter_count(),
            4 * (16 + 4 + 4) + 2 * 8 * radii);
  EXPECT_THROW(Attention(type, {.heads = 3}), ShapeError);
}

TEST(SteerableAttentionLayers, TakeAnyGridAndKeepTheirSize) {
  for (const RadialLaw law : laws) {
    const Attention in_plane(plane, options_of(law)), in_space(space, options_of(law));
    for (const std::vector<int64_t>& grid : {std::vector<int64_t>{1, 1}, {7, 2}, {9, 12}}) {
      std::vector<int64_t> shape{2, 2 * plane.width()};
      shape.insert(shape.end(), grid.begin(), grid.end());
      const Tensor y = in_plane(at::randn(shape));
      EXPECT_EQ(y.sizes(), shape);
      EXPECT_TRUE(at::isfinite(y).all().item<bool>());
      EXPECT_LT(y.abs().max().item<double>(), 60);  // of the size of the input's
      EXPECT_GT(y.std().item<double>(), 0.05);
    }
    EXPECT_TRUE(at::isfinite(in_space(at::randn({1, 2 * space.width(), 3, 1, 2}))).all().item<bool>());
    EXPECT_THROW(in_plane(at::randn({2, 3, 4, 4})), ShapeError);
  }
}

TEST(SteerableAttentionLayers, LearnAllTheirWeights) {
  Attention layer(space, options_of(RadialLaw::table));
  layer(at::randn({2, 2 * space.width(), 3, 3, 3})).square().sum().backward();
  for (const Parameter& p : layer.parameters()) {
    const Tensor& g = p.tensor.grad();
    EXPECT_GT(g.abs().amin().item<double>(), 0) << p.name;
  }
}

TEST(SteerableAttentionLayers, DivideScoresByTheRootOfAHeadsChannelsOrOfAll) {
  const BuildOn wide(at::kCPU, at::kDouble);
  const Tensor x = at::randn({1, 2 * space.width(), 2, 2, 3}, at::kDouble), t = x.flatten(2);
  for (const auto& [scale, square] :
       {std::pair{ScoreScale::head, (4 + 2 + 2) / 3.0 / 2}, {ScoreScale::full, 4 + 3 * 2 + 5 * 2.0}}) {
    Attention layer(space, options_of(RadialLaw::none, scale));
    for (const Parameter& p : layer.parameters()) {  // queries, keys, values and outputs are the input
      Tensor identity = at::cat({at::eye(4, at::kDouble).flatten(), at::eye(2, at::kDouble).flatten(),
                                 at::eye(2, at::kDouble).flatten()});
      p.tensor.detach().copy_(at::stack({identity, at::zeros_like(identity)}, 1));
    }
    const Tensor expected = attention(t, t, t, space, 2, 1 / std::sqrt(square), nullptr, {}, {});
    EXPECT_LT((layer(x).flatten(2) - expected).abs().max().item<double>(), 1e-12) << square;
  }
}

TEST(SteerableAttentionLayers, GiveWeightsGradientsWhereTheyRequireThem) {
  Attention layer(space, options_of(RadialLaw::gaussian));
  layer.train(false);
  const Tensor x = at::randn({1, 2 * space.width(), 3, 3, 3}).requires_grad_(true);
  layer(x).square().sum().backward();
  for (const Parameter& p : layer.parameters()) {
    EXPECT_TRUE(p.tensor.grad().defined()) << p.name;
    p.tensor.mutable_grad().reset();
    p.tensor.set_requires_grad(false);
  }
  layer(x).square().sum().backward();
  EXPECT_TRUE(x.grad().defined());
  for (const Parameter& p : layer.parameters()) {
    EXPECT_FALSE(p.tensor.grad().defined()) << p.name;
  }
}

TEST(SteerableAttentionLayers, GiveTheSameByTheirDefinition) {
  const BuildOn wide(at::kCPU, at::kDouble);
  Attention layer(space, options_of(RadialLaw::gaussian));
  layer.train(false);
  const Tensor x = at::randn({2, 2 * space.width(), 3, 2, 4}, at::kDouble), y = layer(x);
  const UseReferences plain;
  EXPECT_LT((layer(x) - y).abs().max().item<double>(), 1e-12);
}

}  // namespace attention_test
}  // namespace weyl::steerable
