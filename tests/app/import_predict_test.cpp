// Weights from elsewhere, through the built program: `import` with an [interface], `predict --gradient` on a
// tensor file, number for number what the library computes, of a potential and of a classifier.
#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/app/program.h"
#include "weyl/core/tensor_file.h"
#include "weyl/models/systems.h"
#include "weyl/train/loop/checkpoint.h"
#include "weyl/train/recipe.h"

namespace weyl {
namespace import_predict_test {

const char* const config = R"(
[interface]
dimension = 3
typical_nodes = 4
features = [{ name = "charge" }, { name = "velocity", kind = "vector" }]
outputs = [{ name = "energy", level = "graph" }, { name = "dipole", level = "graph", kind = "vector" }, { name = "push", kind = "vector" }]
[model]
system = "platonic"
[model.platonic]
width = 48
heads = 12
blocks = 1
)";

TEST(ImportThenPredict, GivesTheLibrarysNumbersAndTheGradient) {
  const std::string folder = scratch("import");
  std::ofstream(folder + "/c.toml") << config;
  const Recipe recipe = read_recipe(folder + "/c.toml");
  at::manual_seed(5);
  const BuildOn build_on(at::kCPU, at::kDouble);
  const auto model = build(recipe.model, *recipe.interface);
  model->train(false);
  NamedTensors weights;
  for (const Parameter& p : model->parameters()) {
    p.tensor.requires_grad_(false);
    weights["module." + p.name] = p.tensor;  // as a wrapper of the authors would name it
  }
  save_tensors(folder + "/weights.safetensors", weights);
  const Outcome imported =
      weyl_program("import weights.safetensors --config c.toml --out m.safetensors --json", folder);
  ASSERT_EQ(imported.code, 0) << imported.err;
  EXPECT_EQ(weyl_program("import weights.safetensors --config c.toml --out m.safetensors", folder).code, 2);
  EXPECT_EQ(
      weyl_program("import weights.safetensors --config c.toml --out m.safetensors --force", folder).code, 0);

  Points points;
  points.graphs = Segments::of_sizes(std::vector<int64_t>{3, 1, 4});
  points.positions = at::randn({8, 3}, at::kDouble);
  points.scalars = at::randn({8, 1}, at::kDouble);
  points.vectors = at::randn({8, 1, 3}, at::kDouble);
  save_tensors(folder + "/points.safetensors", {{"positions", points.positions},
                                                {"scalars", points.scalars},
                                                {"vectors", points.vectors},
                                                {"offsets", at::tensor(points.graphs.offsets, at::kLong)}});
  const Outcome predicted = weyl_program(
      "predict m.safetensors points.safetensors --out out.safetensors --gradient --batch 2", folder);
  ASSERT_EQ(predicted.code, 0) << predicted.err;
  const NamedTensors out = load_tensors(folder + "/out.safetensors");

  const Named expected = (*model)(points);
  EXPECT_TRUE(at::allclose(out.at("energy"), expected.at("energy"), 1e-12, 1e-12));
  EXPECT_TRUE(at::equal(out.at("graph_scalars"), out.at("energy")));
  EXPECT_TRUE(at::allclose(out.at("graph_vectors"), expected.at("dipole"), 1e-12, 1e-12));
  EXPECT_TRUE(at::allclose(out.at("node_vectors"), expected.at("push"), 1e-12, 1e-12));
  EXPECT_FALSE(out.contains("node_scalars"));
  for (const auto& [node, axis] : {std::pair<int64_t, int64_t>{0, 0}, {4, 2}, {7, 1}}) {
    const double h = 1e-5;
    double sums[2];
    for (int side = 0; side < 2; ++side) {
      Points moved = points;
      moved.positions = points.positions.clone();
      moved.positions[node][axis] += side == 0 ? -h : h;
      sums[side] = (*model)(moved).at("energy").sum().item<double>();
    }
    EXPECT_NEAR(out.at("gradient")[node][axis].item<double>(), (sums[1] - sums[0]) / (2 * h), 1e-8);
  }

  save_tensors(folder + "/none.safetensors", {{"positions", at::zeros({0, 3})},
                                              {"scalars", at::zeros({0, 1})},
                                              {"vectors", at::zeros({0, 1, 3})},
                                              {"offsets", at::zeros({1}, at::kLong)}});
  EXPECT_EQ(
      weyl_program("predict m.safetensors none.safetensors --out nothing.safetensors --gradient", folder)
          .code,
      0);
  const NamedTensors nothing = load_tensors(folder + "/nothing.safetensors");
  for (const auto& [name, tensor] : out) {  // no rows, and every output all the same
    ASSERT_TRUE(nothing.contains(name)) << name;
    EXPECT_EQ(nothing.at(name).size(0), name == "offsets" ? 1 : 0) << name;
    EXPECT_EQ(nothing.at(name).sizes().slice(1), tensor.sizes().slice(1)) << name;
  }
}

/// A state dict of the public baseline of the scaling study, with half of the heads inside objects.
TEST(ImportThenPredict, GivesTheNumbersOfThePublicBaselineTransformer) {
  const std::string folder = scratch("import-baseline");
  std::ofstream(folder + "/c.toml") << R"(
[interface]
features = [{ name = "s", channels = 3 }, { name = "v", kind = "vector" }]
outputs = [{ name = "a" }, { name = "b", kind = "vector" }]
[model]
system = "transformer"
[model.transformer]
width = 12
heads = 4
head_width = 6
blocks = 2
multi_query = true
attention = "hierarchical"
centre = false
)";
  const NamedTensors golden =
      load_tensors(std::string(WEYL_SOURCE_DIR) + "/tests/goldens/baseline_transformer_query.safetensors");
  NamedTensors weights;
  for (const auto& [name, tensor] : golden) {
    if (name.starts_with("weights.")) {
      weights[name.substr(8)] = tensor;
    }
  }
  save_tensors(folder + "/w.safetensors", weights);
  const Tensor x = golden.at("inputs");
  NamedTensors input{{"scalars", x.slice(1, 0, 3).contiguous()},
                     {"positions", x.slice(1, 3, 6).contiguous()},
                     {"vectors", x.slice(1, 6, 9).contiguous().unsqueeze(1)},
                     {"offsets", golden.at("offsets")},
                     {"object_offsets", golden.at("object_offsets")}};
  save_tensors(folder + "/points.safetensors", input);
  const Outcome imported = weyl_program("import w.safetensors --config c.toml --out m.safetensors", folder);
  ASSERT_EQ(imported.code, 0) << imported.err;
  const Outcome predicted =
      weyl_program("predict m.safetensors points.safetensors --out out.safetensors", folder);
  ASSERT_EQ(predicted.code, 0) << predicted.err;
  const NamedTensors out = load_tensors(folder + "/out.safetensors");
  const Tensor y = at::cat({out.at("node_scalars"), out.at("node_vectors").view({-1, 3})}, 1);
  const Tensor wanted = golden.at("hierarchical.outputs");
  EXPECT_LT(((y - wanted).abs().max() / wanted.abs().max()).item<double>(), 1e-11);

