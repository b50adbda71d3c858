// Every layer commutes with Pin(3,0,1), has right first and second derivatives, and starts as the authors' do.
#include <ATen/core/grad_mode.h>
#include <cmath>
#include <map>
#include <string>

#include "tests/gradients.h"
#include "tests/models/gatr/goldens.h"
#include "tests/models/gatr/pin.h"
#include "weyl/core/check.h"
#include "weyl/models/gatr/layers.h"

namespace weyl::gatr {
namespace layers_test {

constexpr int64_t width = 4, scalars = 6;

Streams drawn(int64_t nodes, int64_t channels = width, uint64_t seed = 9) {
  at::manual_seed(seed);
  return {at::randn({16, nodes, channels}, at::kDouble), at::randn({nodes, scalars}, at::kDouble)};
}

/// Parameters away from where they begin.
template <class M>
std::shared_ptr<M> worn(std::shared_ptr<M> module) {
  at::manual_seed(21);
  const at::NoGradGuard quiet;
  for (const Parameter& p : module->parameters()) {
    p.tensor.add_(at::randn_like(p.tensor) * 0.2);
  }
  return module;
}

/// Two scenes with objects.
Points scenes() {
  return nodes_of({4, 3}, {2, 2, 1, 2});
}

Scene scene_with(const Points& points, const Streams& x, const Options& options) {
  Scene scene = scene_of(points, x, options);
  // A scene's own mean is small; a larger one shows more of the joins.
  if (options.reference == Reference::data) {
    scene.reference = scene.reference * 3;
  }
  return scene;
}

TEST(GatrLayers, LinearMapsCommuteWithPin) {
  const BuildOn float64(at::kCPU, at::kDouble);
  const auto layer = worn(std::make_shared<EquiLinear>(EquiChannels{width, 3, scalars, 2}));
  expect_pin(
      "linear", [&](const Streams& x) { return (*layer)(x); }, drawn(5),
      [&](auto dtype) { layer->to(dtype); });
  const auto alone = worn(std::make_shared<EquiLinear>(EquiChannels{width, 3, {}, {}}));
  expect_pin(
      "linear alone", [&](const Streams& x) { return (*alone)({x.multivectors, {}}); }, drawn(5),
      [&](auto dtype) { alone->to(dtype); });
}

TEST(GatrLayers, NormNonlinearityCommuteWithPin) {
  expect_pin("norm", [](const Streams& x) { return normalised(x); }, drawn(5));
  for (const auto gate : {MultivectorGate::gelu, MultivectorGate::relu, MultivectorGate::sigmoid}) {
    expect_pin("gate", [&](const Streams& x) { return gated(x, gate); }, drawn(5));
  }
}

TEST(GatrLayers, DroppedGradesCommuteWithPin) {
  const auto drop = [](const Streams& x) {
    at::manual_seed(3);
    return drop_grades(x, 0.4);
  };
  expect_pin("dropout", drop, drawn(6));
}

TEST(GatrLayers, BilinearFeedForwardAttentionAndBlockCommuteWithPin) {
  const BuildOn float64(at::kCPU, at::kDouble);
  const Points points = scenes();
  const Options options = golden_options();
  const auto bilinear = worn(std::make_shared<Bilinear>(EquiChannels{width, 8, scalars, 3}));
  const auto mlp = worn(std::make_shared<GeometricMlp>(options));
  const Streams x = drawn(7);
  expect_pin(
      "bilinear", [&](const Streams& y) { return (*bilinear)(y, scene_with(points, y, options).reference); },
      x, [&](auto dtype) { bilinear->to(dtype); });
  expect_pin(
      "feed-forward", [&](const Streams& y) { return (*mlp)(y, scene_with(points, y, options).reference); },
      x, [&](auto dtype) { mlp->to(dtype); });
  const auto expect = [&](const char* name, auto change) {
    Options o = golden_options();
    change(o);
    const auto attention = worn(std::make_shared<SelfAttention>(o));
    expect_pin(
        name, [&](const Streams& y) { return (*attention)(y, scene_with(points, y, o), o.axial); }, x,
        [&](auto dtype) { attention->to(dtype); });
    const auto block = worn(std::make_shared<Block>(o, o.axial));
    expect_pin(
        name, [&](const Streams& y) { return (*block)(y, scene_with(points, y, o)); }, x,
        [&](auto dtype) { block->to(dtype); });
  };
  expect("multi-query", [](auto&) {});
  expect("multi-head", [](auto& o) { o.multi_query = false; });
  expect("hierarchical", [](auto& o) { o.attention = AttentionScope::hierarchical; });
  expect("axial, rotary", [](auto& o) { o.axial = true, o.rotary = 100; });
  expect("inserted again", [](auto& o) { o.reinsert_multivectors = {1, 3}, o.reinsert_scalars = {0}; });
}

// The constant reference is a pseudoscalar that mirrors do not turn: motors alone commute.
TEST(GatrLayers, TheCanonicalReferenceFailsUnderReflectionsAlone) {
  const BuildOn float64(at::kCPU, at::kDouble);
  Options options = golden_options();
  options.reference = Reference::canonical;
  const Points points = scenes();
  const auto block = worn(std::make_shared<Block>(options));
  const auto layer = [&](const Streams& y) { return (*block)(y, scene_with(points, y, options)); };
  Stream stream(6, "canonical");
  for (int i = 1; i <= 4; ++i) {
    const double error = pin_error(layer, drawn(7), pin_matrix(i, stream), at::kDouble);
    if (i % 2 == 0) {
      EXPECT_LT(error, 1e-11) << i;
    } else {
      EXPECT_GT(error, 1e-2) << i;
    }
  }
}

/// Layers as functions of multivectors and scalars, (N, ...) numbers in one row.
Expression expression(const std::function<Streams(const Streams&)>& layer) {
  return [layer](const std::vector<Tensor>& in) {
    const Streams y = layer({in[0], in[1]});
    std::vector<Tensor> rows{y.multivectors.reshape({-1})};
    if (y.scalars.defined()) {
      rows.push_back(y.scalars.reshape({-1}));
    }
    return at::cat(rows);
  };
}

TEST(GatrLayers, HaveFirstAndSecondDerivatives) {
  const BuildOn float64(at::kCPU, at::kDouble);
  const Points points = nodes_of({2, 1}, {1, 1, 1});
  const Options options = golden_options();
  const Streams x = drawn(3);
  const auto check = [&](const std::function<Streams(const Streams&)>& layer) {
    expect_second_gradients(expression(layer), {x.multivectors, x.scalars},
                            {.relative = 1e-5, .samples = 15});
  };
  const auto linear = worn(std::make_shared<EquiLinear>(EquiChannels{width, 3, scalars, 2}));
  check([&](const Streams& y) { return (*linear)(y); });
  check([](const Streams& y) { return normalised(y); });
  check([](const Streams& y) { return gated(y, MultivectorGate::gelu); });
  check([](const Streams& y) { return gated(y, MultivectorGate::sigmoid); });
  const auto mlp = worn(std::make_shared<GeometricMlp>(options));
  check([&](const Streams& y) { return (*mlp)(y, scene_with(points, y, options).reference); });
  for (const bool multi_query : {true, false}) {
    Options o = options;
    o.multi_query = multi_query;
    const auto attention = worn(std::make_shared<SelfAttention>(o));
    check([&](const Streams& y) { return (*attention)(y, scene_with(points, y, o)); });
  }
  const auto block = worn(std::make_shared<Block>(options));
  check([&](const Streams& y) { return (*block)(y, scene_with(points, y, options)); });
}

TEST(GatrLayers, DerivativesAreFiniteAtZeroAndAtPointsWithoutWeight) {
  const BuildOn float64(at::kCPU, at::kDouble);
  const Points points = nodes_of({3});
  const Options options = golden_options();
  const auto block = worn(std::make_shared<Block>(options));
  const auto layer =
      expression([&](const Streams& y) { return (*block)(y, scene_with(points, y, options)); });
  Streams x = drawn(3);
  expect_finite_gradients(layer, {at::zeros_like(x.multivectors), x.scalars});
  x.multivectors.select(0, clifford::e123).zero_();
  expect_finite_gradients(layer, {x.multivectors, x.scalars});
}

/// The largest size of a map's weights over its bound is near 1, and never above.
void expect_bound(const char* what, const Tensor& weights, double bound, double middle = 0) {
  const double largest = (weights - middle).abs().max().item<double>();
  EXPECT_LE(largest, bound) << what;
  EXPECT_GT(largest, 0.7 * bound) << what;
}

std::map<std::string, Tensor> parameters_of(const Module& module) {
  std::map<std::string, Tensor> found;
  for (const Parameter& p : module.parameters()) {
    found[p.name] = p.tensor.detach();
  }
  return found;
}

/// The bounds of the authors for one map: factors on those of multivectors and of scalars, and the middle of the biases.
struct Law {
  EquiInit init;
  double multivectors, scalars, middle;
};
constexpr Law normal_law{EquiInit::normal, 1, 1, 0}, small_law{EquiInit::small, 0.1, 0.1, 0},
    unit_law{EquiInit::unit_scalar, 0.1, 1, 1}, almost_unit_law{EquiInit::almost_unit_scalar, 0.5, 1, 1};

/// Of the map whose parameters are `prefix`..., which reads and, if it gives any, gives scalars.
void expect_law(const std::map<std::string, Tensor>& parameters, const std::string& prefix, double in,
                double in_scalars, const Law& law) {
  SCOPED_TRACE(prefix);
  const double factors[] = {1,
                            2,
                            std::sqrt(6),
                            std::sqrt(2),
                            std::sqrt(0.5),
                            std::sqrt(0.5),
                            std::sqrt(1.5),
                            std::sqrt(1.5),
                            std::sqrt(0.5)};
  const auto p = [&](const char* name) { return parameters.at(prefix + name); };
  ASSERT_EQ(p("weight").size(1), static_cast<int64_t>(in));
  ASSERT_EQ(p("s2mvs.weight").size(1), static_cast<int64_t>(in_scalars));
  for (size_t a = 0; a < 9; ++a) {
    const double half = a == 0 ? std::sqrt(0.5) : 1;  // the other half of the variance is the scalars'
    expect_bound("weight", p("weight").select(2, static_cast<int64_t>(a)),
                 half * law.multivectors * factors[a] / std::sqrt(in));
  }
  expect_bound("s2mvs.weight", p("s2mvs.weight"), law.multivectors / std::sqrt(2 * in_scalars));
  expect_bound("s2mvs.bias", p("s2mvs.bias"), 1 / std::sqrt(in + in_scalars), law.middle);
  if (parameters.contains(prefix + "s2s.weight")) {
    expect_bound("mvs2s.weight", p("mvs2s.weight"), law.scalars / std::sqrt(in) / std::sqrt(2.0));
    expect_bound("mvs2s.bias", p("mvs2s.bias"), law.scalars / std::sqrt(in + in_scalars));
    expect_bound("s2s.weight", p("s2s.weight"), law.scalars / std::sqrt(in_scalars) / std::sqrt(2.0));
  }
}

TEST(GatrLayers, LinearMapsStartWithinTheAuthorsBounds) {
  const BuildOn float64(at::kCPU, at::kDouble);
  at::manual_seed(4);
  const int64_t in = 24, in_scalars = 40;
  for (const Law& law : {normal_law, small_law, unit_law, almost_unit_law}) {
    expect_law(parameters_of(EquiLinear({in, 20, in_scalars, 30}, law.init)), "", in, in_scalars, law);
  }
  const EquiLinear alone({in, 20, {}, 30});
  EXPECT_EQ(alone.parameters()[1].name, "bias");
  EXPECT_EQ(alone.parameters()[1].tensor.abs().max().item<double>(), 0);
  expect_bound("weight alone", alone.parameters()[0].tensor.detach().select(2, 0), 1 / std::sqrt(24.0));
  expect_bound("mvs2s.weight alone", alone.parameters()[2].tensor.detach(), 1 / std::sqrt(24.0));
  EXPECT_THROW(EquiLinear({in, 20, {}, {}}, EquiInit::unit_scalar), ConfigError);
  EXPECT_THROW(EquiLinear({0, 20, 4, {}}), ConfigError);
}

/// Which map of a block starts how: the right factor of the geometric product near 1, so that a product is near its left
/// factor; what attention adds, small; all else so that variances stay.
TEST(GatrLayers, EachMapOfABlockStartsAsTheAuthorsHaveIt) {
  const BuildOn float64(at::kCPU, at::kDouble);
  at::manual_seed(5);
  Options o;
  o.width = 24;
  o.scalars = 40;
  o.heads = 8;  // of six multivectors and ten scalars each: 48 and 80 in all
  for (const bool multi_query : {true, false}) {
    o.multi_query = multi_query;
    const auto p = parameters_of(Block(o));
    expect_law(p, "mlp.layers.0.linear_right.", 24, 40, almost_unit_law);
    for (const char* name : {"linear_left.", "linear_join_left.", "linear_join_right."}) {
      expect_law(p, std::string("mlp.layers.0.") + name, 24, 40, normal_law);
    }
    expect_law(p, "mlp.layers.0.linear_out.", 48, 40, normal_law);
    expect_law(p, "mlp.layers.2.", 48, 80, normal_law);
    expect_law(p, "attention.out_linear.", 48, 80, small_law);
    if (multi_query) {
      expect_law(p, "attention.qkv_module.q_linear.", 24, 40, normal_law);
    } else {
      expect_law(p, "attention.qkv_module.in_linear.", 24, 40, normal_law);
    }
    EXPECT_EQ(p.at("attention.attention.log_weights").abs().max().item<double>(), 0);
  }
}

TEST(GatrLayers, DropoutZeroesGradesAsOneAndKeepsTheMean) {
  const Streams x = drawn(3);
  at::manual_seed(8);
  Streams sum{at::zeros_like(x.multivectors), at::zeros_like(x.scalars)};
  const int trials = 10000;
  int64_t dropped = 0;
  for (int t = 0; t < trials; ++t) {
    const Streams y = drop_grades(x, 0.3);
    sum.multivectors += y.multivectors;
    sum.scalars += y.scalars;
    if (t > 20) {
      continue;
    }
    const Tensor factor = y.multivectors / x.multivectors;  // 0, or 1 / 0.7
    for (int64_t grade = 0; grade < 5; ++grade) {
      const auto begin = clifford::grade_begin[grade], end = clifford::grade_begin[grade + 1];
      const Tensor of_grade = factor.slice(0, begin, end);
      EXPECT_LT((of_grade - of_grade[0]).abs().max().item<double>(), 1e-12) << grade;
      EXPECT_LT((of_grade * (of_grade - 1 / 0.7)).abs().max().item<double>(), 1e-12) << grade;
      dropped += (of_grade[0] == 0).sum().item<int64_t>();
    }
  }
  EXPECT_NEAR(static_cast<double>(dropped) / (21 * 5 * 3 * width), 0.3, 0.06);
  EXPECT_LT(((sum.multivectors / trials - x.multivectors) / x.multivectors).abs().max().item<double>(), 0.05);
  EXPECT_LT(((sum.scalars / trials - x.scalars) / x.scalars).abs().max().item<double>(), 0.05);
  EXPECT_TRUE(drop_grades(x, 0).multivectors.is_same(x.multivectors));
}

TEST(GatrLayers, GroupsAcrossObjectsAreThoseOfEqualNumbers) {
  // Graphs of objects (0 1 2), (3 4) and (5), none, (6 7).
  const Points points = nodes_of({5, 1, 0, 2}, {3, 2, 1, 2});
  const Regrouped across = across_objects(points);
  EXPECT_TRUE(at::equal(across.order, at::tensor({0, 3, 1, 4, 2, 5, 6, 7}, at::kLong))) << across.order;
  EXPECT_EQ(across.groups.offsets, (std::vector<int64_t>{0, 2, 4, 5, 6, 7, 8}));
  EXPECT_TRUE(at::equal(across.order.index_select(0, across.back), at::arange(8, at::kLong)));
  Options o = golden_options();
  o.axial = true;
  EXPECT_THROW(scene_of(nodes_of({2}), drawn(2), o), ShapeError);
  o.axial = false;
  o.attention = AttentionScope::hierarchical;
  EXPECT_THROW(scene_of(nodes_of({2}), drawn(2), o), ShapeError);
}

}  // namespace layers_test
}  // namespace weyl::gatr
