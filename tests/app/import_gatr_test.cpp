// Nets of the public GATr through the built program: a state dict and a config with an [interface] of multivectors and
// scalars, without positions, become a model file that predicts the public code's numbers and passes its audit in float64.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "tests/app/program.h"
#include "weyl/carriers/points.h"
#include "weyl/core/json.h"
#include "weyl/core/tensor_file.h"
#include "weyl/models/systems.h"
#include "weyl/train/recipe.h"

namespace weyl {
namespace import_gatr_test {

const char* const config = R"([interface]
typical_nodes = 5
features = [{ name = "shapes", kind = "multivector", channels = 3 }, { name = "numbers", channels = 3 }]
outputs = [{ name = "moved", kind = "multivector", channels = 2 }, { name = "counted", channels = 2 }]
[model]
system = "gatr"
[model.gatr]
width = 4
scalars = 6
heads = 2
blocks = 2
positions = false
)";

/// A golden net as files: its state dict, as a wrapper of the authors would name it, and its two scenes, without
/// positions.
struct Golden {
  explicit Golden(const std::string& name) : folder(scratch("import-" + name)) {
    const NamedTensors all = load_tensors(std::string(WEYL_SOURCE_DIR) + "/tests/goldens/gatr.safetensors");
    NamedTensors weights;
    for (const auto& [key, tensor] : all) {
      if (key.starts_with(name + ".weights.")) {
        weights["module." + key.substr(name.size() + 9)] = tensor;
      }
    }
    const auto rows = [&](const char* what, int64_t axes) {
      const Tensor& x = all.at(name + "." + what);
      return x.flatten(0, x.dim() - axes);
    };
    save_tensors(folder + "/w.safetensors", weights);
    NamedTensors scenes{{"multivectors", rows("multivectors", 3)},
                        {"offsets", at::tensor({0, 5, 10}, at::kLong)}};
    std::string text = config;
    if (all.contains(name + ".scalars")) {
      scenes["scalars"] = rows("scalars", 2);
      scalars = rows("out_scalars", 2);
    } else {  // none comes in, and none goes out
      for (const char* numbers :
           {R"(, { name = "numbers", channels = 3 })", R"(, { name = "counted", channels = 2 })"}) {
        text.erase(text.find(numbers), std::string(numbers).size());
      }
    }
    if (all.contains(name + ".reference")) {
      scenes["reference"] = rows("reference", 3).view({2, 1, 16});
      text.insert(text.find(" }]"), R"( }, { name = "reference", kind = "multivector", level = "graph")");
    }
    save_tensors(folder + "/scenes.safetensors", scenes);
    multivectors = rows("out_multivectors", 3);
    std::ofstream(folder + "/c.toml") << text;
  }
  std::string folder;
  Tensor multivectors, scalars;
};

void expect_the_public_numbers(const std::string& name, const std::string& options) {
  SCOPED_TRACE(name);
  const Golden golden(name);
  const Outcome imported =
      weyl_program("import w.safetensors --config c.toml --out m.safetensors " + options, golden.folder);
  ASSERT_EQ(imported.code, 0) << imported.err;
  const Outcome predicted =
      weyl_program("predict m.safetensors scenes.safetensors --out out.safetensors --batch 1", golden.folder);
  ASSERT_EQ(predicted.code, 0) << predicted.err;
  const NamedTensors out = load_tensors(golden.folder + "/out.safetensors");
  EXPECT_TRUE(at::allclose(out.at("node_multivectors"), golden.multivectors, 1e-11, 1e-12));
  EXPECT_TRUE(at::equal(out.at("node_multivectors"), out.at("moved")));
  ASSERT_EQ(out.contains("node_scalars"), golden.scalars.defined());
  EXPECT_TRUE(!golden.scalars.defined() ||
              at::allclose(out.at("node_scalars"), golden.scalars, 1e-11, 1e-12));
  // Random weights of this size lose digits of float32 whatever moves: float64 says whether the claims hold.
  const Outcome audited = weyl_program("audit m.safetensors --dtype float64 --json", golden.folder);
  EXPECT_EQ(audited.code, 0) << audited.out << audited.err;
  const Json report = Json::parse(audited.out, "stdout");
  EXPECT_EQ(report.find("passed")->dump(), "true") << audited.out;
  EXPECT_GE(report.find("claims")->items().size(), 4u) << audited.out;
  const auto& controls = report.find("controls")->items();
  ASSERT_FALSE(controls.empty());
  for (const Json& c : controls) {
    EXPECT_EQ(c.find("passed")->dump(), "true") << c.dump();
  }
}

TEST(ImportGatr, PredictsThePublicNumbers) {
  expect_the_public_numbers("net", "");
  expect_the_public_numbers("net_heads", "model.gatr.multi_query=false");
  expect_the_public_numbers("net_again",
                            "'model.gatr.reinsert_multivectors=[2, 0]' 'model.gatr.reinsert_scalars=[1]'");
  expect_the_public_numbers("net_canonical", "model.gatr.reference=canonical");
  expect_the_public_numbers("net_alone", "model.gatr.blocks=1");  // in_s_channels=None
  expect_the_public_numbers("net_reference", "model.gatr.blocks=1 model.gatr.reference=given");
}

// Multivectors are counted from the centroid of the positions, which moves with each of them.
TEST(ImportGatr, GivesTheGradientByPositionsBesideMultivectors) {
  const std::string folder = scratch("import-gradient");
  std::ofstream(folder + "/c.toml") << R"([interface]
typical_nodes = 4
features = [{ name = "shape", kind = "multivector" }, { name = "velocity", kind = "vector" }]
outputs = [{ name = "energy", level = "graph" }, { name = "motor", level = "graph", kind = "multivector" }]
[model]
system = "gatr"
[model.gatr]
width = 4
scalars = 6
heads = 2
blocks = 1
)";
  const Recipe recipe = read_recipe(folder + "/c.toml");
  at::manual_seed(5);
  const BuildOn build_on(at::kCPU, at::kDouble);
  const auto model = build(recipe.model, *recipe.interface);
  NamedTensors weights;
  for (const Parameter& p : model->parameters()) {
    p.tensor.requires_grad_(false);
    weights[p.name] = p.tensor.normal_(0, 0.5);
  }
  save_tensors(folder + "/w.safetensors", weights);
  ASSERT_EQ(weyl_program("import w.safetensors --config c.toml --out m.safetensors", folder).code, 0);
  Points points;
  points.graphs = Segments::of_sizes(std::vector<int64_t>{3, 4});
  points.positions = at::randn({7, 3}, at::kDouble);
  points.multivectors = at::randn({7, 1, 16}, at::kDouble);
  points.vectors = at::randn({7, 1, 3}, at::kDouble);
  save_tensors(folder + "/scenes.safetensors", {{"positions", points.positions},
                                                {"multivectors", points.multivectors},
                                                {"vectors", points.vectors},
                                                {"offsets", at::tensor(points.graphs.offsets, at::kLong)}});
  const Outcome predicted =
      weyl_program("predict m.safetensors scenes.safetensors --out out.safetensors --gradient", folder);
  ASSERT_EQ(predicted.code, 0) << predicted.err;
  const Tensor gradient = load_tensors(folder + "/out.safetensors").at("gradient");
  model->train(false);
  for (const auto& [node, axis] : {std::pair<int64_t, int64_t>{0, 0}, {4, 2}, {6, 1}}) {
    const double h = 1e-5;
    double sums[2];
    for (int side = 0; side < 2; ++side) {
      Points moved = points;
      moved.positions = points.positions.clone();
      moved.positions[node][axis] += side == 0 ? -h : h;
      sums[side] = (*model)(moved).at("energy").sum().item<double>();
    }
    const double slope = (sums[1] - sums[0]) / (2 * h);
    EXPECT_NEAR(gradient[node][axis].item<double>(), slope, 1e-7 * std::max(1.0, std::abs(slope)));
    EXPECT_GT(std::abs(slope), 1e-6);
  }
}

