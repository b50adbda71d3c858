// The plain transformer: its block against a transcription of the fact sheet, its symmetry, its options.
#include "weyl/models/transformer/transformer.h"

#include "tests/equivariance.h"
#include "tests/gradients.h"
#include "tests/models/points_fixtures.h"
#include "weyl/core/check.h"
#include "weyl/ops/autograd/differentiable.h"

namespace weyl::transformer {
namespace transformer_test {

Tensor weight(const Module& module, const std::string& name) {
  for (const auto& p : module.parameters()) {
    if (p.name == name) {
      return p.tensor;
    }
  }
  ADD_FAILURE() << "no parameter " << name;
  return {};
}

Tensor linear(const Module& m, const std::string& name, const Tensor& x) {
  return at::matmul(x, weight(m, name + ".weight").t()) + weight(m, name + ".bias");
}

Tensor layer_norm(const Tensor& x) {
  const Tensor centre = x - x.mean(-1, true);
  return centre / (centre.pow(2).mean(-1, true) + 1e-5).sqrt();
}

/// One block on one graph, head by head. The query's columns are (head_width, heads) with heads fastest, the
/// output projection's inputs (heads, head_width).
Tensor block_by_hand(const Module& m, const Tensor& x, int64_t heads, int64_t width, bool multi_query,
                     bool heads_fastest = true) {
  const Tensor normed = layer_norm(x);
  const auto head_of = [&](const Tensor& t, int64_t h) {
    return heads_fastest ? t.slice(1, h, at::nullopt, heads) : t.slice(1, h * width, (h + 1) * width);
  };
  const std::string a = "attention.qkv_linear.";
  std::vector<Tensor> results;
  for (int64_t h = 0; h < heads; ++h) {
    Tensor q, k, v;
    if (multi_query) {
      q = head_of(linear(m, a + "q_linear", normed), h);
      k = linear(m, a + "k_linear", normed);
      v = linear(m, a + "v_linear", normed);
    } else {
      const Tensor all = linear(m, a + "linear", normed);
      const auto part = [&](int64_t i) {
        return head_of(all.slice(1, i * heads * width, (i + 1) * heads * width), h);
      };
      q = part(0), k = part(1), v = part(2);
    }
    results.push_back(at::matmul(at::softmax(at::matmul(q, k.t()) / std::sqrt(double(width)), -1), v));
  }
  const Tensor mixed = x + linear(m, "attention.out_linear", at::cat(results, 1));
  const Tensor hidden = linear(m, "mlp.0", layer_norm(mixed));
  return mixed + linear(m, "mlp.2", hidden * 0.5 * (1 + at::erf(hidden / std::sqrt(2.0))));
}

TEST(Transformer, BlockIsThatOfTheSheet) {
  const BuildOn float64(at::kCPU, at::kDouble);
  at::manual_seed(1);
  for (const bool multi_query : {true, false}) {
    Options o;
    o.width = 12;
    o.heads = 3;
    o.head_width = 5;
    o.multi_query = multi_query;
    const Block block(o);
    const Tensor x = at::randn({6, 12}, at::kDouble);
    const Tensor y = block(x, {Segments::of_sizes(std::vector<int64_t>{4, 2}), {}, {}});
    const Tensor wanted = at::cat({block_by_hand(block, x.slice(0, 0, 4), 3, 5, multi_query),
                                   block_by_hand(block, x.slice(0, 4, 6), 3, 5, multi_query)});
    EXPECT_LT((y - wanted).abs().max().item<double>(), 1e-13);
    const Tensor slowest = block_by_hand(block, x.slice(0, 0, 4), 3, 5, multi_query, /*heads_fastest=*/false);
    EXPECT_GT((y.slice(0, 0, 4) - slowest).abs().max().item<double>(), 1e-3);
  }
}

Options small_block(bool multi_query, AttentionScope attention) {
  Options o;
  o.width = 12;
  o.heads = 4;
  o.head_width = 5;
  o.multi_query = multi_query;
  o.attention = attention;
  return o;
}

const Segments graphs = Segments::of_sizes(std::vector<int64_t>{4, 2}),
               objects = Segments::of_sizes(std::vector<int64_t>{1, 3, 2});

// In one pass or step by step, in training and in evaluation, where the reordered matrices are kept.
TEST(Transformer, TheFusedBlockIsThePlainOne) {
  const BuildOn float64(at::kCPU, at::kDouble);
  at::manual_seed(4);
  for (const bool multi_query : {true, false}) {
    for (const auto attention : {AttentionScope::global, AttentionScope::hierarchical}) {
      Block block(small_block(multi_query, attention));
      const Tensor x = at::randn({6, 12}, at::kDouble);
      const auto plain = [&] {
        const UseReferences definition;
        return block(x, {graphs, objects, {}}).detach();
      };
      EXPECT_LT((block(x, {graphs, objects, {}}) - plain()).abs().max().item<double>(), 1e-13);
      block.train(false);
      {
        const at::NoGradGuard quiet;
        const Tensor first = block(x, {graphs, objects, {}});
        EXPECT_LT((first - plain()).abs().max().item<double>(), 1e-13);
        EXPECT_TRUE(at::equal(block(x, {graphs, objects, {}}), first));
        for (const Parameter& p : block.parameters()) {
          p.tensor.mul_(1.5);
        }
        block.train(false);  // drops what was kept of the old weights
        EXPECT_LT((block(x, {graphs, objects, {}}) - plain()).abs().max().item<double>(), 1e-13);
        EXPECT_GT((block(x, {graphs, objects, {}}) - first).abs().max().item<double>(), 1e-2);
      }
    }
  }
}

TEST(Transformer, DerivativesOfTheBlockAreRight) {
  const BuildOn float64(at::kCPU, at::kDouble);
  at::manual_seed(5);
  const Tensor x = at::randn({6, 12}, at::kDouble);
  for (const bool multi_query : {true, false}) {
    for (const auto attention : {AttentionScope::global, AttentionScope::hierarchical}) {
      const Block block(small_block(multi_query, attention));
      const auto f = [&](const auto& in) { return block(in[0], {graphs, objects, {}}); };
      expect_second_gradients(f, {x});
      const ExpectSecondDerivatives forces;
      expect_second_gradients(f, {x});
    }
  }
}

TEST(Transformer, HierarchicalAttentionNeedsObjects) {
  const BuildOn float64(at::kCPU, at::kDouble);
  Options o{.width = 16, .heads = 2, .blocks = 1};
  o.attention = AttentionScope::hierarchical;
  Transformer model(o, interface_of_all_kinds(3));
  Points points = std::get<Points>(random_points({4, 2}, 3).input);
  try {
    model(points);
    FAIL();
  } catch (const ShapeError& e) {
    EXPECT_STREQ(e.what(), "model.transformer.attention: must be \"global\" for an input without objects");
  }
  points.objects = Segments::of_sizes(std::vector<int64_t>{1, 3, 2});
  const Named before = model(points);
  // Another scene changes nothing; another object of the same scene does.
  points.positions = points.positions.clone();
  points.positions.slice(0, 4, 6).mul_(3);
  EXPECT_TRUE(at::allclose(model(points).at("charges").slice(0, 0, 4), before.at("charges").slice(0, 0, 4),
                           1e-13, 1e-13));
  points.positions.slice(0, 1, 4).mul_(3);
  EXPECT_FALSE(at::allclose(model(points).at("charges").slice(0, 0, 1), before.at("charges").slice(0, 0, 1)));
  o.heads = 1;
  EXPECT_THROW(Transformer(o, interface_of_all_kinds(3)), ConfigError);
}

TEST(Transformer, FourierFeaturesAreOfAllCoordinatesTogether) {
  const BuildOn float64(at::kCPU, at::kDouble);
  at::manual_seed(2);
  const FourierFeatures features(6, 128, 0.1);
  const Tensor b = features.parameters()[0].tensor, x = at::randn({3, 6}, at::kDouble);
  EXPECT_FALSE(features.parameters()[0].trainable);
  EXPECT_NEAR(b.std().item<double>(), 0.1, 0.01);
  const Tensor angle = 2 * std::acos(-1.0) * at::matmul(x, b.t());
  EXPECT_TRUE(at::allclose(features(x), at::cat({at::cos(angle), at::sin(angle)}, 1), 1e-12, 1e-12));
}

std::shared_ptr<Transformer> make(const Options& o, int64_t dimension) {
  const BuildOn float64(at::kCPU, at::kDouble);
  at::manual_seed(3);
  auto model = std::make_shared<Transformer>(o, interface_of_all_kinds(dimension));
  model->train(false);
  return model;
}

TEST(Transformer, ClaimsPermutationsAndTranslationsAndNoRotation) {
  for (const int64_t dimension : {2, 3}) {
    Options o{.width = 32, .heads = 4, .blocks = 2};
    equivariance::expect_claims_hold(*make(o, dimension), random_points({4, 1, 0, 7}, dimension),
                                     schema_of_all_kinds(dimension));
    o.fourier = FourierOptions{.frequencies = 16};
    o.multi_query = true;
    o.pooling = Pooling::mean;
    equivariance::expect_claims_hold(*make(o, dimension), random_points({4, 1, 0, 7}, dimension),
                                     schema_of_all_kinds(dimension));
    o.attention = AttentionScope::hierarchical;
    Batch batch = random_points({4, 1, 0, 7}, dimension);
    std::get<Points>(batch.input).objects = Segments::of_sizes(std::vector<int64_t>{4, 1, 2, 5});
    equivariance::expect_claims_hold(*make(o, dimension), batch, schema_of_all_kinds(dimension));
  }
}

TEST(Transformer, WithoutCentringTranslationsAreNeitherClaimedNorTrue) {
  const auto model = make({.width = 32, .heads = 4, .blocks = 1, .centre = false}, 3);
  ASSERT_EQ(model->symmetry().exact.size(), 1U);
  EXPECT_EQ(model->symmetry().exact[0].of, Claim::Of::permutations);
  const Claim shift{Claim::Of::translations, "translations", nullptr};
  EXPECT_GT(equivariance::claim_error(*model, shift, random_points({4, 5}, 3), schema_of_all_kinds(3)), 1e-3);
}

TEST(Transformer, RefusesWhatItCannotGive) {
  Interface i = interface_of_all_kinds(3);
  i.outputs.push_back({"stress", Level::graph, Kind::symmetric_tensor, 1});
  EXPECT_THROW(Transformer({}, i), ConfigError);
  i = interface_of_all_kinds(3);
  i.features.push_back({"bond", Level::pair, Kind::scalar, 1});
  EXPECT_THROW(Transformer({}, i), ConfigError);
  EXPECT_THROW(Transformer({.width = 10, .heads = 3}, interface_of_all_kinds(3)), ConfigError);
}

}  // namespace transformer_test
}  // namespace weyl::transformer