  // Without objects there is nothing to be inside of: one line.
  input.erase("object_offsets");
  save_tensors(folder + "/plain.safetensors", input);
  const Outcome refused =
      weyl_program("predict m.safetensors plain.safetensors --out none.safetensors", folder);
  EXPECT_EQ(refused.code, 3) << refused.err;
  EXPECT_NE(refused.err.find("model.transformer.attention: must be \"global\" for an input without objects"),
            std::string::npos)
      << refused.err;
  EXPECT_EQ(std::count(refused.err.begin(), refused.err.end(), '\n'), 1) << refused.err;
}

TEST(ImportThenPredict, NamesAWrongTensorAndWritesNothing) {
  const std::string folder = scratch("import-wrong");
  std::ofstream(folder + "/c.toml") << config;
  const Recipe recipe = read_recipe(folder + "/c.toml");
  const auto model = build(recipe.model, *recipe.interface);
  NamedTensors weights;
  for (const Parameter& p : model->parameters()) {
    weights[p.name] = p.tensor.detach();
  }
  const std::string name = weights.begin()->first;
  const auto fails = [&](const NamedTensors& tensors, const std::string& named) {
    save_tensors(folder + "/w.safetensors", tensors);
    const Outcome outcome = weyl_program("import w.safetensors --config c.toml --out m.safetensors", folder);
    EXPECT_EQ(outcome.code, 3);
    EXPECT_NE(outcome.err.find(named), std::string::npos) << outcome.err;
    EXPECT_FALSE(std::filesystem::exists(folder + "/m.safetensors"));
  };
  NamedTensors missing = weights;
  missing.erase(name);
  fails(missing, name);
  NamedTensors unexpected = weights;
  unexpected["surplus.weight"] = at::ones({2});
  fails(unexpected, "surplus.weight");
  NamedTensors misshaped = weights;
  misshaped[name] = at::ones({1, 2, 3});
  fails(misshaped, name);
}

// Nothing has to be said: the weights themselves tell whether their model was given positions.
TEST(ImportThenPredict, PositionVectorIsWhatTheWeightsHave) {
  const std::string folder = scratch("import-positions");
  const std::string bare = R"([interface]
dimension = 3
typical_nodes = 4
outputs = [{ name = "energy", level = "graph" }]
[model]
system = "platonic"
[model.platonic]
width = 48
heads = 12
blocks = 1
)";
  std::ofstream(folder + "/c.toml") << bare;
  for (const char* given : {"false", "true"}) {
    const Recipe recipe =
        read_recipe(folder + "/c.toml", {std::string("model.platonic.position_vector=") + given});
    NamedTensors weights;
    for (const Parameter& p : build(recipe.model, *recipe.interface)->parameters()) {
      weights["module." + p.name] = p.tensor.detach();
    }
    save_tensors(folder + "/w.safetensors", weights);
    const Outcome imported =
        weyl_program("import w.safetensors --config c.toml --out m.safetensors --force", folder);
    EXPECT_EQ(imported.code, 0) << imported.err;
    const std::string info = weyl_program("info m.safetensors --json", folder).out;
    EXPECT_NE(info.find(std::string("\"position_vector\": ") + given), std::string::npos) << info;
    // What is said is not overruled.
    const std::string other = given == std::string("true") ? "false" : "true";
    const Outcome refused = weyl_program(
        "import w.safetensors --config c.toml --out n.safetensors "
        "model.platonic.position_vector=" +
            other,
        folder);
    EXPECT_EQ(refused.code, 3);
    EXPECT_NE(refused.err.find("x_embedder.kernel"), std::string::npos) << refused.err;
  }
}