TEST(ImportGatr, BrokenMultivectorsAreOneLineEach) {
  const Golden golden("net");
  const Outcome imported =
      weyl_program("import w.safetensors --config c.toml --out m.safetensors", golden.folder);
  ASSERT_EQ(imported.code, 0) << imported.err;
  const std::string broken = WEYL_SOURCE_DIR "/tests/fixtures/broken/multivectors";
  const auto said_of = [&](const std::string& path) {
    const Outcome refused =
        weyl_program("predict --quiet m.safetensors '" + path + "' --out o.safetensors", golden.folder);
    EXPECT_EQ(refused.code, 3) << path << refused.err;
    EXPECT_EQ(std::ranges::count(refused.err, '\n'), 1) << path << refused.err;
    EXPECT_NE(refused.err.find(path + ": "), std::string::npos) << refused.err;
    EXPECT_FALSE(std::filesystem::exists(golden.folder + "/o.safetensors")) << path;
    return refused.err;
  };
  int64_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(broken)) {
    said_of(entry.path().string());
    ++files;
  }
  EXPECT_GE(files, 11);
  // Scalars are absent there too: what is said is what is wrong with the numbers that there are.
  EXPECT_NE(said_of(broken + "/fifteen_numbers.safetensors")
                .find("multivectors: must be (3, 3, 16), got (3, 2, 15)"),
            std::string::npos);
  NamedTensors scenes = load_tensors(golden.folder + "/scenes.safetensors");
  scenes["multivectors"] = scenes.at("multivectors").slice(2, 0, 15).contiguous();
  for (const bool with_scalars : {true, false}) {
    if (!with_scalars) {
      scenes.erase("scalars");
    }
    save_tensors(golden.folder + "/fifteen.safetensors", scenes);
    EXPECT_NE(said_of("fifteen.safetensors").find("multivectors: must be (10, 3, 16), got (10, 3, 15)"),
              std::string::npos);
  }
}

TEST(ImportGatr, NamesTheOptionThatTheWeightsContradict) {
  const Golden golden("net_heads");
  const Outcome refused =
      weyl_program("import w.safetensors --config c.toml --out m.safetensors", golden.folder);
  EXPECT_EQ(refused.code, 3) << refused.err;
  EXPECT_NE(refused.err.find("model.gatr.multi_query: must be false"), std::string::npos) << refused.err;
  const Golden wide("net");
  const Outcome misshaped = weyl_program(
      "import w.safetensors --config c.toml --out m.safetensors model.gatr.width=6", wide.folder);
  EXPECT_EQ(misshaped.code, 3) << misshaped.err;
  EXPECT_NE(misshaped.err.find("linear_in.weight"), std::string::npos) << misshaped.err;
}

}  // namespace import_gatr_test
}  // namespace weyl
