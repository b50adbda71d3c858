// Steerable nets: whole nets turn exactly where check_geometry says so, and where it names a layer they do
// not.
#include <ATen/ATen.h>
#include <ATen/autocast_mode.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/data/folder.h"
#include "tests/models/steerable_turns.h"
#include "weyl/core/check.h"
#include "weyl/models/steerable/steerable.h"
#include "weyl/train/checkpoint.h"

namespace weyl {
namespace {

Interface images(int64_t dimension, Level level) {
  Interface interface;
  interface.dimension = dimension;
  interface.grid = true;
  interface.features = {{.name = "rgb", .channels = dimension == 2 ? 3 : 2}};
  interface.outputs = {{.name = "logits", .level = level, .channels = 3}};
  return interface;
}

SteerableOptions small() {
  SteerableOptions o;
  o.orders = 3;
  o.degree = 1;
  o.stages = {{2, 4, 3}, {3, 4, 3}};
  o.encoder.depth = 1;
  o.encoder.heads = 2;
  o.head.hidden = 6;
  return o;
}

Grid random_grid(const std::vector<int64_t>& shape, at::ScalarType dtype) {
  at::manual_seed(5);
  return {at::rand(shape, at::kDouble).to(dtype)};
}

/// Weights far from where training starts, and batch norms that have seen something.
void wear(SteerableNet& net, const Grid& grid) {
  at::manual_seed(11);
  for (const auto& p : net.parameters()) {
    if (p.trainable) {
      const at::NoGradGuard quiet;
      p.tensor.add_(at::randn_like(p.tensor) * 0.1);
    }
  }
  net.train(true);
  net(grid);
  net.train(false);
}

/// The largest |f(g x) - g f(x)| / max |f(x)| over quarter turns, or the 24 rotations of the cube.
double error_of(SteerableNet& net, const Grid& grid) {
  const int64_t D = net.interface.dimension;
  const GroupPtr group = named_group(D == 2 ? "cyclic_4" : "octahedron");
  const at::NoGradGuard quiet;
  const Tensor y = net(grid).at("logits");
  double worst = 0;
  for (int64_t g = 0; g < group->order(); ++g) {
    const Tensor of_turned = net(Grid{pixels_turned(grid.values, group->element(g))}).at("logits");
    const Tensor expected = y.dim() == 2 ? y : pixels_turned(y, group->element(g));
    worst = std::max(worst, (of_turned - expected).abs().max().item<double>() / y.abs().max().item<double>());
  }
  return worst;
}

struct Case {
  const char* name;
  int64_t dimension;
  Level level;
  std::vector<int64_t> shape;
  SteerableOptions options;
};

std::vector<Case> cases() {
  std::vector<Case> cases;
  const auto add = [&](const char* name, int64_t dimension, Level level, int64_t side, auto change) {
    Case c{name, dimension, level, {2, dimension == 2 ? 3 : 2}, small()};
    c.shape.insert(c.shape.end(), static_cast<size_t>(dimension), side);
    change(c.options);
    cases.push_back(c);
  };
  const auto nothing = [](SteerableOptions&) {};
  add("images", 2, Level::graph, 8, nothing);
  add("image masks", 2, Level::node, 8, nothing);
  add("volumes", 3, Level::graph, 8, nothing);
  add("volume masks", 3, Level::node, 8, nothing);
  add("paper images", 2, Level::graph, 12, [](SteerableOptions& o) {
    o.norm = o.encoder.norm = SteerableNormLaw::joint;
    o.cut = false;
    o.head.kernel = 3;
    o.stages[0].activation = SteerableActivation::cg;
  });
  add("paper volume masks", 3, Level::node, 9, [](SteerableOptions& o) {
    o.ratio = {2, 1};
    o.encoder.heads = 1;
    o.encoder.positions.law = RadialLaw::gaussian;
    o.norm = o.encoder.norm = SteerableNormLaw::irrep;
    o.stages = {{2, 4, 3, 2, 1, false}, {4, 4, 3, 1, 2}};
    o.stages[1].activation = SteerableActivation::cg;
    o.head.irreps = HeadIrreps::trivial;
  });
  add("gated, concatenated", 2, Level::node, 9, [](SteerableOptions& o) {
    o.skips = SkipLaw::concatenate;
    o.encoder.positions = {RadialLaw::table, 1, 1, 1.5};  // of two tokens along an axis
    o.stages = {{2, 4, 3, 2, 1, false}, {0, 4, 3, 1, 2}};
    o.stages[0].activation = o.stages[1].activation = SteerableActivation::gated;
    o.stages[0].decoder = o.stages[1].decoder = SteerableActivation::cg;
    o.encoder.activation = SteerableActivation::gelu;
    o.restricted = true;
  });
  add("gated volumes, no attention", 3, Level::graph, 4, [](SteerableOptions& o) {
    o.stages[0].activation = SteerableActivation::gated;
    o.norm = SteerableNormLaw::layer;
    o.attention = false;
    o.head.kernel = 0;
    o.stages[1].pool = 1;
    o.head.hidden = 0;
  });
  return cases;
}

TEST(SteerableNets, TurnExactlyWithTheirGrid) {
  for (const Case& c : cases()) {
    for (const auto dtype : {at::kDouble, at::kFloat}) {
      const BuildOn on(at::kCPU, dtype);
      at::manual_seed(3);
      SteerableNet net(c.options, images(c.dimension, c.level));
      const Grid grid = random_grid(c.shape, dtype);
      EXPECT_TRUE(net.findings({c.shape.data() + 2, c.shape.size() - 2}).empty()) << c.name;
      wear(net, grid);
      EXPECT_LT(error_of(net, grid), dtype == at::kDouble ? 1e-12 : 1e-5) << c.name << " " << dtype;
      ASSERT_EQ(net.symmetry_for(grid).exact.size(), 1U) << c.name;
      EXPECT_EQ(net.symmetry_for(grid).exact[0].finite->order(), c.dimension == 2 ? 4 : 24);
    }
  }
}

TEST(SteerableNets, TurnExactlyAfterTraining) {
  for (Case c : cases()) {
    const BuildOn wide(at::kCPU, at::kDouble);
    at::manual_seed(3);
    SteerableNet net(c.options, images(c.dimension, c.level));
    const Grid grid = random_grid(c.shape, at::kDouble);
    double first = 0, loss = 0;
    for (int step = 0; step < 8; ++step) {
      const Tensor logits = net(grid).at("logits");
      std::vector<int64_t> shape = logits.sizes().vec();
      shape.erase(shape.begin() + 1);
      at::manual_seed(8);
      const Tensor off = at::cross_entropy_loss(logits, at::randint(3, shape));
      off.backward();
      loss = off.item<double>();
      first = step == 0 ? loss : first;
      for (const auto& p : net.parameters()) {
        if (p.trainable) {
          const at::NoGradGuard quiet;
          p.tensor.sub_(p.tensor.grad() / (p.tensor.grad().abs() + 1e-3) * 0.01);  // signs, so that all move
          p.tensor.mutable_grad().zero_();
        }
      }
    }
    EXPECT_LT(loss, first) << c.name;
    net.train(false);
    EXPECT_LT(error_of(net, grid), 1e-12) << c.name;
  }
}

TEST(SteerableNets, DoNotTurnWhereCheckGeometryNamesALayer) {
  const BuildOn wide(at::kCPU, at::kDouble);
  SteerableOptions o = small();
  o.stages = {{2, 4, 3, 1, 8}};
  SteerableNet net(o, images(2, Level::node));
  const Grid grid = random_grid({1, 3, 29, 29}, at::kDouble);
  wear(net, grid);
  const auto findings = net.findings(std::vector<int64_t>{29, 29});
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].layer, "stages[0].pool");
  EXPECT_EQ(findings[0].below, 24);
  EXPECT_EQ(findings[0].above, 32);
  EXPECT_GT(error_of(net, grid), 1e-3);
  EXPECT_TRUE(net.symmetry_for(grid).exact.empty());
  EXPECT_EQ(net.symmetry_for(grid).obstacles, (std::vector<std::string>{findings[0].text}));
  EXPECT_LT(error_of(net, random_grid({1, 3, 32, 32}, at::kDouble)), 1e-12);
}