TEST(PredictGradient, OfAClassifierIsThatOfItsLogits) {
  const std::string folder = scratch("classifier");
  std::ofstream(folder + "/c.toml") << R"([data]
set = "modelnet"
[data.modelnet]
path = "shapes"
carrier = "points"
points = 12
[task]
name = "classification"
[model]
system = "platonic"
[model.platonic]
width = 48
heads = 12
blocks = 1
position_vector = true
[train]
steps = 2
batch = 4
)";
  ASSERT_EQ(weyl_program("data make solids --out shapes train=20 test=10 points=12", folder).code, 0);
  const Outcome trained = weyl_program("train c.toml --out run", folder);
  ASSERT_EQ(trained.code, 0) << trained.err;
  Points points;
  points.graphs = Segments::of_sizes(std::vector<int64_t>{5, 1, 4});
  at::manual_seed(5);
  points.positions = at::randn({10, 3}, at::kDouble);
  save_tensors(folder + "/points.safetensors",
               {{"positions", points.positions}, {"offsets", at::tensor(points.graphs.offsets, at::kLong)}});
  const Outcome predicted = weyl_program(
      "predict run points.safetensors --out out.safetensors --gradient --dtype float64 --batch 2", folder);
  ASSERT_EQ(predicted.code, 0) << predicted.err;
  const NamedTensors out = load_tensors(folder + "/out.safetensors");

  const SavedModel saved = load_model(folder + "/run", at::kCPU, at::kDouble);
  const at::NoGradGuard quiet;
  EXPECT_TRUE(at::allclose(out.at("logits"), (*saved.model)(points).at("logits"), 1e-10, 1e-12));
  EXPECT_TRUE(at::equal(out.at("graph_scalars"), out.at("logits")));
  EXPECT_TRUE(at::allclose(out.at("probabilities"), at::softmax(out.at("logits"), 1), 1e-10, 1e-12));
  EXPECT_GT(out.at("gradient").abs().max().item<double>(), 1e-4);
  for (const auto& [node, axis] : {std::pair<int64_t, int64_t>{0, 0}, {3, 2}, {8, 1}}) {
    const double h = 1e-5;
    double sums[2];
    for (int side = 0; side < 2; ++side) {
      Points moved = points;
      moved.positions = points.positions.clone();
      moved.positions[node][axis] += side == 0 ? -h : h;
      sums[side] = (*saved.model)(moved).at("logits").sum().item<double>();
    }
    EXPECT_NEAR(out.at("gradient")[node][axis].item<double>(), (sums[1] - sums[0]) / (2 * h), 1e-7);
  }
}

TEST(PredictGradient, IsRefusedWhereOutputsDoNotDependOnPositions) {
  const std::string folder = scratch("no-positions");
  std::ofstream(folder + "/c.toml") << config << "rope = false\n";
  const Recipe recipe = read_recipe(folder + "/c.toml");
  const auto model = build(recipe.model, *recipe.interface);
  NamedTensors weights;
  for (const Parameter& p : model->parameters()) {
    weights[p.name] = p.tensor.detach();
  }
  save_tensors(folder + "/weights.safetensors", weights);
  ASSERT_EQ(weyl_program("import weights.safetensors --config c.toml --out m.safetensors", folder).code, 0);
  save_tensors(folder + "/points.safetensors", {{"positions", at::randn({3, 3})},
                                                {"scalars", at::randn({3, 1})},
                                                {"vectors", at::randn({3, 1, 3})},
                                                {"offsets", at::tensor({0, 3}, at::kLong)}});
  EXPECT_EQ(weyl_program("predict m.safetensors points.safetensors --out plain.safetensors", folder).code, 0);
  const Outcome refused =
      weyl_program("predict m.safetensors points.safetensors --out out.safetensors --gradient", folder);
  EXPECT_EQ(refused.code, 2);
  EXPECT_EQ(refused.err,
            "weyl: --gradient: the model's scalar outputs must depend on the positions, but do not\n");
  EXPECT_FALSE(std::filesystem::exists(folder + "/out.safetensors"));
}

}  // namespace import_predict_test
}  // namespace weyl
