// Steerable nets as they are built: their parts, shapes alone, files, and what is refused.
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/data/folder.h"
#include "tests/models/steerable/nets.h"
#include "weyl/core/check.h"
#include "weyl/train/loop/checkpoint.h"

namespace weyl::steerable {
namespace net_build_test {

TEST(SteerableNets, SegmentsEveryPixelOfItsInput) {
  Options o = small();
  o.stages = {{2, 4, 3, 2, 1, false}, {2, 4, 3, 1, 2}};
  Net net(o, images(2, Level::node));
  for (const std::vector<int64_t>& shape : {std::vector<int64_t>{1, 3, 23, 14}, {2, 3, 16, 16}}) {
    const Tensor y = net(Grid{at::rand(shape)}).at("logits");
    EXPECT_EQ(y.sizes(), (std::vector<int64_t>{shape[0], 3, shape[2], shape[3]}));
  }
  EXPECT_EQ(net(Grid{at::rand({1, 3, 4, 16})}).at("logits").size(2), 4);  // in a margin of 1 and more
  o.margin = 0;
  Net bare(o, images(2, Level::node));
  EXPECT_THROW(bare(Grid{at::rand({1, 3, 4, 16})}), ShapeError);
}

TEST(SteerableNets, AreTheSameWhenSavedAndLoaded) {
  const Folder folder;
  for (const Case& c : cases()) {
    SavedModel saved;
    Recipe recipe;
    recipe.model.system = c.options;
    saved.recipe = saved_recipe(recipe);
    saved.interface = images(c.dimension, c.level);
    saved.interface.grid = true;
    at::manual_seed(3);
    const auto net = std::make_shared<Net>(c.options, saved.interface);
    saved.model = net;
    const Grid grid = random_grid(c.shape, at::kFloat);
    wear(*net, grid);
    save_model(folder / "model.safetensors", saved);
    const SavedModel read = load_model(folder / "model.safetensors");
    EXPECT_EQ(read.model->parameters().size(), net->parameters().size());
    const at::NoGradGuard quiet;
    EXPECT_TRUE(at::equal((*read.model)(grid).at("logits"), (*net)(grid).at("logits"))) << c.name;
  }
}

TEST(SteerableNets, HaveNormsBetweenConvolutionsWithoutAnActivation) {
  Options o = small();
  o.norm = NormLaw::layer;
  o.stages[0].activation = o.stages[1].decoder = Activation::none;
  std::set<std::string> names;
  for (const auto& p : Net(o, images(2, Level::node)).parameters()) {
    names.insert(p.name);
  }
  EXPECT_EQ(names.count("stages.0.norm1.weight"), 1U);
  EXPECT_EQ(names.count("decoder.0.norm1.weight"), 1U);
  EXPECT_EQ(names.count("stages.1.norm1.weight"), 0U);
}

TEST(SteerableNets, DrawNothingWhereTheyAreShapesAlone) {
  for (const Case& c : cases()) {
    at::manual_seed(3);
    const Tensor expected = at::rand({4});
    at::manual_seed(3);
    std::shared_ptr<Net> shapes;
    {
      const BuildOn meta(at::kMeta, at::kFloat);
      shapes = std::make_shared<Net>(c.options, images(c.dimension, c.level));
    }
    EXPECT_EQ(Net(c.options, images(c.dimension, c.level)).parameter_count(), shapes->parameter_count());
    at::manual_seed(3);
    {
      const BuildOn meta(at::kMeta, at::kFloat);
      const Conv conv({c.dimension, {2}}, {c.dimension, {2, 2}}, {});
      const Encoder encoder({c.dimension, std::vector<int64_t>(3, 4)}, c.options);
    }
    EXPECT_TRUE(at::equal(at::rand({4}), expected)) << c.name;
  }
}

TEST(SteerableNets, HaveTheirPositionsFromTheStart) {
  const Net net(small(), images(2, Level::node));
  std::set<std::string> names;
  for (const auto& p : net.parameters()) {
    names.insert(p.name);
  }
  EXPECT_EQ(names.count("encoder.blocks.0.attention.key_positions"), 1U);
  EXPECT_EQ(names.count("encoder.blocks.0.attention.value_positions"), 1U);
}

TEST(SteerableNets, RefuseWhatTheyDoNotGive) {
  const auto refused = [](const Options& o, const Interface& i) {
    try {
      Net net(o, i);
    } catch (const ConfigError& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  Interface vectors = images(2, Level::node);
  vectors.outputs[0].kind = Kind::vector;
  EXPECT_NE(refused(small(), vectors).find("'logits' (node vector)"), std::string::npos);
  Options o = small();
  o.encoder.heads = 3;
  EXPECT_NE(refused(o, images(2, Level::node)).find("encoder.heads"), std::string::npos);
  o = small();
  o.ratio = {2, 1};
  o.norm = NormLaw::joint;
  EXPECT_NE(refused(o, images(3, Level::node)).find("steerable.norm"), std::string::npos);
  std::swap(o.norm, o.encoder.norm);
  EXPECT_NE(refused(o, images(3, Level::node)).find("encoder.norm"), std::string::npos);
  o = small();
  o.encoder.positions = {RadialLaw::table, 1, 0.5};
  EXPECT_NE(refused(o, images(2, Level::node)).find("encoder.positions.reach"), std::string::npos);
  o.attention = false;
  EXPECT_EQ(refused(o, images(2, Level::node)), "");
  o = small();
  o.head.channels = 7;
  EXPECT_NE(refused(o, images(2, Level::graph)).find("head.channels"), std::string::npos);
  EXPECT_EQ(refused(o, images(2, Level::node)), "");
  o = small();
  o.stages[0].middle = 3;
  o.ratio = {2, 1};
  EXPECT_NE(refused(o, images(3, Level::node)).find("ratio"), std::string::npos);
  o = small();
  o.encoder.norm = NormLaw::joint;
  EXPECT_NE(refused(o, images(2, Level::graph)).find("head.kernel"), std::string::npos);
  EXPECT_EQ(refused(o, images(2, Level::node)), "");
  EXPECT_EQ(refused(o, images(3, Level::graph)), "");
  o.encoder.norm = NormLaw::irrep;
  EXPECT_NE(refused(o, images(3, Level::graph)).find("head.kernel"), std::string::npos);
  o = small();
  o.orders = 5;  // of 8 pixels around one
  EXPECT_NE(refused(o, images(2, Level::node)).find("stages[0].kernel"), std::string::npos);
  o.cut = false;
  EXPECT_EQ(refused(o, images(2, Level::node)), "");
  o = small();
  o.stages[1].activation = Activation::none;
  EXPECT_NE(refused(o, images(2, Level::node)).find("stages[1].activation"), std::string::npos);
  o.norm = NormLaw::layer;
  EXPECT_EQ(refused(o, images(2, Level::node)), "");
  o = small();
  o.stages.clear();
  EXPECT_NE(refused(o, images(2, Level::node)).find("stages"), std::string::npos);
  o = small();
  o.head.channels = 2;
  EXPECT_NE(refused(o, images(2, Level::node)).find("head.channels"), std::string::npos);
}

}  // namespace net_build_test
}  // namespace weyl::steerable