TEST(SteerableNets, ClaimNothingOfUnevenSpacingAndTheCyclicForm) {
  const SteerableNet net(small(), images(3, Level::node));
  Grid grid = random_grid({1, 2, 8, 8, 8}, at::kFloat);
  EXPECT_EQ(net.symmetry_for(grid).exact.size(), 1U);
  EXPECT_EQ(net.symmetry_for(grid).approximate.size(), 1U);
  grid.spacing = {1, 1 + 1e-8, 1 - 1e-8};  // rounded by an affine in 32 bits
  EXPECT_EQ(net.symmetry_for(grid).exact.size(), 1U);
  EXPECT_EQ(net.symmetry_for(grid).approximate.size(), 1U);
  for (const double far : {1.01, 3.0}) {
    grid.spacing = {1, 1, far};
    EXPECT_TRUE(net.symmetry_for(grid).exact.empty()) << far;
    EXPECT_TRUE(net.symmetry_for(grid).approximate.empty()) << far;
    EXPECT_EQ(net.symmetry_for(grid).obstacles.size(), 1U) << far;
  }
  SteerableOptions o = small();
  o.orders = 4;
  o.coupling = OrderCoupling::cyclic;
  o.cut = false;
  const SteerableNet cyclic(o, images(2, Level::node));
  EXPECT_TRUE(cyclic.symmetry().approximate.empty());
  EXPECT_EQ(cyclic.symmetry_for(random_grid({1, 3, 8, 8}, at::kFloat)).exact.size(), 1U);
}

