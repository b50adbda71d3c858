// The symmetry of GeoMFormer, ET and PaiNN in every form of their options, raggedness, and what options
// exclude.
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "tests/equivariance.h"
#include "tests/models/geomformer/fixtures.h"
#include "weyl/core/check.h"
#include "weyl/models/geomformer/options.h"
#include "weyl/models/platonic/options.h"
#include "weyl/models/systems.h"
#include "weyl/models/transformer/options.h"

namespace weyl::geomformer {
namespace geomformer_test {

using equivariance::claim_error;
using equivariance::motion_error;

/// x -> diag(1, 1, 2) x, which is no rotation.
Motions stretches(int64_t graphs) {
  return {at::diag(at::tensor({1.0, 1.0, 2.0}, at::kDouble)).repeat({graphs, 1, 1}), {}};
}

/// 3e-5: a gated head's vectors are small beside the activations of size ten that they are made of.
void expect_symmetric(Model& model, const Batch& batch, const Schema& schema) {
  EXPECT_GT(motion_error(model, batch, schema, stretches(batch.count())), 1e-4) << "blind to a stretch";
  for (const auto dtype : {at::kDouble, at::kFloat}) {
    model.to(dtype);
    for (const auto& claim : model.symmetry().exact) {
      EXPECT_LT(claim_error(model, claim, batch, schema), dtype == at::kDouble ? 1e-11 : 3e-5) << claim.group;
    }
  }
}

TEST(Geomformer, IsEquivariantInEveryForm) {
  const Batch batch = featured_batch({5, 1, 7});
  for (const auto& [name, options] : geomformer_variants()) {
    SCOPED_TRACE(name);
    expect_symmetric(*built(options, featured_interface()), batch, featured_schema());
  }
}

TEST(Geomformer, IsEquivariantWithTwoTowers) {
  const Batch batch = featured_batch({5, 1, 4});
  for (const auto& [name, options] : tower_variants()) {
    SCOPED_TRACE(name);
    expect_symmetric(*built(options, featured_interface()), batch, featured_schema());
  }
}

/// By how much a model differs from one that holds no product of a position and a vector feature v: its numbers from those
/// where v alone is turned, its vectors from P + R V with P + V and P - V what it gives at v and at -v.
struct TurnedAlone {
  double numbers = 0, vectors = 0;
};
TurnedAlone turned_alone(Geomformer& model) {
  const Points points = std::get<Points>(featured_batch({5, 4}).input);
  Stream stream(9, "turned alone");
  const Tensor turn = random_rotations(1, 3, true, stream).linear[0];
  const auto at_features = [&](const Tensor& map) {
    Points moved = points;
    moved.vectors = at::matmul(points.vectors, map.t());
    return model(Input(moved));
  };
  const Tensor same = at::eye(3, at::kDouble);
  const Named here = at_features(same), opposite = at_features(-same), turned = at_features(turn);
  const Tensor p = (here.at("forces") + opposite.at("forces")) / 2, v = here.at("forces") - p;
  return {equivariance::relative_error({{"gap", turned.at("gap")}}, {{"gap", here.at("gap")}}),
          equivariance::relative_error({{"forces", turned.at("forces")}},
                                       {{"forces", p + at::matmul(v, turn.t())}})};
}

// Separate towers meet at the end alone, in a sum: they do not see how velocities stand to positions (section 5.4 read
// literally). Joined ones do, and so does one pair of streams, and a head that takes norms of both.
TEST(Geomformer, JoinedTowersSeeHowVelocitiesStandToPositions) {
  const auto of = [](Towers towers, Head head) {
    Options o = small_geomformer();
    o.towers = towers;
    o.head = head;
    return turned_alone(*built(o, featured_interface()));
  };
  const TurnedAlone separate = of(Towers::separate, Head::mlp);
  EXPECT_LT(separate.numbers, 1e-12);
  EXPECT_LT(separate.vectors, 1e-12);
  for (const auto& [towers, head] :
       {std::pair(Towers::joined, Head::mlp), {Towers::one, Head::mlp}, {Towers::separate, Head::gated}}) {
    const TurnedAlone found = of(towers, head);
    EXPECT_GT(found.numbers, 1e-4);
    EXPECT_GT(found.vectors, 1e-4);
  }
}

TEST(Geomformer, IsEquivariantWithRounds) {
  const Batch batch = featured_batch({5, 4});
  Options rounds = small_geomformer();
  rounds.rounds = 3;
  const auto model = built(rounds, featured_interface());
  expect_symmetric(*model, batch, featured_schema());
  const Named once = built(small_geomformer(), featured_interface())->operator()(batch.input);
  EXPECT_GT(equivariance::relative_error(built(rounds, featured_interface())->operator()(batch.input), once),
            1e-3);
}

// Two rounds are the net at x, then at x + its offset, offsets added.
TEST(Geomformer, RoundsAddUp) {
  Interface interface = featured_interface();
  interface.outputs = {{"step", Level::node, Kind::vector, 1, Role::offset}};
  Options twice = small_geomformer();
  twice.rounds = 2;
  const Batch batch = featured_batch({5, 4});
  const auto one = built(small_geomformer(), interface), two = built(twice, interface);
  const Tensor first = (*one)(batch.input).at("step");
  Points moved = std::get<Points>(batch.input);
  moved.positions = moved.positions + first.squeeze(1);
  const Tensor second = (*one)(Input(moved)).at("step");
  EXPECT_GT((second - first).abs().max().item<double>(), 1e-3);
  EXPECT_LT(((*two)(batch.input).at("step") - (first + second)).abs().max().item<double>(), 1e-14);
  // What is no way of the nodes, such as a displacement in units of its spread, moves nothing.
  interface.outputs[0].role = Role::free;
  EXPECT_THROW(built(twice, interface), ConfigError);
}

// Energies of many atoms are added in float64 whatever the model's dtype.
TEST(Geomformer, AddsEnergiesInFloat64) {
  Options o = small_geomformer();
  o.cutoff = CutoffOptions{CutoffLaw::cosine, 1.0, 0};
  o.input = VectorInput::local;
  const auto model = built(o, molecules_interface());
  model->to(at::kFloat);
  const at::NoGradGuard quiet;
  for (const auto& p : model->parameters()) {
    if (p.name.starts_with("head.energy.mlp.2.")) {
      p.tensor.fill_(p.name.ends_with("bias") ? 0.1 : 0);
    }
  }
  Points points = points_at(random_positions(3000, 1, 20), {3000});
  points.positions = points.positions.to(at::kFloat);
  const double found = (*model)(points).at("energy").item<double>();
  EXPECT_EQ(found, 3000 * static_cast<double>(0.1F));  // no bit of it is rounded to float32
}

// The gated head reads vectors for numbers too, after their last norm (sheet, A9).
TEST(Geomformer, GatedHeadsReadNormedVectors) {
  Options o = small_geomformer();
  o.head = Head::gated;
  const auto has_norm = [](const Geomformer& model) {
    const auto all = model.parameters();
    return std::any_of(all.begin(), all.end(), [](const auto& p) { return p.name == "vector_norm.weight"; });
  };
  EXPECT_TRUE(has_norm(*built(o, molecules_interface())));
  EXPECT_FALSE(has_norm(*built(small_geomformer(), molecules_interface())));
  EXPECT_FALSE(has_norm(*built(small_preset(Preset::et), molecules_interface())));
}

TEST(Geomformer, DoesNotSeeOtherGraphs) {
  for (const auto& [name, options] : geomformer_variants()) {
    const auto model = built(options, featured_interface());
    const Batch all = featured_batch({3, 6});
    const Schema schema = featured_schema();
    const std::vector<int64_t> second{1};
    const Named together = (*model)(all.input), alone = (*model)(take(all, second, schema).input);
    EXPECT_LT((together.at("energy")[1] - alone.at("energy")[0]).abs().max().item<double>(), 1e-12) << name;
    EXPECT_LT((together.at("forces").narrow(0, 3, 6) - alone.at("forces")).abs().max().item<double>(), 1e-12)
        << name;
  }
}

TEST(Geomformer, IsEquivariantWithoutEachOfItsParts) {
  const Batch batch = featured_batch({5, 4});
  using Part = bool Parts::*;
  const std::pair<const char*, Part> parts[] = {
      {"inv_self", &Parts::inv_self},   {"inv_cross", &Parts::inv_cross}, {"equ_self", &Parts::equ_self},
      {"equ_cross", &Parts::equ_cross}, {"inv_ffn", &Parts::inv_ffn},     {"equ_ffn", &Parts::equ_ffn},
      {"inv_norm", &Parts::inv_norm},   {"equ_norm", &Parts::equ_norm}};
  for (const auto& [name, part] : parts) {
    SCOPED_TRACE(name);
    Options o = small_geomformer();
    o.parts.*part = false;
    expect_symmetric(*built(o, featured_interface()), batch, featured_schema());
  }
}

// 25 d^2 a block with r = d, as published for 8 blocks of 512 (52.4 million), plus what norms and the ends
// have.
TEST(Geomformer, CountsThePapersMatrices) {
  Options one = small_geomformer(), two = small_geomformer();
  one.blocks = 1;
  const int64_t d = one.width;
  const int64_t block = built(two, molecules_interface())->parameter_count() -
                        built(one, molecules_interface())->parameter_count();
  const int64_t norms = 2 * 2 * d + 2 * d;
  EXPECT_EQ(block, 25 * d * d + norms);
  // The eight maps that inner products are made of have twice the columns where they are of both towers.
  one.towers = two.towers = Towers::joined;
  EXPECT_EQ(built(two, featured_interface())->parameter_count() -
                built(one, featured_interface())->parameter_count(),
            2 * (block + 8 * d * d));
  EXPECT_THROW(built(one, molecules_interface()), ConfigError);  // nothing for the second tower to start from
}

// U(-a, a) with a = 1 / sqrt(I) by torch's law, sqrt(6 / (I + O)) by Xavier's, where the maps that one product makes count as one.
// Last maps of a branch start 1 / sqrt(2 L) smaller, those of two attentions sqrt(2) larger.
TEST(Geomformer, MapsStartByTheLawAskedFor) {
  Options options = small_geomformer();
  options.width = 32;
  options.heads = 4;
  const auto parameters = [&](LinearInit init) {
    options.init = init;
    return built(options, featured_interface())->parameters();
  };
  const auto torch = parameters(LinearInit::torch), xavier = parameters(LinearInit::xavier);
  const auto largest = [](const Parameter& p) { return p.tensor.abs().max().item<double>(); };
  int maps = 0, biases = 0;
  for (size_t k = 0; k < torch.size(); ++k) {
    const std::string& name = torch[k].name;
    const bool last = name.ends_with("out_inv.weight") || name.ends_with("out_equ.weight");
    if (last || name.ends_with("attention.inv.weight") || name.ends_with("attention.equ.weight")) {
      ++maps;
      const auto in = static_cast<double>(torch[k].tensor.size(1)),
                 out = static_cast<double>(torch[k].tensor.size(0));
      const double factor = last ? residual_init(options) * std::sqrt(in / out) : 1;
      EXPECT_NEAR(largest(torch[k]), factor / std::sqrt(in), 0.02 * factor / std::sqrt(in)) << name;
      EXPECT_NEAR(largest(xavier[k]), factor * std::sqrt(6 / (in + out)),
                  0.02 * factor * std::sqrt(6 / (in + out)))
          << name;
    }
    if (name.ends_with("mlp.0.bias")) {
      ++biases;
      EXPECT_GT(largest(torch[k]), 0) << name;
      EXPECT_EQ(largest(xavier[k]), 0) << name;
    }
  }
  EXPECT_EQ(maps, 4 * options.blocks);
  EXPECT_GT(biases, 0);
}

void put_in_a_cell(Points& points) {
  points.cell = 9 * at::eye(3, at::kDouble).unsqueeze(0);
  points.pbc = at::ones({1, 3}, at::kBool);
}

// Without one an atom would attend to all its images; a centroid belongs to no lattice.
TEST(Geomformer, CellsNeedACutoffAndNoCentroid) {
  const Batch open = featured_batch({5});
  Points points = std::get<Points>(open.input);
  put_in_a_cell(points);
  int taken = 0, refused = 0;
  for (const auto& [name, options] : geomformer_variants()) {
    SCOPED_TRACE(name);
    const auto model = built(options, featured_interface());
    EXPECT_NO_THROW((*model)(open.input));
    if (options.cutoff && (options.input == VectorInput::local || options.input == VectorInput::zero)) {
      EXPECT_NO_THROW((*model)(Input(points)));
      ++taken;
    } else {
      EXPECT_THROW((*model)(Input(points)), ConfigError);
      ++refused;
    }
  }
  EXPECT_GT(taken, 5);
  EXPECT_GT(refused, 5);
  points.pbc = Tensor();
  const auto et = built(small_preset(Preset::et), featured_interface());
  EXPECT_THROW((*et)(Input(points)), ShapeError);
}

// Without attention a node sees nothing but its place, told from the centroid.
TEST(Geomformer, ImagesAreNotPartOfTheCentroid) {
  Options o = small_geomformer();
  o.parts.inv_self = o.parts.inv_cross = o.parts.equ_self = o.parts.equ_cross = false;
  for (const std::string& name : {"real", "other"}) {
    Interface i = declared_schema().interface;
    i.features = {{name, Level::node, Kind::scalar, 1}};
    i.outputs = {{"forces", Level::node, Kind::vector, 1}};
    const auto model = built(o, i);
    Points points = points_at(random_positions(7), {4, 3});
    points.scalars = at::tensor({1.0, 1.0, 1.0, 0.0, 1.0, 0.0, 1.0}, at::kDouble).unsqueeze(1);
    const Tensor before = (*model)(Input(points)).at("forces");
    points.positions = points.positions.clone();
    points.positions[3] += 5;
    points.positions[5] -= 2;
    const Tensor change = ((*model)(Input(points)).at("forces") - before).abs().flatten(1).amax(1);
    const Tensor of_real = at::index_select(change, 0, at::tensor({0, 1, 2, 4, 6}, at::kLong));
    if (name == "real") {
      EXPECT_EQ(of_real.max().item<double>(), 0);
    } else {
      EXPECT_GT(of_real.min().item<double>(), 1e-6);
    }
    EXPECT_GT(change[3].item<double>(), 1e-6);
  }
}

TEST(Geomformer, IsTheOneSystemThatTakesCells) {
  platonic::Options platonic;
  platonic.group = "tetrahedron";
  platonic.width = 48;
  platonic.heads = 12;
  platonic.blocks = 1;
  transformer::Options transformer;
  transformer.width = 16;
  transformer.heads = 2;
  transformer.blocks = 1;
  for (const ModelOptions& options : {ModelOptions{platonic}, ModelOptions{transformer}}) {
    SCOPED_TRACE(system_name(options));
    const BuildOn float64(at::kCPU, at::kDouble);
    const auto model = build(options, molecules_interface());
    Points points = points_at(random_positions(5), {5});
    EXPECT_NO_THROW((*model)(Input(points)));
    put_in_a_cell(points);
    EXPECT_THROW((*model)(Input(points)), ConfigError);
  }
}

TEST(Geomformer, RefusesWhatItCannotDo) {
  const auto refuses = [](const std::function<void(Options&)>& change) {
    Options o = small_geomformer();
    change(o);
    EXPECT_THROW(built(o, featured_interface()), ConfigError);
  };
  refuses([](auto& o) { o.heads = 3; });
  refuses([](auto& o) { o.interaction = Interaction::messages; });
  refuses([](auto& o) { o.basis = Basis::bessel; });
  refuses([](auto& o) {
    o.shared_query = true;
    o.parts.inv_self = false;
  });
  refuses([](auto& o) { o.cutoff = CutoffOptions{CutoffLaw::cosine, 2, 3}; });
  refuses([](auto& o) {
    o.towers = Towers::joined;
    o.order = Order::sequential;
  });
  Interface odd = featured_interface();
  odd.outputs.push_back({"handed", Level::graph, Kind::pseudoscalar, 1});  // a triple product of its vectors
  EXPECT_NO_THROW(built(small_geomformer(), odd));
  odd.features.push_back({"handed", Level::node, Kind::pseudoscalar, 1});  // which no stream can hold
  EXPECT_THROW(built(small_geomformer(), odd), ConfigError);
  Interface flat = featured_interface();
  flat.dimension = 2;
  EXPECT_THROW(built(small_geomformer(), flat), ConfigError);
}

// An option that nothing would read is refused, not ignored; presets and their published variants stay.
TEST(Geomformer, RefusesWhatHasNoEffect) {
  for (const auto preset : {Preset::geomformer, Preset::et, Preset::painn}) {
    EXPECT_NO_THROW(require_effects(preset_options(preset), nullptr));
  }
  const auto refuses = [](Preset preset, const std::string& key,
                          const std::function<void(Options&)>& change) {
    Options o = preset_options(preset);
    change(o);
    try {
      require_effects(o, nullptr);
      ADD_FAILURE() << key << " was taken";
    } catch (const ConfigError& e) {
      EXPECT_TRUE(std::string(e.what()).starts_with("model.geomformer." + key + ": ")) << e.what();
    }
  };
  const auto et = Preset::et, painn = Preset::painn, own = Preset::geomformer;
  refuses(et, "bias", [](auto& o) { o.bias = BiasScope::layer; });
  refuses(et, "parts.inv_self", [](auto& o) { o.parts.inv_self = false; });
  refuses(painn, "parts.equ_cross", [](auto& o) { o.parts.equ_cross = false; });
  refuses(et, "dropout.attention", [](auto& o) { o.dropout.attention = 0.1; });
  refuses(et, "dropout.activation", [](auto& o) { o.dropout.activation = 0.1; });
  refuses(painn, "dropout.activation", [](auto& o) { o.dropout.activation = 0.1; });
  refuses(et, "order", [](auto& o) { o.order = Order::sequential; });
  refuses(et, "shared_query", [](auto& o) { o.shared_query = true; });
  refuses(et, "equ_scale", [](auto& o) { o.equ_scale = EquivariantScale::vectors; });
  refuses(et, "hidden", [](auto& o) { o.hidden = 12; });
  refuses(et, "head_hidden", [](auto& o) { o.head_hidden = 12; });
  refuses(et, "parts.equ_norm", [](auto& o) { o.parts.equ_norm = false; });
  refuses(painn, "vector_cutoff", [](auto& o) { o.vector_cutoff = false; });
  refuses(own, "vector_cutoff", [](auto& o) { o.vector_cutoff = false; });
  refuses(own, "bias_heads", [](auto& o) {
    o.bias = BiasScope::none;
    o.bias_heads = false;
  });
  refuses(own, "smoothing", [](auto& o) { o.smoothing = 1e-30; });
  refuses(painn, "smoothing", [](auto& o) { o.smoothing = 0; });
  refuses(own, "rho", [](auto& o) { o.rho = 0.5; });
  refuses(et, "norm_epsilon", [](auto& o) { o.norm_epsilon = 0.5; });
  // What would jump at the cut-off.
  refuses(own, "cutoff.lower", [](auto& o) {
    o.cutoff.emplace();
    o.cutoff->lower = 1;
  });
}

TEST(Geomformer, DropoutActsInTrainingAlone) {
  Options o = small_geomformer();
  o.dropout = {0.3, 0.3, 0.3, 0.3, 0.3};
  const auto model = built(o, featured_interface());
  const Batch batch = featured_batch({5, 4});
  const auto run = [&] { return (*model)(batch.input); };
  EXPECT_EQ(equivariance::relative_error(run(), run()), 0);
  model->train(true);
  EXPECT_GT(equivariance::relative_error(run(), run()), 1e-3);
  // Vectors are dropped whole, so a pass with the same draws still turns with its input.
  Stream stream(4, "dropout");
  const Motions motions = random_rotations(2, 3, true, stream);
  at::manual_seed(5);
  const Named turned = (*model)(transform(batch, motions, featured_schema()).input);
  at::manual_seed(5);
  const Named expected = transform(run(), model->interface.outputs, motions, batch.input);
  EXPECT_LT(equivariance::relative_error(turned, expected), 1e-11);
}

TEST(Geomformer, WarnsOfForcesAsGradientsThroughWhitening) {
  const auto warnings = [](const Options& options, const char* differentiated_by) {
    Interface interface;
    interface.outputs = {{.name = "energy", .level = Level::graph, .extensive = true}};
    const BuildOn shapes_only(at::kMeta, at::kFloat);
    return Geomformer(options, interface).warnings(differentiated_by);
  };
  Options whiten;
  whiten.norm = VectorNormLaw::whiten;
  EXPECT_TRUE(warnings(whiten, "").empty());
  ASSERT_EQ(warnings(whiten, "a = 1").size(), 1u);
  EXPECT_NE(warnings(whiten, "a = 1")[0].find("norm = \"whiten\" with a = 1"), std::string::npos);
  whiten.rho = 1;  // which is rms
  EXPECT_TRUE(warnings(whiten, "a = 1").empty());
  EXPECT_TRUE(warnings(Options{}, "a = 1").empty());
}

}  // namespace geomformer_test
}  // namespace weyl::geomformer
