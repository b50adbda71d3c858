// The plain nets on grids: shapes, numbers of parameters, gradients, deep supervision, what a shift does, and what is refused.
#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "tests/autocast.h"
#include "tests/gradients.h"
#include "weyl/core/check.h"
#include "weyl/models/grids/cnn.h"
#include "weyl/models/grids/unet.h"

namespace weyl::grids {
namespace nets_test {

Interface cells(int64_t dimension, Level level) {
  Interface interface;
  interface.grid = true;
  interface.dimension = dimension;
  interface.typical_nodes = dimension == 2 ? 64 : 512;
  interface.features = {{.name = "image", .channels = 2}};
  interface.outputs = {{.name = "logits", .level = level, .channels = 3}};
  if (level == Level::graph) {
    interface.outputs.push_back({.name = "size", .level = level});
  }
  return interface;
}

CnnOptions small_cnn(NormLaw norm = NormLaw::batch) {
  return {.base = 4, .stages = {{1, {3}, {1}}, {2, {3}, {2}}}, .norm = norm};
}

UnetOptions small_unet() {
  return {.base = 4, .stages = {{1, {3}, {1}}, {1, {3}, {2}}, {1, {3}, {2}}}};
}

Grid random_grid(const std::vector<int64_t>& shape) {
  at::manual_seed(5);
  return {at::randn(shape, at::kDouble)};
}

TEST(PlainNets, GiveNumbersOfGridsAndOfCellsOfAnySize) {
  const BuildOn wide(at::kCPU, at::kDouble);
  for (const bool training : {true, false}) {
    for (const int64_t batch : {2, 1, 0}) {
      Cnn images(small_cnn(), cells(2, Level::graph)),
          volumes(small_cnn(NormLaw::instance), cells(3, Level::graph));
      images.train(training);
      const Named of_images = images(random_grid({batch, 2, 7, 5}));
      EXPECT_EQ(of_images.at("logits").sizes(), (at::IntArrayRef{batch, 3}));
      EXPECT_EQ(of_images.at("size").sizes(), (at::IntArrayRef{batch, 1}));
      EXPECT_EQ(volumes(random_grid({batch, 2, 4, 5, 6})).at("logits").sizes(), (at::IntArrayRef{batch, 3}));
      UnetOptions options = small_unet();
      options.residual = true;
      options.stages[1] = {2, {1, 3, 3}, {1, 2, 2}};  // slices far apart
      Unet masks(small_unet(), cells(2, Level::node)), flat(options, cells(3, Level::node));
      masks.train(training);
      EXPECT_EQ(masks(random_grid({batch, 2, 7, 13})).at("logits").sizes(),
                (at::IntArrayRef{batch, 3, 7, 13}));
      const Tensor y = flat(random_grid({batch, 2, 3, 9, 6})).at("logits");
      EXPECT_EQ(y.sizes(), (at::IntArrayRef{batch, 3, 3, 9, 6}));
      EXPECT_TRUE(y.isfinite().all().item<bool>());
    }
  }
}

/// Two convolutions and their norms; with `projected` what comes in passes a third.
int64_t block(int64_t in, int64_t out, int64_t taps, bool projected = false) {
  return (in + out) * out * taps + 4 * out + (projected ? in * out + 2 * out : 0);
}

TEST(PlainNets, HaveTheParametersOfTheFormula) {
  EXPECT_EQ(Cnn(small_cnn(), cells(2, Level::graph)).parameter_count(),
            block(2, 4, 9, true) + block(4, 8, 9, true) + block(8, 8, 9) + 8 * 4 + 4);
  UnetOptions o = small_unet();
  const int64_t down = block(2, 4, 27) + block(4, 8, 27) + block(8, 16, 27),
                up = 16 * 8 * 8 + block(16, 8, 27) + 8 * 4 * 8 + block(8, 4, 27), head = 4 * 3 + 3;
  EXPECT_EQ(Unet(o, cells(3, Level::node)).parameter_count(), down + up + head);
  o.residual = true;
  const int64_t skips = (2 * 4 + 2 * 4) + (4 * 8 + 2 * 8) + (8 * 16 + 2 * 16);
  EXPECT_EQ(Unet(o, cells(3, Level::node)).parameter_count(), down + up + head + skips);
  o.stages.push_back({1, {3}, {2}});
  const int64_t deeper = Unet(o, cells(3, Level::node)).parameter_count();
  o.deep_supervision = true;
  EXPECT_EQ(Unet(o, cells(3, Level::node)).parameter_count(), deeper + 8 * 3 + 3);
}

TEST(PlainNets, DoubleTheirChannelsUpToNnUnetsCap) {
  for (const auto& [dimension, channels] :
       {std::pair{2, std::vector<int64_t>{32, 64, 128, 256, 512, 512}}, {3, {32, 64, 128, 256, 320, 320}}}) {
    for (size_t s = 0; s < channels.size(); ++s) {
      EXPECT_EQ(channels_of(32, s, dimension), channels[s]) << dimension << " " << s;
    }
  }
}

/// By the input and all weights.
void expect_right_gradients(GridModel& net, const Grid& grid) {
  std::vector<Tensor> leaves{grid.values.set_requires_grad(true)};
  for (const Parameter& p : net.parameters()) {
    if (p.trainable) {
      leaves.push_back(p.tensor);
    }
  }
  const auto sum = [&] {
    Tensor all = at::zeros({}, at::kDouble);
    for (const auto& [name, y] : net(grid)) {
      all = all + (y * gradients_detail::weights_like(y)).sum();
    }
    return all;
  };
  const auto found = torch::autograd::grad({sum()}, leaves);
  const at::NoGradGuard quiet;
  for (size_t i = 0; i < leaves.size(); ++i) {
    const Tensor flat = found[i].reshape({-1}), entries = leaves[i].view({-1});
    const double scale = std::max(flat.abs().max().item<double>(), 1e-2);
    for (int64_t e = 0; e < flat.numel(); e += std::max<int64_t>(1, flat.numel() / 6)) {
      const double before = entries[e].item<double>();
      const auto value = [&](double shift) {
        entries[e].fill_(before + shift);
        return sum().item<double>();
      };
      const double numeric = (value(1e-6) - value(-1e-6)) / 2e-6;
      entries[e].fill_(before);
      EXPECT_NEAR(flat[e].item<double>(), numeric, 2e-6 * scale) << "tensor " << i << ", entry " << e;
    }
  }
}

TEST(PlainNets, HaveTheGradientsOfFiniteDifferences) {
  const BuildOn wide(at::kCPU, at::kDouble);
  at::manual_seed(3);
  Cnn batch(small_cnn(), cells(2, Level::graph)),
      instance(small_cnn(NormLaw::instance), cells(3, Level::graph));
  expect_right_gradients(batch, random_grid({3, 2, 6, 5}));
  expect_right_gradients(instance, random_grid({1, 2, 3, 4, 4}));
  UnetOptions o = small_unet();
  o.stages.push_back({1, {3}, {1}});
  o.residual = o.deep_supervision = true;
  Unet net(o, cells(2, Level::node));
  expect_right_gradients(net, random_grid({2, 2, 7, 8}));
}

TEST(PlainNets, LearnUnderAutocast) {
  at::manual_seed(3);
  UnetOptions o = small_unet();
  o.residual = true;
  Cnn cnn(small_cnn(), cells(2, Level::graph));
  Unet masks(o, cells(2, Level::node)), volumes(small_unet(), cells(3, Level::node));
  for (GridModel* net :
       {static_cast<GridModel*>(&cnn), static_cast<GridModel*>(&masks), static_cast<GridModel*>(&volumes)}) {
    std::vector<int64_t> shape{2, 2};
    shape.insert(shape.end(), static_cast<size_t>(net->interface.dimension), 9);
    const Grid grid{random_grid(shape).values.to(at::kFloat)};
    const Tensor full = (*net)(grid).at("logits");
    Tensor half;
    {
      const Autocast autocast;
      half = (*net)(grid).at("logits");
      half.square().mean().backward();
    }
    EXPECT_EQ(half.scalar_type(), at::kFloat);
    const double error = ((half - full).norm() / full.norm()).item<double>();
    EXPECT_LT(error, 0.1);
    EXPECT_GT(error, 1e-5) << "was not in bf16";
    for (const Parameter& p : net->parameters()) {
      EXPECT_TRUE(!p.trainable || p.tensor.grad().isfinite().all().item<bool>()) << p.name;
    }
  }
}

TEST(PlainNets, GiveCoarserOutputsInTrainingAlone) {
  const BuildOn wide(at::kCPU, at::kDouble);
  UnetOptions o = small_unet();
  o.stages.push_back({1, {3}, {2}});
  o.deep_supervision = true;
  Unet net(o, cells(2, Level::node));
  const Grid grid = random_grid({2, 2, 11, 16});
  const Named outputs = net(grid);
  EXPECT_EQ(outputs.size(), 2U);  // of the decoder's three resolutions but the lowest
  EXPECT_EQ(outputs.at("logits").sizes(), (at::IntArrayRef{2, 3, 11, 16}));
  EXPECT_EQ(outputs.at(coarser_output("logits", 1)).sizes(), (at::IntArrayRef{2, 3, 6, 8}));
  net.train(false);
  EXPECT_EQ(net(grid).size(), 1U);
}

Tensor shifted(const Tensor& x, int64_t by) {
  std::vector<int64_t> shifts, axes;
  for (int64_t a = 2; a < x.dim(); ++a) {
    shifts.push_back(by);
    axes.push_back(a);
  }
  return at::roll(x, shifts, axes);
}

/// Zeros with something in the middle, `margin` cells from the border.
Grid island(int64_t side, int64_t margin) {
  at::manual_seed(5);
  const Tensor x = at::zeros({2, 2, side, side}, at::kDouble);
  x.slice(2, margin, side - margin)
      .slice(3, margin, side - margin)
      .copy_(at::randn({2, 2, side - 2 * margin, side - 2 * margin}, at::kDouble));
  return {x};
}

/// Two stages reach 11 cells at most: what stands in the middle is moved by whole strides without a trace, by less not, and
/// at the border not.
TEST(PlainNets, MoveAlongWithWholeStridesAwayFromTheBorder) {
  const BuildOn wide(at::kCPU, at::kDouble);
  at::manual_seed(3);
  Cnn batch(small_cnn(), cells(2, Level::graph)),
      instance(small_cnn(NormLaw::instance), cells(2, Level::graph));
  UnetOptions o = small_unet();
  o.stages.pop_back();
  Unet masks(o, cells(2, Level::node));
  const Grid inside = island(64, 28), outside = random_grid({2, 2, 64, 64});
  const at::NoGradGuard quiet;
  batch(inside);  // running statistics
  for (GridModel* net : {static_cast<GridModel*>(&batch), static_cast<GridModel*>(&instance),
                         static_cast<GridModel*>(&masks)}) {
    net->train(false);
    const auto error = [&](const Grid& grid, int64_t by) {
      const Tensor y = (*net)(grid).at("logits"), z = (*net)(Grid{shifted(grid.values, by)}).at("logits"),
                   expected = y.dim() == 2 ? y : shifted(y, by);
      // Behind the shift the features of the border stand somewhere else.
      const Tensor off = y.dim() == 2 ? z - expected : (z - expected).slice(2, 16, 48).slice(3, 16, 48);
      return (off.abs().max() / y.abs().max()).item<double>();
    };
    EXPECT_LT(error(inside, 4), 1e-12);
    EXPECT_LT(error(inside, -2), 1e-12);
    EXPECT_GT(error(inside, 1), 1e-5);
    EXPECT_GT(error(outside, 4), 1e-5);
  }
}

TEST(PlainNets, ClaimNothingAndDoNotTurn) {
  const BuildOn wide(at::kCPU, at::kDouble);
  at::manual_seed(3);
  Cnn net(small_cnn(NormLaw::instance), cells(2, Level::graph));
  const Grid grid = random_grid({2, 2, 8, 8});
  EXPECT_TRUE(net.symmetry_for(grid).exact.empty());
  EXPECT_TRUE(net.symmetry_for(grid).approximate.empty());
  const Tensor y = net(grid).at("logits"), z = net(Grid{at::rot90(grid.values, 1, {2, 3})}).at("logits");
  EXPECT_GT((y - z).abs().max().item<double>(), 1e-2);
}

template <class F>
std::string refusal(const F& make) {
  try {
    make();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(PlainNets, RefuseWhatNoNetHas) {
  const auto cnn = [](Level level, const std::function<void(CnnOptions&)>& change) {
    CnnOptions o = small_cnn(NormLaw::instance);
    change(o);
    return refusal([&] { Cnn(o, cells(2, level)); });
  };
  const auto unet = [](const std::function<void(UnetOptions&)>& change) {
    UnetOptions o = small_unet();
    change(o);
    return refusal([&] { Unet(o, cells(3, Level::node)); });
  };
  const auto expect = [](const std::string& said, const std::string& begin) {
    EXPECT_EQ(said.find(begin), 0U) << said;
  };
  expect(cnn(Level::node, [](auto&) {}), "cnn: output 'logits' (node scalar) is not one that this net gives");
  expect(refusal([] { Unet(small_unet(), cells(2, Level::graph)); }), "unet: output 'logits' (graph scalar)");
  expect(cnn(Level::graph, [](auto& o) { o.stages.clear(); }), "model.cnn.stages: must have a stage");
  expect(cnn(Level::graph, [](auto& o) { o.stages[1].kernel = {3, 4}; }),
         "model.cnn.stages[1].kernel: must be odd, got 4");
  expect(unet([](auto& o) { o.stages[1].stride = {2, 2}; }),
         "model.unet.stages[1].stride: must be one number, or 3");
  expect(unet([](auto& o) { o.stages[1].kernel = {}; }),
         "model.unet.stages[1].kernel: must be one number, or 3");
  expect(unet([](auto& o) { o.stages[0].stride = {1, 2, 2}; }), "model.unet.stages[0].stride: must be [1]");
  expect(unet([](auto& o) { o.stages.resize(1); }), "model.unet.stages: must be two at least");
  Cnn net(small_cnn(NormLaw::instance), cells(2, Level::graph));
  expect(refusal([&] { net(Grid{at::zeros({1, 2, 2, 2})}); }),
         "model input: an instance norm needs two cells");
}

}  // namespace nets_test
}  // namespace weyl::grids
