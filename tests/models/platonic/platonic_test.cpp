// The Platonic model's corners: odd inputs, both paths through a block, gradients, errors.
#include "weyl/models/platonic/platonic.h"

#include <torch/csrc/autograd/autograd.h>

#include "tests/equivariance.h"
#include "tests/models/points_fixtures.h"
#include "weyl/config/toml.h"
#include "weyl/core/check.h"
#include "weyl/core/worst_of.h"
#include "weyl/models/systems.h"
#include "weyl/models/transformer/options.h"
#include "weyl/ops/autograd/differentiable.h"
#include "weyl/study/cost/allocation_peak.h"

namespace weyl::platonic {
namespace platonic_test {

Options small(const char* group = "tetrahedron") {
  Options o;
  o.group = group;
  const int64_t order = named_group(group)->order();
  o.width = 4 * order;
  o.heads = order;
  o.blocks = 2;
  o.ffn_factor = 2;
  return o;
}

std::shared_ptr<Platonic> make(const Options& o, const Interface& interface) {
  const BuildOn float64(at::kCPU, at::kDouble);
  at::manual_seed(11);
  return std::make_shared<Platonic>(o, interface);
}

double largest_difference(const Named& a, const Named& b) {
  double worst = 0;
  for (const auto& [name, value] : a) {
    worst = worst_of(worst, value.numel() ? (value - b.at(name)).abs().max().item<double>() : 0);
  }
  return worst;
}

TEST(Platonic, RecomputedBlocksHaveTheSameGradientsInLessMemory) {
  Interface interface = interface_of_all_kinds(3);
  const Batch batch = random_points(std::vector<int64_t>(8, 12), 3);
  auto o = small();
  o.width = 96;
  o.blocks = 6;
  o.dropout = 0.2;
  o.drop_path = 0.3;
  std::vector<Tensors> gradients;
  std::vector<int64_t> bytes;
  for (const bool recompute : {false, true}) {
    o.recompute = recompute;
    const auto model = make(o, interface);
    Tensors weights;
    for (const Parameter& p : model->parameters()) {
      weights.push_back(p.tensor);
    }
    at::manual_seed(5);
    const AllocationPeak peak;
    Tensor sum = at::zeros({}, at::kDouble);
    for (const auto& [name, value] : (*model)(batch.input)) {
      sum = sum + value.to(at::kDouble).square().sum();
    }
    gradients.push_back(torch::autograd::grad({sum}, weights));
    bytes.push_back(peak.bytes());
  }
  for (size_t i = 0; i < gradients[0].size(); ++i) {
    EXPECT_TRUE(at::equal(gradients[0][i], gradients[1][i])) << i;
  }
  EXPECT_LT(2 * bytes[1], bytes[0]) << bytes[1] << " bytes against " << bytes[0];
}

TEST(Platonic, RecomputedBlocksTrainOnForces) {
  Interface interface = interface_of_all_kinds(3);
  interface.outputs = {{"energy", Level::graph, Kind::scalar, 1, Role::free, true}};
  const Batch batch = random_points({5, 4}, 3);
  std::vector<Tensors> gradients;
  for (const bool recompute : {false, true}) {
    auto o = small();
    o.recompute = recompute;
    const auto model = make(o, interface);
    Tensors weights;
    for (const Parameter& p : model->parameters()) {
      weights.push_back(p.tensor);
    }
    Points points = std::get<Points>(batch.input);
    points.positions = points.positions.detach().requires_grad_();
    const ExpectSecondDerivatives forces;
    const Tensor energy = (*model)(points).at("energy").sum();
    const Tensor force = torch::autograd::grad({energy}, {points.positions}, {}, true, true)[0];
    gradients.push_back(torch::autograd::grad({force.square().sum()}, weights, {}, false, false, true));
  }
  for (size_t i = 0; i < gradients[0].size(); ++i) {
    ASSERT_EQ(gradients[0][i].defined(), gradients[1][i].defined()) << i;
    if (gradients[0][i].defined()) {
      EXPECT_LT((gradients[0][i] - gradients[1][i]).abs().max().item<double>(),
                1e-11 * (1 + gradients[0][i].abs().max().item<double>()))
          << i;
    }
  }
}

TEST(Platonic, DropPathGrowsFromNothingToItsRate) {
  Interface interface = interface_of_all_kinds(3);
  const Batch batch = random_points(std::vector<int64_t>(200, 2), 3);
  auto o = small();
  o.drop_path = 0.9;
  o.drop_path_grows = true;
  const auto two = make(o, interface);
  o.blocks = 1;
  o.drop_path = 0;
  o.drop_path_grows = false;
  const auto one = make(o, interface);
  std::map<std::string, Tensor> weights;
  for (const auto& p : two->parameters()) {
    weights[p.name] = p.tensor;
  }
  const at::NoGradGuard quiet;
  for (const auto& p : one->parameters()) {
    p.tensor.copy_(weights.at(p.name));
  }
  // Where both parts of the second block are dropped, 0.81 of the graphs, the first is all there is.
  const Tensor same =
      ((*two)(batch.input).at("class") - (*one)(batch.input).at("class")).abs().amax(1) < 1e-12;
  EXPECT_NEAR(same.to(at::kDouble).mean().item<double>(), 0.81, 0.1);
}

TEST(Platonic, EvaluationModeGivesTheSameNumbersAndFollowsNewWeights) {
  const auto model = make(small(), interface_of_all_kinds(3));
  const Input input = random_points({4, 3}, 3).input;
  const Named trained = (*model)(input);
  model->train(false);
  EXPECT_LT(largest_difference((*model)(input), trained), 1e-13);
  {
    const at::NoGradGuard quiet;
    for (const auto& p : model->parameters()) {
      p.tensor.mul_(1.1);
    }
  }
  model->train(false);
  const Named changed = (*model)(input);
  EXPECT_GT(largest_difference(changed, trained), 1e-3);
  model->train(true);
  EXPECT_LT(largest_difference((*model)(input), changed), 1e-13);
}

TEST(Platonic, GraphsDoNotSeeEachOther) {
  const auto model = make(small(), interface_of_all_kinds(3));
  const Schema schema = schema_of_all_kinds(3);
  const Batch all = random_points({3, 0, 6, 1}, 3);
  const Named together = (*model)(all.input);
  for (int64_t b = 0; b < 4; ++b) {
    const Named alone = (*model)(take(all, std::vector<int64_t>{b}, schema).input);
    const auto& graphs = std::get<Points>(all.input).graphs;
    for (const auto& q : model->interface.outputs) {
      const Tensor& whole = together.at(q.name);
      const Tensor part = q.level == Level::graph ? whole.slice(0, b, b + 1)
                                                  : whole.slice(0, graphs.offsets[b], graphs.offsets[b + 1]);
      if (part.numel() > 0 && graphs.size(b) > 0) {
        EXPECT_LT((part - alone.at(q.name)).abs().max().item<double>(), 1e-12) << q.name;
      }
    }
  }
}

TEST(Platonic, ShapesOfEveryOutput) {
  for (const int64_t d : {2, 3}) {
    const auto model = make(small(d == 2 ? "dihedral_3" : "tetrahedron"), interface_of_all_kinds(d));
    for (const std::vector<int64_t>& sizes : {std::vector<int64_t>{}, {0}, {1}, {2, 3}}) {
      const Batch batch = random_points(sizes, d);
      const auto& points = std::get<Points>(batch.input);
      const Named out = (*model)(batch.input);
      for (const auto& q : model->interface.outputs) {
        std::vector<int64_t> shape{q.level == Level::graph ? points.count() : points.nodes(), q.channels};
        if (is_vector(q.kind, d)) {
          shape.push_back(d);
        }
        EXPECT_EQ(out.at(q.name).sizes(), at::IntArrayRef(shape)) << q.name;
        EXPECT_TRUE(at::isfinite(out.at(q.name)).all().item<bool>()) << q.name;
      }
    }
  }
}

/// Two copies of a graph, one beside the other in one graph far away, have twice its energy only without
/// interaction; what must hold is that an extensive output is the sum over nodes, whatever `typical_nodes`
/// is.
TEST(Platonic, ExtensiveOutputsDoNotDependOnTypicalNodes) {
  Interface i = interface_of_all_kinds(3);
  const Input input = random_points({4, 3}, 3).input;
  const Named small_scale = (*make(small(), i))(input);
  i.typical_nodes *= 2;
  const Named large_scale = (*make(small(), i))(input);
  EXPECT_LT((small_scale.at("energy") - large_scale.at("energy")).abs().max().item<double>(), 1e-13);
  EXPECT_GT((small_scale.at("class") - large_scale.at("class")).abs().max().item<double>(), 1e-4);
}

TEST(Platonic, ForcesAndTheirGradientsAreFiniteAndRightAtCoincidentPoints) {
  Interface i;
  i.features = {{"s", Level::node, Kind::scalar, 2}};
  i.outputs = {{"energy", Level::graph, Kind::scalar, 1}};
  for (const auto law : {AttentionLaw::softmax, AttentionLaw::linear}) {
    auto o = small();
    o.attention = law;
    o.rope_on_values = true;
    const auto model = make(o, i);
    Points points;
    points.graphs = Segments::of_sizes(std::vector<int64_t>{3, 1});
    const Tensor start = at::randn({4, 3}, at::kDouble);
    start[1].copy_(start[0]);  // coincident
    points.scalars = at::randn({4, 2}, at::kDouble);
    const auto energy_at = [&](const Tensor& positions) {
      points.positions = positions;
      return (*model)(points).at("energy").sum();
    };
    const Tensor positions = start.clone().requires_grad_(true);
    const Tensor force = torch::autograd::grad({energy_at(positions)}, {positions}, {}, {}, true)[0];
    const double h = 1e-5;
    for (int64_t k = 0; k < 12; ++k) {
      const Tensor shift =
          at::zeros({12}, at::kDouble).index_fill(0, at::tensor({k}, at::kLong), h).view({4, 3});
      const double numeric = (energy_at(start + shift) - energy_at(start - shift)).item<double>() / (2 * h);
      EXPECT_NEAR(force.view({12})[k].item<double>(), numeric, 1e-8);
    }
    // The gradient of a loss on forces, with respect to a kernel, against a difference of losses.
    const auto loss_at = [&] {
      const Tensor x = start.clone().requires_grad_(true);
      return torch::autograd::grad({energy_at(x)}, {x}, {}, {}, true)[0].pow(2).sum();
    };
    for (const auto& p : model->parameters()) {
      if (p.name == "layers.0.interaction.q_proj.kernel" || p.name == "layers.1.interaction.rope_emb.freqs") {
        const Tensor gradient = torch::autograd::grad({loss_at()}, {p.tensor})[0];
        const at::NoGradGuard quiet;
        Tensor flat = p.tensor.detach().view({-1});
        const double old = flat[1].item<double>();
        const auto loss_with = [&](double value) {
          flat[1].fill_(value);
          const at::AutoGradMode on(true);
          return loss_at().item<double>();
        };
        const double numeric = (loss_with(old + h) - loss_with(old - h)) / (2 * h);
        flat[1].fill_(old);
        EXPECT_NEAR(gradient.view({-1})[1].item<double>(), numeric, 1e-6 * std::max(1.0, std::abs(numeric)))
            << p.name;
      }
    }
  }
}

TEST(Platonic, DropoutAndDropPathActInTrainingAlone) {
  for (const auto by : {DropPathBy::graph, DropPathBy::node}) {
    auto o = small();
    o.drop_path = 0.5;
    o.drop_path_by = by;
    o.dropout = 0.2;
    const auto model = make(o, interface_of_all_kinds(3));
    const Input input = random_points({4, 3, 2}, 3).input;
    EXPECT_GT(largest_difference((*model)(input), (*model)(input)), 1e-3);
    model->train(false);
    EXPECT_EQ(largest_difference((*model)(input), (*model)(input)), 0);
  }
}

TEST(Platonic, WithoutFeaturesANodeHasAConstant) {
  Interface i;
  i.outputs = {{"y", Level::graph, Kind::scalar, 1}};
  Points points;
  points.graphs = Segments::of_sizes(std::vector<int64_t>{4});
  points.positions = at::randn({4, 3}, at::kDouble);
  const auto change_when_larger = [&](const Options& o) {
    const auto model = make(o, i);
    auto larger = points;
    larger.positions = points.positions * 2;
    return ((*model)(larger).at("y") - (*model)(points).at("y")).abs().max().item<double>();
  };
  auto o = small();
  o.rope_on_values = true;
  EXPECT_GT(change_when_larger(o), 1e-4);
  // A softmax over equal values is that value: positions enter by rotated values, linear attention, `ape` or the
  // position itself.
  o = small();
  o.position_vector = PositionVector::off;
  EXPECT_LT(change_when_larger(o), 1e-12);
}

// Where nothing else shows a model where nodes are it is given their positions, and only there.
TEST(Platonic, PositionVectorIsAutomatic) {
  const Interface of_all = interface_of_all_kinds(3);
  Interface bare;
  bare.outputs = {{"y", Level::graph, Kind::scalar, 1}};
  const auto chosen = [](const Options& o, const Interface& i) { return resolved(o, i).position_vector; };
  EXPECT_EQ(small().position_vector, PositionVector::automatic);
  EXPECT_EQ(chosen(small(), bare), PositionVector::on);
  EXPECT_EQ(make(small(), bare)->options.position_vector, PositionVector::on);
  EXPECT_EQ(chosen(small(), of_all), PositionVector::off);
  Interface i = bare;
  i.types = 1;  // one type tells no node from another, and neither does what the whole graph has
  i.features = {{"temperature", Level::graph, Kind::scalar, 1}};
  EXPECT_EQ(chosen(small(), i), PositionVector::on);
  i.types = 2;
  EXPECT_EQ(chosen(small(), i), PositionVector::off);
  i = bare;
  i.features = {{"velocity", Level::node, Kind::vector, 1}};
  EXPECT_EQ(chosen(small(), i), PositionVector::off);
  Options o = small();
  o.rope_on_values = true;
  EXPECT_EQ(chosen(o, bare), PositionVector::off);
  o.rope.reset();
  EXPECT_EQ(chosen(o, bare), PositionVector::on);
  o.ape = ApeOptions{};
  EXPECT_EQ(chosen(o, bare), PositionVector::off);
  o = small();
  o.attention = AttentionLaw::linear;
  EXPECT_EQ(chosen(o, bare), PositionVector::off);
  for (const PositionVector said : {PositionVector::off, PositionVector::on}) {
    o = small();
    o.position_vector = said;
    EXPECT_EQ(chosen(o, bare), said);
    EXPECT_EQ(chosen(o, of_all), said);
  }
}

// Weights that a model is to be given decide first.
TEST(Platonic, PositionVectorIsThatOfGivenWeights) {
  const auto chosen = [](PositionVector said, const Interface& i, int64_t columns) {
    Options o;
    o.position_vector = said;
    const TensorShapes shapes{{"x_embedder.kernel", {12, 4, columns}}};
    return resolved(resolved_by(o, i, shapes), i).position_vector;
  };
  Interface bare;
  constexpr auto automatic = PositionVector::automatic, off = PositionVector::off, on = PositionVector::on;
  EXPECT_EQ(chosen(automatic, bare, 1), off);  // the constant scalar alone
  EXPECT_EQ(chosen(automatic, bare, 4), on);
  EXPECT_EQ(chosen(automatic, bare, 2), on);  // says nothing: as without weights
  EXPECT_EQ(chosen(off, bare, 4), off);
  EXPECT_EQ(chosen(on, bare, 1), on);
  Interface told;
  told.types = 2;
  told.features = {{"velocity", Level::node, Kind::vector, 1}};
  EXPECT_EQ(chosen(automatic, told, 5), off);
  EXPECT_EQ(chosen(automatic, told, 8), on);
}

// What a config says, and what is written of it once the interface has decided.
TEST(Platonic, ThePositionVectorOfAConfig) {
  const auto read = [](const std::string& line) {
    ModelOptions m = options_of(built_in_systems());
    read_toml_text("system = 'platonic'\n[platonic]\n" + line, "m.toml", {},
                   [&](Fields& f) { fields(f, m); });
    return m.system.get_if<Options>()->position_vector;
  };
  EXPECT_EQ(read(""), PositionVector::automatic);
  EXPECT_EQ(read("position_vector = true"), PositionVector::on);
  EXPECT_EQ(read("position_vector = false"), PositionVector::off);
  EXPECT_EQ(read("position_vector = 'auto'"), PositionVector::automatic);
  EXPECT_THROW(read("position_vector = 1"), ConfigError);
  EXPECT_THROW(read("position_vector = 'maybe'"), ConfigError);
  Interface bare;
  bare.outputs = {{"y", Level::graph, Kind::scalar, 1}};
  ModelOptions chosen{Options{}};
  chosen.system.resolve(bare);
  const std::string written = write_toml([&](Fields& f) { fields(f, chosen); });
  EXPECT_NE(written.find("position_vector = true\n"), std::string::npos) << written;
}

std::string config_error(const Options& o, const Interface& i = interface_of_all_kinds(3)) {
  try {
    Platonic model(o, i);
  } catch (const ConfigError& e) {
    return e.what();
  }
  return "no error";
}

TEST(Platonic, WrongOptionsAreNamed) {
  auto o = small();
  o.width = 50;
  EXPECT_EQ(config_error(o),
            "model.platonic.width: must be a multiple of the order 12 of tetrahedron, got 50");
  o = small();
  o.heads = 18;
  EXPECT_EQ(config_error(o),
            "model.platonic.heads: must be a multiple of the order 12 of tetrahedron and divide the width "
            "48, got 18");
  o = small();
  o.group = "cyclic_4";
  EXPECT_EQ(config_error(o), "model.platonic.group: 'cyclic_4' acts in 2 dimensions, the data have 3");
  o.group = "cyclic_65";
  EXPECT_EQ(config_error(o), "model.platonic.group 'cyclic_65': n must be 2 to 64 in cyclic_n, got 65");
  o.group = "nosuch";
  EXPECT_EQ(config_error(o).find("model.platonic.group: must be one of trivial, "), 0U) << config_error(o);
  o.group = "cyclic_3d_3";
  o.axis = {0, 0, 0};
  EXPECT_EQ(config_error(o).find("model.platonic.axis: must be a finite vector"), 0U) << config_error(o);
  o = small();
  o.generators = {{1, 0, 0, 0, 1, 0, 0, 0, 2}};
  EXPECT_EQ(
      config_error(o).find("model.platonic.generators: group 'generated': generator 0 must be orthogonal"),
      0U)
      << config_error(o);
  o = small();
  o.width = 36;
  EXPECT_EQ(config_error(o),
            "model.platonic.heads: rotary encoding needs an even width per head, got 36 / 12 = 3");
  o = small();
  o.width = 24;
  EXPECT_EQ(config_error(o),
            "model.platonic.width: a layer norm needs at least 3 channels in a frame, got 24 / 12 = 2");
  o.norm = FrameNorm::rms;
  EXPECT_EQ(config_error(o), "no error");
  Interface i = interface_of_all_kinds(3);
  i.outputs.push_back({"stress", Level::graph, Kind::symmetric_tensor, 1});
  EXPECT_EQ(config_error(small(), i),
            "platonic: output 'stress' (graph symmetric_tensor) is not one that this system gives: scalars "
            "and vectors of nodes, objects and graphs are");
}

std::string input_error(const std::function<void(Points&)>& change) {
  const auto model = make(small(), interface_of_all_kinds(3));
  auto points = std::get<Points>(random_points({3, 2}, 3).input);
  change(points);
  try {
    (*model)(points);
  } catch (const ShapeError& e) {
    return e.what();
  }
  return "no error";
}

TEST(Platonic, WrongInputsAreNamed) {
  EXPECT_EQ(input_error([](Points&) {}), "no error");
  EXPECT_EQ(input_error([](Points& p) { p.positions = p.positions.to(at::kFloat); }),
            "model input: positions: must be Double on cpu like the weights, got Float on cpu");
  EXPECT_EQ(input_error([](Points& p) { p.positions = p.positions.narrow(1, 0, 2); }),
            "model input: positions: must be (5, 3), got (5, 2)");
  EXPECT_EQ(input_error([](Points& p) { p.vectors = Tensor(); }),
            "model input: vectors: must be (5, 3, 3), absent");
  EXPECT_EQ(input_error([](Points& p) { p.of_graphs.erase("gravity"); }),
            "model input: graph input: 'gravity' is declared but absent");
  EXPECT_EQ(input_error([](Points& p) { p.types = p.types + 1; }).substr(0, 44),
            "model input: types: must be 0 .. 2, got 1 ..");
}

TEST(Platonic, KnowsNoPeriodicBoundaries) {
  const auto model = make(small(), interface_of_all_kinds(3));
  auto points = std::get<Points>(random_points({3, 2}, 3).input);
  points.cell = at::eye(3).unsqueeze(0);
  EXPECT_THROW((*model)(points), ConfigError);
}

TEST(Systems, RefuseACarrierAndNameThoseThatTakeIt) {
  Interface poses = interface_of_all_kinds(3);
  poses.group = LieGroup::se3;
  try {
    build({Options{}}, poses);
    FAIL();
  } catch (const ConfigError& e) {
    EXPECT_STREQ(e.what(), "model.system: 'platonic' does not work on poses; systems that do: lie");
  }
  EXPECT_EQ(system_name({transformer::Options{}}), "transformer");
  EXPECT_EQ(build({Options{}}, interface_of_all_kinds(3))->carrier(), Carrier::points);
}

TEST(Platonic, MatricesAloneDecay) {
  const auto model = make(small(), interface_of_all_kinds(3));
  for (const auto& p : model->parameters()) {
    EXPECT_EQ(p.decay, p.name.ends_with("kernel")) << p.name;
  }
}

}  // namespace platonic_test
}  // namespace weyl::platonic