/// What training in bf16 does around a forward pass, on the CPU.
struct Autocast {
  Autocast() {
    at::autocast::set_autocast_dtype(at::kCPU, at::kBFloat16);
    at::autocast::set_autocast_enabled(at::kCPU, true);
  }
  ~Autocast() {
    at::autocast::set_autocast_enabled(at::kCPU, false);
    at::autocast::clear_cache();
  }
};

TEST(SteerableNets, LearnUnderAutocast) {
  for (const Case& c : cases()) {
    const BuildOn on(at::kCPU, at::kFloat);
    at::manual_seed(3);
    SteerableNet net(c.options, images(c.dimension, c.level));
    const Grid grid = random_grid(c.shape, at::kFloat);
    const Tensor full = net(grid).at("logits");
    Tensor half;
    {
      const Autocast autocast;
      half = net(grid).at("logits");
      half.to(at::kFloat).square().mean().backward();
    }
    EXPECT_LT(((half - full).norm() / full.norm()).item<double>(), 0.5) << c.name;
    EXPECT_GT(((half - full).norm() / full.norm()).item<double>(), 1e-5) << c.name << " was not in bf16";
    for (const auto& p : net.parameters()) {
      EXPECT_TRUE(!p.trainable || at::isfinite(p.tensor.grad()).all().item<bool>())
          << c.name << " " << p.name;
    }
  }
}

TEST(SteerableNets, SegmentsEveryPixelOfItsInput) {
  SteerableOptions o = small();
  o.stages = {{2, 4, 3, 2, 1, false}, {2, 4, 3, 1, 2}};
  SteerableNet net(o, images(2, Level::node));
  for (const std::vector<int64_t>& shape : {std::vector<int64_t>{1, 3, 23, 14}, {2, 3, 16, 16}}) {
    const Tensor y = net(Grid{at::rand(shape)}).at("logits");
    EXPECT_EQ(y.sizes(), (std::vector<int64_t>{shape[0], 3, shape[2], shape[3]}));
  }
  EXPECT_THROW(net(Grid{at::rand({1, 3, 4, 16})}), ShapeError);
}

