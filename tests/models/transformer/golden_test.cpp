// State dicts of the public BaselineTransformer with random weights, made by tools/goldens/baseline_transformer.py: its
// outputs and the gradients of all weights, with global and with hierarchical attention.
#include <gtest/gtest.h>

#include "weyl/core/check.h"
#include "weyl/models/transformer/transformer.h"
#include "weyl/train/import.h"

namespace weyl::transformer {
namespace golden_test {

struct Golden {
  NamedTensors all, weights;
  Points points;
};

Segments segments(const Tensor& offsets) {
  return Segments::of_offsets(
      {offsets.const_data_ptr<int64_t>(), offsets.const_data_ptr<int64_t>() + offsets.numel()});
}

/// Its inputs in the order that ours are given in: numbers, the position, vectors.
Golden golden(const std::string& name, int64_t scalars) {
  Golden g;
  g.all = load_tensors(std::string(WEYL_SOURCE_DIR) + "/tests/goldens/baseline_transformer_" + name +
                       ".safetensors");
  for (const auto& [key, tensor] : g.all) {
    if (key.starts_with("weights.")) {
      g.weights[key.substr(8)] = tensor;
    }
  }
  const Tensor& x = g.all.at("inputs");
  g.points.graphs = segments(g.all.at("offsets"));
  g.points.objects = segments(g.all.at("object_offsets"));
  g.points.scalars = x.slice(1, 0, scalars);
  g.points.positions = x.slice(1, scalars, scalars + 3);
  g.points.vectors = x.slice(1, scalars + 3).unsqueeze(1);
  return g;
}

Interface interface_of(int64_t scalars, bool number) {
  Interface i;
  i.features = {{"s", Level::node, Kind::scalar, scalars}, {"v", Level::node, Kind::vector}};
  if (number) {
    i.outputs.push_back({"a", Level::node, Kind::scalar});
  }
  i.outputs.push_back({"b", Level::node, Kind::vector});
  return i;
}

double error(const Tensor& a, const Tensor& b) {
  return ((a - b).abs().max() / b.abs().max()).item<double>();
}

/// What our model of the same weights gives, and the gradients that the golden has; the largest error of all.
double largest_error(const std::string& name, int64_t scalars, bool number, Options options) {
  const BuildOn wide(at::kCPU, at::kDouble);
  options.width = 12;
  options.blocks = 2;
  options.centre = false;
  const Golden g = golden(name, scalars);
  const std::string attention(names_of(options.attention)[static_cast<size_t>(options.attention)]);
  Transformer model(options, interface_of(scalars, number));
  import_weights(model, g.weights, name);
  const Named outputs = model(g.points);
  Tensor y = outputs.at("b").reshape({-1, 3});
  y = number ? at::cat({outputs.at("a"), y}, 1) : y;
  double worst = error(y, g.all.at(attention + ".outputs"));
  (y * g.all.at("factors")).sum().backward();
  for (const Parameter& p : model.parameters()) {
    const Tensor& wanted = g.all.at(attention + ".gradient." + p.name);
    // Scores see no bias of the keys: its gradient is rounding.
    const double scale = std::max(wanted.abs().max().item<double>(), 1e-3);
    worst = std::max(worst, (p.tensor.grad() - wanted).abs().max().item<double>() / scale);
  }
  return worst;
}

constexpr double close = 1e-11, far = 1e-3;

TEST(TransformerGolden, IsTheBaselineOfTheScalingStudy) {
  Options o;
  o.heads = 4;
  o.head_width = 6;
  o.multi_query = true;
  EXPECT_LT(largest_error("query", 3, true, o), close);
  o.attention = AttentionScope::hierarchical;
  EXPECT_LT(largest_error("query", 3, true, o), close);
  o.activation = Activation::silu;  // control
  EXPECT_GT(largest_error("query", 3, true, o), far);
}

TEST(TransformerGolden, IsTheBaselineWithAHeadOfKeysForEachHeadOfQueries) {
  Options o;
  o.heads = 4;
  EXPECT_LT(largest_error("head", 3, true, o), close);
  o.attention = AttentionScope::hierarchical;
  EXPECT_LT(largest_error("head", 3, true, o), close);
}

TEST(TransformerGolden, IsTheBaselineOfTheNbodyExperimentInItsWrapper) {
  Options o;
  o.heads = 2;
  EXPECT_LT(largest_error("raw", 1, false, o), close);
}

TEST(TransformerGolden, IsTheBaselineThatKnowsTheOrder) {
  Options o;
  o.heads = 4;
  o.multi_query = true;
  o.rotary = 4096;  // their heads, three wide, become sixteen wide
  EXPECT_LT(largest_error("rotary", 3, true, o), close);
  o.attention = AttentionScope::hierarchical;
  EXPECT_LT(largest_error("rotary", 3, true, o), close);
  o.rotary = 100;  // control
  EXPECT_GT(largest_error("rotary", 3, true, o), far);
}

TEST(TransformerGolden, TheTwoAttentionsDiffer) {
  const Golden g = golden("query", 3);
  EXPECT_GT(error(g.all.at("global.outputs"), g.all.at("hierarchical.outputs")), far);
}

TEST(TransformerGolden, WeightsOfAnotherShapeAreRefusedByName) {
  const BuildOn wide(at::kCPU, at::kDouble);
  Options o{.width = 12, .heads = 4, .blocks = 2};  // multi-head
  Transformer model(o, interface_of(3, true));
  try {
    import_weights(model, golden("query", 3).weights, "w.pt");
    FAIL();
  } catch (const DataError& e) {
    EXPECT_NE(
        std::string(e.what()).find("w.pt: tensor 'blocks.0.attention.qkv_linear.linear.weight' is missing"),
        std::string::npos)
        << e.what();
  }
}

}  // namespace golden_test
}  // namespace weyl::transformer
