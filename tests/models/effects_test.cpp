// Every option of every system does something, or is refused with a reason: see tests/effects.h.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "tests/effects.h"
#include "weyl/carriers/pose_elements.h"
#include "weyl/models/gatr/options.h"
#include "weyl/models/geomformer/options.h"
#include "weyl/models/grids/options.h"
#include "weyl/models/lie/options.h"
#include "weyl/models/platonic/options.h"
#include "weyl/models/steerable/options.h"
#include "weyl/models/systems.h"
#include "weyl/models/transformer/options.h"

namespace weyl {
namespace effects_test {

std::string text_of(const Symmetry& symmetry) {
  std::string all;
  for (const auto* claims : {&symmetry.exact, &symmetry.approximate}) {
    for (const Claim& claim : *claims) {
      all += claim.group + ", ";
    }
    all += "; ";
  }
  return all;
}

/// Parameters, claims, outputs in evaluation and in training, and what the loss of the latter asks of the weights.
Effect model_outcome(const SystemOptions& options, const Interface& interface, const Input& input) {
  return outcome_of([&] {
    options.require_effects(&interface);
    Effect outcome;
    const BuildOn wide(at::kCPU, at::kDouble);
    at::manual_seed(3);
    const std::shared_ptr<Model> model = build({options}, interface);
    record_parameters(*model, outcome);
    outcome.words["claims"] = text_of(model->symmetry());
    wear(*model);
    for (const bool training : {false, true}) {
      model->train(training);
      at::manual_seed(4);
      for (const auto& [name, value] : (*model)(input)) {
        outcome.numbers[(training ? "training " : "output ") + name] = value.detach().clone();
      }
    }
    return outcome;
  });
}

template <class Options>
void expect_all_to_act(const std::string& name, const Options& base, const Interface& interface,
                       const Input& input, const OtherValues& values = {},
                       const std::map<std::string, std::string>& exceptions = {}) {
  expect_effects(
      name, base, [&](const Options& o) { return model_outcome(o, interface, input); }, values, exceptions);
}

const std::vector<int64_t> sizes{4, 2, 5};

Interface molecules(std::vector<Quantity> outputs) {
  Interface interface;
  interface.types = 2;
  interface.typical_nodes = 4;
  interface.features = {{.name = "charge"}};
  interface.outputs = std::move(outputs);
  return interface;
}

const Quantity classes{.name = "class", .level = Level::graph, .channels = 2},
    energy{.name = "energy", .level = Level::graph, .extensive = true},
    moves{.name = "moves", .kind = Kind::vector, .role = Role::offset};

Points points() {
  at::manual_seed(5);
  Points p;
  p.graphs = Segments::of_sizes(sizes);
  p.positions = at::randn({11, 3}, at::kDouble) * 1.5 + 1;
  p.types = at::randint(0, 2, {11}, at::kLong);
  p.scalars = at::randn({11, 1}, at::kDouble);
  return p;
}

TEST(EffectsOfOptions, Transformer) {
  transformer::Options o;
  o.width = 8;
  o.heads = 2;
  o.blocks = 2;
  expect_all_to_act("transformer", o, molecules({classes, moves}), points());
  o.drop_path = 0.3;
  expect_all_to_act("transformer with drop path", o, molecules({classes, moves}), points());
  expect_all_to_act("transformer of energies", o, molecules({energy}), points());
}

TEST(EffectsOfOptions, Platonic) {
  platonic::Options o;
  o.group = "cyclic_3d_3";  // has an axis, and matrices that float32 rounds
  o.width = 24;
  o.heads = 3;
  o.blocks = 2;
  o.ape.emplace();
  OtherValues values;
  values.string["group"] = {"trivial", "cyclic_3d_2"};
  values.reals["axis"] = {{1, 0, 0}};
  values.matrix["generators"] = {{{0, 0, 1, 1, 0, 0, 0, 1, 0}}};
  const std::pair<const std::string, std::string> form{"linear",
                                                       "the same numbers to rounding, in less time"},
      again{"recompute", "the same numbers, in less memory"};
  const Interface interface = molecules({classes});
  expect_all_to_act("platonic", o, interface, points(), values, {form, again});
  o.attention = platonic::AttentionLaw::linear;
  o.drop_path = 0.3;
  expect_all_to_act("platonic with linear attention", o, interface, points(), values, {form, again});
  o = {};
  o.width = 48;
  o.blocks = 1;
  expect_all_to_act(
      "platonic as it is by default", o, molecules({energy}), points(), values,
      {{"centre",
        "attention with rope reads differences of positions alone, so that only rounding depends "
        "on where they are counted from"},
       {"values", "one block reads scalars that are the same in all frames, and so are its values"},
       {"authors_tables",
        "states how weights of the authors were trained; float32 holds the matrices of "
        "most groups exactly"},
       form,
       again});
  // Without blocks only what the ends of the network read acts, and the rest is refused.
  o.width = 48;
  o.blocks = 0;
  o.ape.emplace();
  expect_all_to_act("platonic without blocks", o, molecules({energy}), points(), values,
                    {{"heads", "checked as it must be with blocks"},
                     {"authors_tables", "float32 holds the matrices of this group exactly"},
                     form});
  // Nothing counts positions from a place, and generators make one frame.
  o = {};
  o.width = 24;
  o.heads = 3;
  o.blocks = 2;
  o.position_vector = platonic::PositionVector::off;
  o.generators = {{1, 0, 0, 0, 1, 0, 0, 0, 1}};
  expect_all_to_act("platonic of relative positions and one frame", o, molecules({classes}), points(), values,
                    {{"authors_tables", "float32 holds the identity exactly"}, form, again});
}

TEST(EffectsOfOptions, Lie) {
  const LieGroup group = LieGroup::aff2;
  Interface interface;
  interface.group = group;
  interface.dimension = 2;
  interface.typical_nodes = 4;
  interface.features = {{.name = "mark"}};
  interface.outputs = {{.name = "gap"}, {.name = "missing", .kind = Kind::element}};
  Stream stream(6, "poses");
  Poses poses;
  poses.group = group;
  poses.graphs = Segments::of_sizes(sizes);
  poses.elements = random_elements(group, 11, 1, stream);
  at::manual_seed(5);
  poses.scalars = at::randn({11, 1}, at::kDouble);
  lie::Options o;
  o.width = 8;
  o.heads = 2;
  o.blocks = 2;
  for (const lie::Variant variant : {lie::Variant::G, lie::Variant::C, lie::Variant::A}) {
    o.variant = variant;
    expect_all_to_act("lie " + std::string(names_of(variant)[static_cast<size_t>(variant)]), o, interface,
                      poses);
  }
}

Interface grids(int64_t dimension, Level level) {
  Interface interface;
  interface.dimension = dimension;
  interface.grid = true;
  interface.typical_nodes = dimension == 2 ? 64 : 512;
  interface.features = {{.name = "rgb", .channels = 2}};
  interface.outputs = {{.name = "logits", .level = level, .channels = 3}};
  return interface;
}

Grid grid(int64_t dimension) {
  at::manual_seed(5);
  std::vector<int64_t> shape{2, 2};
  shape.insert(shape.end(), static_cast<size_t>(dimension), 8);
  return {at::rand(shape, at::kDouble)};
}

steerable::Options small_net(int64_t dimension) {
  steerable::Options o;
  // Kernels and orders such that pixels do not carry all that two features may differ by: `cut` acts.
  o.stages = {{2, 4, dimension == 2 ? 5 : 3}, {3, 4, 3}};
  if (dimension == 2) {
    o.orders = 5;
    o.stages[1].kernel = 5;
  }
  o.encoder.depth = 1;
  o.encoder.heads = 2;
  return o;
}

OtherValues of_nets() {
  OtherValues values;
  values.integers["ratio"] = {{2, 1, 1}, {1, 1}};
  return values;
}

const std::pair<const std::string, std::string> full{"encoder.skip_empty",
                                                     "no token of these grids sees background alone"};

TEST(EffectsOfOptions, SteerableOnImages) {
  steerable::Options o = small_net(2);
  expect_all_to_act("images", o, grids(2, Level::graph), grid(2), of_nets(), {full});
  expect_all_to_act("image masks", o, grids(2, Level::node), grid(2), of_nets(), {full});
  o.head.kernel = 2;
  o.encoder.depth = 0;
  o.encoder.heads = steerable::EncoderOptions{}.heads;
  o.profile = RingProfile::gaussian;
  o.stages[1].middle = 0;
  expect_all_to_act("images by convolutions alone", o, grids(2, Level::graph), grid(2), of_nets());
}

TEST(EffectsOfOptions, SteerableOnVolumes) {
  steerable::Options o = small_net(3);
  o.rings = 2;  // the inner one does not carry degree 2: `cut` drops it there
  o.degree = 2;
  expect_all_to_act("volumes", o, grids(3, Level::graph), grid(3), of_nets(), {full});
  o.encoder.positions.radial = steerable::RadialLaw::gaussian;
  o.stages[0].activation = steerable::Activation::gated;
  expect_all_to_act("volume masks", o, grids(3, Level::node), grid(3), of_nets(), {full});
}

TEST(EffectsOfOptions, PlainNetsOnGrids) {
  for (const int64_t dimension : {2, 3}) {
    expect_all_to_act("cnn", grids::CnnOptions{.base = 2}, grids(dimension, Level::graph), grid(dimension));
    grids::UnetOptions o{.base = 2};
    o.stages.back().stride = {1};
    expect_all_to_act("unet", o, grids(dimension, Level::node), grid(dimension));
  }
}

geomformer::Options small_geomformer(geomformer::Preset preset) {
  geomformer::Options o = geomformer::preset_options(preset);
  o.width = 8;
  o.blocks = 2;
  o.kernels = 6;
  if (preset != geomformer::Preset::painn) {
    o.heads = 2;
  }
  return o;
}

TEST(EffectsOfOptions, Geomformer) {
  geomformer::Options o = small_geomformer(geomformer::Preset::geomformer);
  expect_all_to_act("geomformer", o, molecules({classes, moves}), points());
  o.blocks = 1;
  expect_all_to_act("geomformer of energies", o, molecules({energy}), points());
  o.cutoff.emplace();
  o.pair_embedding = true;
  o.norm = geomformer::VectorNormLaw::whiten;
  o.input = geomformer::VectorInput::local;
  o.blocks = 2;
  expect_all_to_act("geomformer with a cut-off", o, molecules({energy, moves}), points());
}

TEST(EffectsOfOptions, Gatr) {
  gatr::Options o;
  o.width = 4;
  o.scalars = 6;
  o.heads = 2;
  o.blocks = 2;
  Points in_objects = points();
  in_objects.objects = Segments::of_sizes(std::vector<int64_t>{2, 2, 2, 3, 2});
  OtherValues values;
  values.integers["reinsert_multivectors"] = {{0}};
  values.integers["reinsert_scalars"] = {{1, 2}};
  expect_all_to_act("gatr", o, molecules({classes, moves}), in_objects, values);
  expect_all_to_act("gatr of energies", o, molecules({energy}), in_objects, values);
  o.axial = true;
  o.rotary = 100;
  o.dropout = 0.2;
  expect_all_to_act("axial gatr", o, molecules({classes, moves}), in_objects, values);
  o.axial = false;
  o.blocks = 0;
  o.dropout = 0;
  o.rotary.reset();
  o.heads = gatr::Options{}.heads;
  expect_all_to_act("gatr without blocks", o, molecules({moves}), in_objects, values);
}

TEST(EffectsOfOptions, GeomformerAsEt) {
  const geomformer::Options o = small_geomformer(geomformer::Preset::et);
  expect_all_to_act("et", o, molecules({classes, moves}), points());
  expect_all_to_act("et of energies", o, molecules({energy}), points());
}

TEST(EffectsOfOptions, GeomformerAsPainn) {
  const geomformer::Options o = small_geomformer(geomformer::Preset::painn);
  expect_all_to_act("painn", o, molecules({classes, moves}), points());
  expect_all_to_act("painn of energies", o, molecules({energy}), points());
}

/// The tool itself: an option that nothing reads is found.
struct IdleOptions {
  static constexpr const char* name_in_config = "idle";
  double read = 1, unread = 1;
};
void fields(Fields& f, IdleOptions& o) {
  f("read", o.read, "what the outcome is");
  f("unread", o.unread, "nothing");
}

TEST(EffectsOfOptions, AnOptionThatNothingReadsIsFound) {
  const auto outcome = [](const IdleOptions& o) {
    Effect out;
    out.numbers["y"] = at::full({1}, o.read, at::kDouble);
    return out;
  };
  const IdleOptions o;
  EXPECT_TRUE(has_effect(o, "read", outcome, outcome(o)));
  EXPECT_FALSE(has_effect(o, "unread", outcome, outcome(o)));
}

}  // namespace effects_test
}  // namespace weyl