TEST(SteerableNets, HaveNoDeadWeights) {
  for (const Case& c : cases()) {
    const BuildOn wide(at::kCPU, at::kDouble);
    at::manual_seed(3);
    SteerableNet net(c.options, images(c.dimension, c.level));
    std::vector<Tensor> weights;
    std::vector<std::string> names;
    for (const auto& p : net.parameters()) {
      if (p.trainable) {
        EXPECT_TRUE(p.tensor.requires_grad()) << p.name;
        weights.push_back(p.tensor);
        names.push_back(p.name);
      }
    }
    const Tensor y = net(random_grid(c.shape, at::kDouble)).at("logits");
    const Tensor loss = (y * at::randn(y.sizes(), at::kDouble)).sum();
    loss.backward();
    for (size_t i = 0; i < weights.size(); ++i) {
      ASSERT_TRUE(weights[i].grad().defined()) << c.name << ": " << names[i];
      EXPECT_EQ((weights[i].grad() == 0).sum().item<int64_t>(), 0) << c.name << ": " << names[i];
    }
  }
}

TEST(SteerableNets, HaveNoDeadWeightsWithManyOrders) {
  const BuildOn wide(at::kCPU, at::kDouble);
  for (const bool restricted : {false, true}) {
    SteerableOptions o = small();
    o.orders = 8;
    o.restricted = restricted;
    o.stages = {{2, 2, 5}, {2, 2, 5}};
    at::manual_seed(3);
    SteerableNet net(o, images(2, Level::node));
    const Tensor y = net(random_grid({2, 3, 8, 8}, at::kDouble)).at("logits");
    (y * at::randn(y.sizes(), at::kDouble)).sum().backward();
    for (const auto& p : net.parameters()) {
      EXPECT_TRUE(!p.trainable || (p.tensor.grad() == 0).sum().item<int64_t>() == 0) << p.name;
    }
  }
}

