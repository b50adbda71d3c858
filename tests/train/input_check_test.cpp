// What a model can see of its input is looked at before it is trained: without_effect ones are refused by the name of the option,
// others are let through without a word, and neither leaves a trace in the run.
#include "weyl/train/preflight/input_check.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "tests/models/geomformer/fixtures.h"
#include "tests/models/lie/models.h"
#include "tests/models/steerable/nets.h"
#include "tests/tasks/force_field.h"
#include "tests/train/small_training.h"
#include "weyl/carriers/multivector_motion.h"
#include "weyl/models/geomformer/options.h"
#include "weyl/models/lie/options.h"
#include "weyl/models/platonic/options.h"
#include "weyl/models/steerable/options.h"
#include "weyl/models/transformer/options.h"
#include "weyl/train/preflight/input_changes.h"

namespace weyl {
namespace input_check_test {

const Quantity a_class{"class", Level::graph, Kind::scalar, 3};
const Quantity forces{"forces", Level::node, Kind::vector};
const Quantity energy{"energy", Level::graph, Kind::scalar, 1, Role::free, /*extensive=*/true};

Interface asked(Interface interface, std::vector<Quantity> outputs) {
  interface.outputs = std::move(outputs);
  return interface;
}

/// Random clouds with what the interface declares; `change` has the last word.
std::shared_ptr<const Dataset> clouds(const Interface& interface, int64_t samples = 6, int64_t nodes = 5,
                                      const std::function<void(Points&)>& change = {}) {
  Schema schema;
  schema.interface = interface;
  schema.interface.outputs.clear();
  Points points = std::get<Points>(random_tokens(schema, samples, nodes, 3).input);
  if (change) {
    change(points);
  }
  return std::make_shared<InMemory>(Batch{points, {}}, schema);
}

SavedModel about_to_train(const SystemOptions& system, const Interface& interface) {
  SavedModel saved;
  saved.recipe.model.system = system;
  saved.interface = interface;
  return saved;
}

std::vector<std::string> lines_of(const SystemOptions& system, const Interface& interface,
                                  const Dataset& data, const Systems& systems = built_in_systems()) {
  return check_input(about_to_train(system, interface), {}, data, systems);
}

/// The one line with which it is refused; "" when it is not.
std::string refusal_of(const SystemOptions& system, const Interface& interface, const Dataset& data,
                       const Systems& systems = built_in_systems()) {
  try {
    lines_of(system, interface, data, systems);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

const std::vector<std::string> silence;

platonic::Options small_platonic() {
  platonic::Options o;
  o.width = 48;
  o.heads = 12;
  o.blocks = 2;
  o.ffn_factor = 2;
  return o;
}

transformer::Options small_transformer() {
  transformer::Options o;
  o.width = 16;
  o.heads = 2;
  o.blocks = 1;
  return o;
}

/// Velocities, charges, types and a temperature: what all systems of points read.
Interface featured() {
  Interface i;
  i.types = 3;
  i.typical_nodes = 5;
  i.features = {{"velocity", Level::node, Kind::vector},
                {"charge", Level::node, Kind::scalar},
                {"temperature", Level::graph, Kind::scalar}};
  return i;
}

TEST(InputCheck, PlatonicOnBareCloudsWithoutThePositionIsRefused) {
  const Interface bare = asked(Interface{}, {a_class});
  const auto data = clouds(bare);
  platonic::Options o = small_platonic();
  EXPECT_EQ(lines_of(o, bare, *data), silence);  // the default sees
  o.position_vector = platonic::PositionVector::off;
  const std::string line = refusal_of(o, bare, *data);
  EXPECT_TRUE(line.starts_with("model.platonic.position_vector: must be true")) << line;
  EXPECT_NE(line.find("no output ('class') changes when the positions"), std::string::npos) << line;
  EXPECT_EQ(line.find('\n'), std::string::npos);
  o.rope_on_values = true;
  EXPECT_EQ(lines_of(o, bare, *data), silence);
  o = small_platonic();
  o.position_vector = platonic::PositionVector::off;
  o.attention = platonic::AttentionLaw::linear;
  EXPECT_EQ(lines_of(o, bare, *data), silence);
  // Features alone are no geometry: without rope nothing reads positions.
  const Interface told = asked(featured(), {a_class});
  o = small_platonic();
  o.rope.reset();
  EXPECT_TRUE(refusal_of(o, told, *clouds(told)).starts_with("model.platonic.position_vector: "));
}

TEST(InputCheck, GeomformerThatStartsAtZeroIsRefusedWhereItStaysThere) {
  const Interface bare = asked(Interface{}, {a_class});
  geomformer::Options o = geomformer::small_geomformer();
  EXPECT_EQ(lines_of(o, bare, *clouds(bare)), silence);
  o.input = geomformer::VectorInput::zero;
  EXPECT_TRUE(refusal_of(o, bare, *clouds(bare)).starts_with("model.geomformer.input: must be "));
  // With types the weights mix what differs, so numbers see distances; vectors are nought for ever.
  Interface typed;
  typed.types = 3;
  EXPECT_EQ(lines_of(o, asked(typed, {energy}), *clouds(typed)), silence);
  const std::string line = refusal_of(o, asked(typed, {energy, forces}), *clouds(typed));
  EXPECT_TRUE(line.starts_with("model.geomformer.input: ")) << line;
  EXPECT_NE(line.find("output 'forces' is constant"), std::string::npos) << line;
  // Vector features are vectors to start with, and messages make some of directions.
  EXPECT_EQ(lines_of(o, asked(featured(), {energy, forces}), *clouds(featured())), silence);
  for (const auto preset : {geomformer::Preset::et, geomformer::Preset::painn}) {
    EXPECT_EQ(lines_of(geomformer::small_preset(preset), asked(Interface{}, {energy, forces}),
                       *clouds(Interface{})),
              silence);
  }
}

// Joins of nearly the same points are all that turns the places of bare clouds into numbers.
TEST(InputCheck, GatrOnBareCloudsIsSaidToSeeLessThanFloat32Rounds) {
  gatr::Options options;
  options.width = 8;
  options.heads = 4;
  options.blocks = 2;
  Interface bare = asked({}, {a_class}), with_normals = bare;
  with_normals.features = {{"normals", Level::node, Kind::vector, 1, Role::normal}};
  const auto lines = lines_of(options, bare, *clouds(bare, 6, 30));
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_TRUE(lines[0].starts_with("output 'class' hardly changes when the positions of training samples"))
      << lines[0];
  EXPECT_TRUE(lines_of(options, with_normals, *clouds(with_normals, 6, 30)).empty());
}

TEST(InputCheck, ModelsThatSeeEverythingAreLetThroughWithoutAWord) {
  const Interface i =
      asked(featured(), {a_class, energy, forces, {"later", Level::node, Kind::vector, 1, Role::point}});
  const auto data = clouds(i);
  EXPECT_EQ(lines_of(small_platonic(), i, *data), silence);
  EXPECT_EQ(lines_of(small_transformer(), i, *data), silence);
  EXPECT_EQ(lines_of(geomformer::small_geomformer(), i, *data), silence);
  EXPECT_EQ(lines_of(geomformer::small_preset(geomformer::Preset::et), i, *data), silence);
  EXPECT_EQ(lines_of(geomformer::small_preset(geomformer::Preset::painn), i, *data), silence);
}

/// As with lengths in another unit than the cut-off was meant in.
TEST(InputCheck, ACutOffThatNobodyIsWithinIsSaid) {
  const Interface i = asked(featured(), {energy});
  const auto data = clouds(i, 4, 5, [](Points& p) { p.positions.mul_(100); });
  geomformer::Options et = geomformer::small_preset(geomformer::Preset::et);
  et.cutoff->radius = 0.01;
  const std::string line = refusal_of(et, i, *data);
  EXPECT_NE(line.find("no two nodes of theirs are within its cut-off"), std::string::npos) << line;
  // Others that are without_effect are so for another reason.
  platonic::Options o = small_platonic();
  o.rope.reset();
  o.position_vector = platonic::PositionVector::off;
  EXPECT_EQ(refusal_of(o, i, *data).find("cut-off"), std::string::npos);
}

/// Not one of weyl's: reads positions, and of the features the charge alone.
struct DeafOptions {
  static constexpr const char* name_in_config = "deaf";
  bool places = true, anything = true;
};
void fields(Fields& f, DeafOptions& o) {
  f("places", o.places, "reads positions");
  f("anything", o.anything, "reads anything");
}
class Deaf : public PointsModel {
 public:
  using Options = DeafOptions;
  Deaf(const DeafOptions& options, const Interface& interface) : PointsModel(interface), options_(options) {
    weight_ = parameter("weight", {1}, Init::zeros());
  }
  Named forward(const Points& p) override {
    const Tensor of_charge = p.scalars.narrow(1, 0, 1).unsqueeze(2) * weight_;
    Tensor y = at::ones_like(p.positions).unsqueeze(1) * weight_;
    y = options_.anything ? y * of_charge : y;
    y = options_.anything && options_.places ? y * p.positions.unsqueeze(1) : y;
    Named out;
    for (const Quantity& q : interface.outputs) {
      out[q.name] = y;
    }
    return out;
  }
  Symmetry symmetry() const override { return {}; }
  Work work(double /*nodes*/) const override { return {3}; }

 private:
  DeafOptions options_;
  Tensor weight_;
};

TEST(InputCheck, AFeatureThatChangesNothingIsNamed) {
  Systems systems = built_in_systems();
  systems.push_back(system_of<Deaf>());
  const Interface i = asked(featured(), {forces});
  const auto data = clouds(i);
  const std::vector<std::string> lines = lines_of(DeafOptions{}, i, *data, systems);
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_TRUE(lines[0].starts_with("the types of nodes have no effect")) << lines[0];
  EXPECT_TRUE(lines[1].starts_with("feature 'velocity' has no effect")) << lines[1];
  EXPECT_TRUE(lines[2].starts_with("feature 'temperature' has no effect")) << lines[2];
  // A program's own system may read features alone, but not nothing. An output with a place follows that of its node,
  // which is no sight.
  const Interface point = asked(featured(), {{"later", Level::node, Kind::vector, 1, Role::point}});
  const std::vector<std::string> without_effect =
      lines_of(DeafOptions{.places = false}, point, *data, systems);
  ASSERT_EQ(without_effect.size(), 4u);
  EXPECT_TRUE(without_effect[0].starts_with("output 'later' does not change when the positions"))
      << without_effect[0];
  EXPECT_TRUE(
      refusal_of(DeafOptions{.anything = false}, point, *data, systems)
          .starts_with("model.deaf: must see the positions, but with these options no output ('later')"));
}

/// Puts points that do not depend on anything but the charge, or on the size of the positions too, where its nodes are.
struct PlacedOptions {
  static constexpr const char* name_in_config = "placed";
  bool places = false;
};
void fields(Fields& f, PlacedOptions& o) {
  f("places", o.places, "reads positions");
}
class Placed : public PointsModel {
 public:
  using Options = PlacedOptions;
  Placed(const PlacedOptions& options, const Interface& interface)
      : PointsModel(interface), options_(options) {
    weight_ = parameter("weight", {1}, Init::zeros());
  }
  Named forward(const Points& p) override {
    Tensor charge = p.scalars.narrow(1, 0, 1) * weight_;
    charge = options_.places ? charge * p.positions.square().sum(1, true) : charge;
    const Tensor point = at::one_hot(at::full({p.nodes(), 1}, 14, at::kLong), 16).to(charge.scalar_type());
    return {{"place", translated_multivectors(point * charge.unsqueeze(2), p.positions)}};
  }
  Symmetry symmetry() const override { return {}; }
  Work work(double /*nodes*/) const override { return {3}; }

 private:
  PlacedOptions options_;
  Tensor weight_;
};

TEST(InputCheck, AMultivectorThatFollowsItsNodeIsNoSight) {
  Systems systems = built_in_systems();
  systems.push_back(system_of<Placed>());
  Interface i = asked(featured(), {{"place", Level::node, Kind::multivector}});
  i.types = 0;
  i.features = {{"charge"}, {"axis", Level::node, Kind::multivector}};
  const auto data = clouds(i);
  const std::vector<std::string> lines = lines_of(PlacedOptions{}, i, *data, systems);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_TRUE(lines[0].starts_with("output 'place' does not change when the positions")) << lines[0];
  EXPECT_TRUE(lines[1].starts_with("feature 'axis' has no effect")) << lines[1];
  const std::vector<std::string> seen = lines_of(PlacedOptions{.places = true}, i, *data, systems);
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_TRUE(seen[0].starts_with("feature 'axis' has no effect")) << seen[0];
}

TEST(InputCheck, SamplesThatTellNothingRaiseNoAlarm) {
  platonic::Options without_effect = small_platonic();
  without_effect.position_vector = platonic::PositionVector::off;
  const Interface bare = asked(Interface{}, {a_class});
  EXPECT_EQ(lines_of(without_effect, bare, *clouds(bare, 4, 1)), silence);  // single nodes
  EXPECT_EQ(lines_of(without_effect, bare, *clouds(bare, 4, 5, [](Points& p) { p.positions.fill_(2.5); })),
            silence);
  // One type of three occurs, and every charge is the same.
  const Interface i = asked(featured(), {energy});
  EXPECT_EQ(lines_of(geomformer::small_geomformer(), i,
                     *clouds(i, 4, 5,
                             [](Points& p) {
                               p.types.fill_(1);
                               p.scalars.zero_();
                             })),
            silence);
  // Nobody is within the cut-off as the samples are; not a number somewhere.
  geomformer::Options et = geomformer::small_preset(geomformer::Preset::et);
  et.cutoff->radius = 1;
  EXPECT_EQ(lines_of(et, i,
                     *clouds(i, 4, 5,
                             [](Points& p) {
                               p.positions = at::arange(p.nodes(), at::kDouble).unsqueeze(1) *
                                             at::tensor({3.0, 0.2, -0.1}, at::kDouble);
                             })),
            silence);
  EXPECT_EQ(lines_of(small_platonic(), i, *clouds(i, 4, 5, [](Points& p) { p.scalars[2].fill_(NAN); })),
            silence);
}

/// Nodes 5 to 9, the second of each two graphs of five, are of one type, at rest and without a charge.
void make_every_second_graph_alike(Points& p) {
  for (int64_t g = 1; g < p.count(); g += 2) {
    const int64_t begin = p.graphs.offsets[static_cast<size_t>(g)], size = p.graphs.size(g);
    p.types.narrow(0, begin, size).fill_(1);
    p.scalars.narrow(0, begin, size).zero_();
    p.vectors.narrow(0, begin, size).zero_();
  }
}

// Others of the set are seen, so that no output is constant: the check of sight lets it through.
TEST(InputCheck, GraphsOfNodesThatAreAllAlikeAreSaidWhereAttentionNeedsOthers) {
  const Interface i = asked(featured(), {energy, forces});
  const auto mixed = clouds(i, 8, 5, make_every_second_graph_alike);
  const auto lines = lines_of(small_platonic(), i, *mixed);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_TRUE(lines[0].starts_with("in 4 of 8 training samples that were looked at all nodes are alike"))
      << lines[0];
  for (const char* option : {"rope_on_values = true", "attention = \"linear\"", "ape", "position_vector"}) {
    EXPECT_NE(lines[0].find(option), std::string::npos) << lines[0];
  }
  EXPECT_EQ(lines[0].find('\n'), std::string::npos);
  // Each option that it names sees them.
  const auto with = [&](const std::function<void(platonic::Options&)>& change) {
    platonic::Options o = small_platonic();
    change(o);
    return lines_of(o, i, *mixed);
  };
  EXPECT_EQ(with([](auto& o) { o.rope_on_values = true; }), silence);
  EXPECT_EQ(with([](auto& o) { o.attention = platonic::AttentionLaw::linear; }), silence);
  EXPECT_EQ(with([](auto& o) { o.ape = platonic::ApeOptions{}; }), silence);
  EXPECT_EQ(with([](auto& o) { o.position_vector = platonic::PositionVector::on; }), silence);
  // Where nodes differ, in one feature alone, or are alone, there is nothing to say; nor of another system.
  EXPECT_EQ(lines_of(small_platonic(), i, *clouds(i, 8, 5)), silence);
  EXPECT_EQ(lines_of(small_platonic(), i,
                     *clouds(i, 8, 5,
                             [](Points& p) {
                               make_every_second_graph_alike(p);
                               p.scalars = at::arange(p.nodes(), at::kDouble).unsqueeze(1);
                             })),
            silence);
  EXPECT_EQ(lines_of(small_platonic(), i, *clouds(i, 8, 1, make_every_second_graph_alike)), silence);
  EXPECT_EQ(lines_of(small_transformer(), i, *mixed), silence);
  // Graphs that are all so end it before.
  const auto alike = clouds(i, 8, 5, [](Points& p) {
    p.types.fill_(1);
    p.scalars.zero_();
    p.vectors.zero_();
  });
  EXPECT_TRUE(refusal_of(small_platonic(), i, *alike).starts_with("model.platonic.position_vector: "));
}

TEST(InputCheck, PosesAndGridsAreLookedAtToo) {
  for (const LieGroup group : {LieGroup::so2, LieGroup::se2, LieGroup::se3, LieGroup::aff2}) {
    const Interface i = lie::interface_of(group);
    Schema schema;
    schema.interface = i;
    schema.interface.outputs.clear();
    const InMemory data(random_tokens(schema, 4, 5, 3), schema);
    for (const auto variant : {lie::Variant::G, lie::Variant::C, lie::Variant::A}) {
      EXPECT_EQ(lines_of(lie::small(variant), i, data), silence);
    }
  }
  const Interface i = steerable::images(2, Level::graph);
  Schema schema;
  schema.interface = i;
  schema.interface.outputs.clear();
  EXPECT_EQ(
      lines_of(steerable::small(), i, InMemory(random_grids(schema, 3, std::vector<int64_t>{16}, 3), schema)),
      silence);
}

TEST(InputCheck, TellsOfEmptyTokensThatThereAreNone) {
  const Interface i = steerable::images(2, Level::graph);
  Schema schema;
  schema.interface = i;
  schema.interface.outputs.clear();
  steerable::Options o = steerable::small();
  o.encoder.skip_empty = true;
  const auto lines = [&](const Batch& samples) { return lines_of(o, i, InMemory(samples, schema)); };
  Batch noise = random_grids(schema, 3, std::vector<int64_t>{32}, 3);
  ASSERT_EQ(lines(noise).size(), 1u);
  EXPECT_TRUE(
      lines(noise)[0].starts_with("model.steerable.encoder.skip_empty = true has no effect on the 3 of 3"))
      << lines(noise)[0];
  Grid& grid = std::get<Grid>(noise.input);
  grid.values = grid.values.clone();
  grid.values.narrow(3, 0, 24).fill_(0);  // three quarters are exactly background
  EXPECT_TRUE(lines(noise).empty());
}

/// Forces are slopes of an energy that sees; where none has a volume there is no stress, which is not a constant one.
TEST(InputCheck, PredictionsAreLookedAtToo) {
  ForceFieldOptions o;
  o.stress = true;
  ForceField task(o);
  const auto data = set();
  task.fit(*data);
  for (const char* system : {"platonic", "transformer", "geomformer", "et", "painn", "gatr"}) {
    SCOPED_TRACE(system);
    const auto model = model_of(system, task, *data);
    draw_zeros(*model, 1);
    const InputCheck sight = input_check_of(*model, &task, check_samples(*data, {}, 60), 1);
    std::vector<std::string> seen;
    for (const InputCheck::Output& output : sight.outputs) {
      EXPECT_TRUE(output.anything) << output.name;
      EXPECT_TRUE(output.places || output.name == "prediction.stress") << output.name;
      seen.push_back(output.name);
    }
    EXPECT_NE(std::ranges::find(seen, "prediction.energy"), seen.end());
    EXPECT_NE(std::ranges::find(seen, "prediction.forces"), seen.end());
    EXPECT_EQ(sight.without_effect, std::vector<std::string>{});
  }
}

TEST(InputCheck, LooksAtFewTokensWhateverTheSet) {
  const Interface bare = asked(Interface{}, {a_class});
  const auto large = clouds(bare, 3, 3000);
  const Points some = std::get<Points>(check_samples(*large, {}, 60));
  EXPECT_EQ(some.count(), 3);
  EXPECT_EQ(some.nodes(), 60);
  // The nodes nearest to the first, so that neighbours stay neighbours.
  const int64_t first = 0;
  const Points whole = std::get<Points>(large->batch({&first, 1}).input);
  const auto furthest = [](const Tensor& x) { return (x - x[0]).square().sum(1).sqrt(); };
  const Tensor all = std::get<0>(furthest(whole.positions).sort());
  EXPECT_EQ(furthest(some.positions.narrow(0, 0, 20)).max().item<double>(), all[19].item<double>());
  const Points small = std::get<Points>(check_samples(*clouds(bare, 100, 5), {}, 60));
  EXPECT_EQ(small.nodes(), 20);
}

/// What a run draws, and so its bits, does not depend on whether it was looked at.
TEST(InputCheck, LeavesNoTraceInTheRun) {
  const Interface i = asked(featured(), {energy});
  at::manual_seed(3);
  const auto state = [] { return at::detail::getDefaultCPUGenerator().get_state(); };
  const Tensor before = state();
  lines_of(small_platonic(), i, *clouds(i));
  EXPECT_TRUE(at::equal(before, state()));

  const ScratchFolder folder;
  const Recipe recipe = small_recipe();  // with dropout
  TrainRequest request;
  request.out = folder / "looked-at";
  request.data = small_data();
  train(recipe, request);

  const std::string run = folder / "plain";
  std::filesystem::create_directories(run);
  SavedModel saved;
  saved.recipe = saved_recipe(recipe);
  saved.task = make_task(recipe.task);
  saved.task->fit(*request.data->train);
  saved.interface = saved.task->interface(request.data->train->schema());
  at::manual_seed(Stream(static_cast<uint64_t>(recipe.train.seed), "weights").bits());
  saved.model = build(recipe.model, saved.interface);
  Trainer(std::move(saved), recipe.train, *request.data, run, nullptr, {}).run();
  EXPECT_EQ(read_if_there(run + "/metrics.csv"), read_if_there(request.out + "/metrics.csv"));
  const auto one = load_model(run), other = load_model(request.out);
  const auto weights = one.model->parameters(), same = other.model->parameters();
  ASSERT_EQ(weights.size(), same.size());
  for (size_t p = 0; p < weights.size(); ++p) {
    EXPECT_TRUE(at::equal(weights[p].tensor, same[p].tensor)) << weights[p].name;
  }
}

/// A refused training leaves nothing behind; one that is warned of says so and goes on.
TEST(InputCheck, IsAskedByTrain) {
  struct Listener : TrainObserver {
    void noted(const std::string& line) override { lines.push_back(line); }
    std::vector<std::string> lines;
  } listener;
  const ScratchFolder folder;
  Recipe recipe = small_recipe();
  recipe.train.epochs = 1;
  platonic::Options o = small_platonic();
  o.rope.reset();
  recipe.model.system = o;
  TrainRequest request;
  request.out = folder / "run";
  request.data = small_data();
  request.observer = &listener;
  EXPECT_THROW(train(recipe, request), ConfigError);
  EXPECT_FALSE(std::filesystem::exists(request.out));
  recipe.model.system = small_transformer();
  train(recipe, request);
  for (const std::string& line : listener.lines) {
    EXPECT_EQ(line.find("effect"), std::string::npos) << line;
  }
  const SavedModel saved = load_model(request.out);
  EXPECT_EQ(system_name(saved.recipe.model), "transformer");
}

}  // namespace input_check_test
}  // namespace weyl
