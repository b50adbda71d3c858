// The sizes of the scaling study: what they stand for, what they contradict, and the numbers of its tables.
#include <gtest/gtest.h>

#include "weyl/config/toml.h"
#include "weyl/core/check.h"
#include "weyl/core/input_file.h"
#include "weyl/models/systems.h"
#include "weyl/models/transformer/options.h"

namespace weyl::transformer {
namespace size_test {

Options read(const std::string& toml, const std::vector<std::string>& overrides = {}) {
  Options o;
  read_toml_text(toml, "c.toml", overrides, [&](Fields& f) { fields(f, o); });
  return o;
}

std::string written(Options o) {
  return write_toml([&](Fields& f) { fields(f, o); });
}

std::string refusal(const Options& o) {
  try {
    check(o);
  } catch (const ConfigError& e) {
    return e.what();
  }
  return "";
}

TEST(TransformerSize, StandsForTheWidths) {
  const Options o = read("size = 3");
  EXPECT_EQ(o.blocks, 6);
  EXPECT_EQ(o.heads, 6);
  EXPECT_EQ(o.width, 192);
  EXPECT_EQ(o.head_width, 64);
  EXPECT_EQ(o.hidden_factor, 2);
  EXPECT_TRUE(o.multi_query);
  EXPECT_EQ(written(o), written(options_of_size(3)));
  EXPECT_EQ(written(read("size = 1", {"size=3"})), written(o));
  EXPECT_EQ(read("size = 3", {"size=false"}).width, Options{}.width);
  EXPECT_EQ(refusal(o), "");
  const Options half = read("size = 1.5");
  EXPECT_EQ(half.blocks, 3);
  EXPECT_EQ(half.heads, 3);
  EXPECT_EQ(half.width, 96);
  EXPECT_EQ(refusal(half), "");
}

TEST(TransformerSize, AStoredConfigReadsBack) {
  Options o = read("size = 2.5\ndropout = 0.1");
  const std::string text = written(o);
  EXPECT_NE(text.find("size = 2.5"), std::string::npos) << text;
  EXPECT_NE(text.find("width = false"), std::string::npos) << text;
  const Options again = read(text);
  EXPECT_EQ(again.width, 160);
  EXPECT_EQ(written(again), text);
  EXPECT_EQ(refusal(again), "");
}

TEST(TransformerSize, RefusesWidthsBesideIt) {
  for (const char* width : {"100", "128"}) {  // the second is what the size makes it
    EXPECT_EQ(refusal(read(std::string("size = 2\nwidth = ") + width)),
              "model.transformer.width: must be left out beside model.transformer.size, which decides it, "
              "got both");
  }
  EXPECT_EQ(refusal(read("size = 2\nmulti_query = false")),
            "model.transformer.multi_query: must be left to size = 2, which makes it true, got false");
  for (const char* key : {"heads = 4", "blocks = 2", "head_width = 64", "hidden_factor = 4"}) {
    EXPECT_NE(
        refusal(read(std::string("size = 2\n") + key)).find("must be left out beside model.transformer.size"),
        std::string::npos)
        << key;
  }
  // A stored config with another size.
  EXPECT_EQ(read(written(read("size = 2")), {"size=3"}).width, 192);
  EXPECT_EQ(refusal(read("size = 1.3")),
            "model.transformer.size: must be a whole number or a half more, got 1.3");
  EXPECT_THROW(options_of_size(0.25), ConfigError);
  EXPECT_THROW(read("size = 0"), ConfigError);
  EXPECT_THROW(require_effects(read("size = 2\nwidth = 100"), nullptr), ConfigError);
}

TEST(TransformerSize, HierarchicalAttentionNeedsEvenHeads) {
  EXPECT_EQ(refusal(read("size = 2\nattention = 'hierarchical'")), "");
  EXPECT_EQ(
      refusal(read("size = 1.5\nattention = 'hierarchical'")),
      "model.transformer.size: must be a whole number with attention = \"hierarchical\", which halves the "
      "heads, got 1.5");
  EXPECT_EQ(refusal(read("heads = 3\nwidth = 48\nattention = 'hierarchical'")),
            "model.transformer.heads: must be even with attention = \"hierarchical\", got 3");
}

/// The triangles of a body as the set rigid_bodies tells them without the floor: twelve vectors, the place one of them;
/// and the eight numbers of a motor.
Interface triangles() {
  Interface i;
  i.typical_nodes = 5470;
  i.features = {{"vertices", Level::node, Kind::vector, 3, Role::offset},
                {"arms", Level::node, Kind::vector, 3, Role::normal},
                {"normal", Level::node, Kind::vector, 1, Role::normal},
                {"vertex_velocities", Level::node, Kind::vector, 3},
                {"velocity", Level::node, Kind::vector}};
  i.outputs = {{"motor_scalar", Level::node, Kind::scalar},
               {"motor_pseudoscalar", Level::node, Kind::pseudoscalar},
               {"motor_ideal", Level::node, Kind::vector},
               {"motor_bivector", Level::node, Kind::axial_vector}};
  return i;
}

/// The model of the paper's own config: its table alone, so that neither data nor task need be there.
std::shared_ptr<Model> of_paper(double n, const std::vector<std::string>& more = {}) {
  const std::string file = std::string(WEYL_SOURCE_DIR) + "/configs/rigid/transformer.paper.toml";
  const std::string all = contents_of(file);
  const size_t begin = all.find("[model]"), end = all.find("[train]");
  std::vector<std::string> overrides{"model.transformer.size=" + std::to_string(n)};
  overrides.insert(overrides.end(), more.begin(), more.end());
  struct Part {
    ModelOptions model;
  } part;
  read_toml_text(all.substr(begin, end - begin), file, overrides,
                 [&](Fields& f) { f("model", part.model, "what learns"); });
  const BuildOn shapes_only(at::kMeta, at::kFloat);
  return build(part.model, triangles());
}

int64_t of_blocks(const Model& model) {
  for (const auto& [name, numbers] : model.parts()) {
    if (name == "blocks") {
      return numbers;
    }
  }
  return 0;
}

TEST(TransformerSize, ThePapersConfigHasThePublishedNumbers) {
  const std::vector<int64_t> blocks{82944, 593408, 1924608, 4469760, 8622080, 14774784, 23321088, 34654208};
  const std::vector<int64_t> totals{99912, 627336, 1975496, 4537608, 8706888, 14876552, 23439816, 34789896};
  for (int64_t n = 1; n <= 8; ++n) {
    const auto model = of_paper(static_cast<double>(n));
    EXPECT_EQ(of_blocks(*model), blocks[static_cast<size_t>(n - 1)]) << n;
    EXPECT_EQ(model->parameter_count(), totals[static_cast<size_t>(n - 1)]) << n;
  }
  // 65536 n^3 + 17152 n^2 + 256 n between them; three heads, or five, have no half inside objects.
  EXPECT_EQ(of_blocks(*of_paper(1.5, {"model.transformer.attention='global'"})), 260160);
  EXPECT_EQ(of_blocks(*of_paper(2.5, {"model.transformer.attention='global'"})), 1131840);
  EXPECT_THROW(of_paper(1.5), ConfigError);
}

TEST(TransformerSize, NominalFlopsAreSixForEachWeightOfALinearMap) {
  for (const double n : {1.0, 2.0, 4.0}) {
    const auto model = of_paper(n);
    double weights = 0;
    for (const Parameter& p : model->parameters()) {
      weights += p.trainable && p.name.ends_with("weight") ? static_cast<double>(p.tensor.numel()) : 0;
    }
    const Work flops = model->work_of_token();
    EXPECT_EQ(model->work_of_token().nominal, 6 * weights) << n;
    EXPECT_NEAR(model->work_of_token().nominal, 6 * static_cast<double>(model->parameter_count()),
                0.02 * 6 * weights);
    // What is really done: the fixed frequencies, and attention, half of whose heads look at the whole scene.
    const double attention = 4 * 5470 * (64 * n) * (2 * n), frequencies = 2 * 128 * 36;
    EXPECT_DOUBLE_EQ(flops.forward, 2 * weights + attention + frequencies) << n;
    const auto global = of_paper(n, {"model.transformer.attention='global'"});
    EXPECT_DOUBLE_EQ(global->work_of_token().forward, 2 * weights + 2 * attention + frequencies) << n;
    EXPECT_EQ(global->work_of_token().nominal, model->work_of_token().nominal) << n;
  }
}

}  // namespace size_test
}  // namespace weyl::transformer