TEST(SteerableNets, AreTheSameWhenSavedAndLoaded) {
  const Folder folder;
  for (const Case& c : cases()) {
    SavedModel saved;
    saved.recipe.model.system = c.options;
    saved.interface = images(c.dimension, c.level);
    saved.carrier = Carrier::grid;
    at::manual_seed(3);
    const auto net = std::make_shared<SteerableNet>(c.options, saved.interface);
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
  SteerableOptions o = small();
  o.norm = SteerableNormLaw::layer;
  o.stages[0].activation = o.stages[1].decoder = SteerableActivation::none;
  std::set<std::string> names;
  for (const auto& p : SteerableNet(o, images(2, Level::node)).parameters()) {
    names.insert(p.name);
  }
  EXPECT_EQ(names.count("stages.0.norm1.weight"), 1U);
  EXPECT_EQ(names.count("decoder.0.norm1.weight"), 1U);
  EXPECT_EQ(names.count("stages.1.norm1.weight"), 0U);
}

TEST(SteerableNets, TakeBatchesOfOneAndOfNone) {
  for (const Case& c : cases()) {
    at::manual_seed(3);
    SteerableNet net(c.options, images(c.dimension, c.level));
    for (const int64_t batch : {1, 0}) {
      std::vector<int64_t> shape = c.shape;
      shape[0] = batch;
      const Tensor y = net(random_grid(shape, at::kFloat)).at("logits");
      EXPECT_EQ(y.size(0), batch) << c.name;
      y.square().sum().backward();
      for (const auto& p : net.parameters()) {
        EXPECT_TRUE(at::isfinite(p.tensor).all().item<bool>()) << c.name << " " << p.name << " " << batch;
        EXPECT_TRUE(!p.trainable || at::isfinite(p.tensor.grad()).all().item<bool>()) << c.name << p.name;
      }
    }
    net.train(false);
    EXPECT_TRUE(at::isfinite(net(random_grid(c.shape, at::kFloat)).at("logits")).all().item<bool>())
        << c.name;
  }
}

TEST(SteerableNets, DrawNothingWhereTheyAreShapesAlone) {
  for (const Case& c : cases()) {
    at::manual_seed(3);
    const Tensor expected = at::rand({4});
    at::manual_seed(3);
    std::shared_ptr<SteerableNet> shapes;
    {
      const BuildOn meta(at::kMeta, at::kFloat);
      shapes = std::make_shared<SteerableNet>(c.options, images(c.dimension, c.level));
    }
    EXPECT_EQ(SteerableNet(c.options, images(c.dimension, c.level)).parameter_count(),
              shapes->parameter_count());
    at::manual_seed(3);
    {
      const BuildOn meta(at::kMeta, at::kFloat);
      const SteerableConv conv({c.dimension, {2}}, {c.dimension, {2, 2}}, {});
      const SteerableEncoder encoder({c.dimension, std::vector<int64_t>(3, 4)}, c.options);
    }
    EXPECT_TRUE(at::equal(at::rand({4}), expected)) << c.name;
  }
}

TEST(SteerableNets, HaveTheirPositionsFromTheStart) {
  const SteerableNet net(small(), images(2, Level::node));
  std::set<std::string> names;
  for (const auto& p : net.parameters()) {
    names.insert(p.name);
  }
  EXPECT_EQ(names.count("encoder.blocks.0.attention.key_positions"), 1U);
  EXPECT_EQ(names.count("encoder.blocks.0.attention.value_positions"), 1U);
}

TEST(SteerableNets, RefuseWhatTheyDoNotGive) {
  const auto refused = [](const SteerableOptions& o, const Interface& i) {
    try {
      SteerableNet net(o, i);
    } catch (const ConfigError& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  Interface vectors = images(2, Level::node);
  vectors.outputs[0].kind = Kind::vector;
  EXPECT_NE(refused(small(), vectors).find("'logits' (node vector)"), std::string::npos);
  SteerableOptions o = small();
  o.encoder.heads = 3;
  EXPECT_NE(refused(o, images(2, Level::node)).find("encoder.heads"), std::string::npos);
  o = small();
  o.ratio = {2, 1};
  o.norm = SteerableNormLaw::joint;
  EXPECT_NE(refused(o, images(3, Level::node)).find("steerable.norm"), std::string::npos);
  std::swap(o.norm, o.encoder.norm);
  EXPECT_NE(refused(o, images(3, Level::node)).find("encoder.norm"), std::string::npos);
  o = small();
  o.encoder.positions = {RadialLaw::table, 2, 1, 1};
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
  o.encoder.norm = SteerableNormLaw::joint;
  EXPECT_NE(refused(o, images(2, Level::graph)).find("head.kernel"), std::string::npos);
  EXPECT_EQ(refused(o, images(2, Level::node)), "");
  EXPECT_EQ(refused(o, images(3, Level::graph)), "");
  o.encoder.norm = SteerableNormLaw::irrep;
  EXPECT_NE(refused(o, images(3, Level::graph)).find("head.kernel"), std::string::npos);
  o = small();
  o.orders = 5;  // of 8 pixels around one
  EXPECT_NE(refused(o, images(2, Level::node)).find("stages[0].kernel"), std::string::npos);
  o.cut = false;
  EXPECT_EQ(refused(o, images(2, Level::node)), "");
  o = small();
  o.stages[1].activation = SteerableActivation::none;
  EXPECT_NE(refused(o, images(2, Level::node)).find("stages[1].activation"), std::string::npos);
  o.norm = SteerableNormLaw::layer;
  EXPECT_EQ(refused(o, images(2, Level::node)), "");
  o = small();
  o.stages.clear();
  EXPECT_NE(refused(o, images(2, Level::node)).find("stages"), std::string::npos);
  o = small();
  o.head.channels = 2;
  EXPECT_NE(refused(o, images(2, Level::node)).find("head.channels"), std::string::npos);
}

}  // namespace
}  // namespace weyl
