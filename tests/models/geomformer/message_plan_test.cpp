// Energies and derivatives by hand against those by autograd.
#include <ATen/ATen.h>
#include <ATen/autocast_mode.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <thread>

#include "tests/models/geomformer/fixtures.h"
#include "weyl/core/worst_of.h"
#include "weyl/kernels/dispatch.h"
#include "weyl/models/geomformer/message_plan.h"
#include "weyl/models/systems.h"
#include "weyl/ops/autograd/parallel.h"
#include "weyl/ops/autograd/without_kernels.h"
#include "weyl/ops/edges/bond_gradient.h"
#include "weyl/tasks/force_field.h"
#include "weyl/train/recipe.h"

namespace weyl::geomformer {
namespace message_plan_test {

std::atomic<int> nets_run{0};

/// While one lives, counts how often the net's kernel is fetched.
struct Watched {
  Watched() {
    nets_run = 0;
    kernels::watch_kernels([](const char* kernel, kernels::InstructionSet) {
      nets_run += std::strstr(kernel, "MessageNets") != nullptr ? 1 : 0;
    });
  }
  ~Watched() { kernels::watch_kernels(nullptr); }
};

/// 4 + 1 + 7 + 2 atoms, the last two far from each other, in slanted cells of which one repeats along two axes and one
/// along none.
Points crystals() {
  Points p = points_at(random_positions(14), {4, 1, 7, 2});
  p.positions[13] += 40;
  p.cell = (at::eye(3, at::kDouble) * 5).repeat({4, 1, 1});
  p.cell.select(1, 1).select(1, 0).fill_(1.3);
  p.cell.select(1, 2).select(1, 1).fill_(-0.7);
  p.pbc = at::ones({4, 3}, at::kBool);
  p.pbc[0][2].fill_(false);
  p.pbc[3].fill_(false);
  return p;
}

Points in_float32(const Points& points) {
  return std::get<Points>(to(Input(points), at::kCPU, at::kFloat));
}

ForceField task() {
  ForceField made({});
  made.adopt(declared_schema(), {.scale = 1.7, .shift = -3});
  return made;
}

double difference(const Named& found, const Named& right) {
  double worst = found.size() == right.size() ? 0 : INFINITY;
  for (const auto& [name, values] : right) {
    const Tensor other = found.at(name), known = at::isnan(values).logical_not();
    worst = worst_of(worst, at::equal(known, at::isnan(other).logical_not()) ? 0.0 : INFINITY);
    const Tensor off = (other - values).masked_select(known).abs();
    const Tensor size = values.masked_select(known).abs();
    if (off.numel() > 0) {
      worst = worst_of(worst, off.max().item<double>() / (1e-3 + size.max().item<double>()));
    }
  }
  return worst;
}

/// All that can be asked for, by hand and by autograd; how far they are from one another.
double difference(Geomformer& model, const Points& points, const Asked& asked) {
  const ForceField of = task();
  const Batch batch{points, {}};
  const Watched watched;
  const Named found = of.predict_asked(model, batch, asked);
  const std::vector<int64_t> sizes = points.graphs.sizes();
  const auto graphs = std::ranges::count_if(sizes, [](int64_t size) { return size > 0; });
  EXPECT_EQ(nets_run, graphs);
  const WithoutBondGradients by_autograd;
  const Named right = of.predict_asked(model, batch, asked);
  EXPECT_EQ(nets_run, graphs);
  EXPECT_EQ(found.size(), 2 + (asked.stress ? 1 : 0) + (asked.energies ? 1 : 0) + (asked.virials ? 1 : 0));
  return difference(found, right);
}

std::vector<std::pair<std::string, Options>> covered() {
  std::vector<std::pair<std::string, Options>> all;
  const auto add = [&](const char* name, Preset preset, const std::function<void(Options&)>& change) {
    Options o = small_preset(preset);
    o.cutoff->radius = 3.5;
    change(o);
    all.emplace_back(name, o);
  };
  for (const Preset preset : {Preset::et, Preset::painn}) {
    add("preset", preset, [](auto&) {});
    add("three blocks, odd widths", preset,
        [](auto& o) { o.blocks = 3, o.width = 21, o.heads = 3, o.kernels = 5; });
    add("no blocks", preset, [](auto& o) { o.blocks = 0; });
    add("smooth", preset, [](auto& o) { o.cutoff->name = CutoffLaw::smooth; });
    add("polynomial, gaussian", preset,
        [](auto& o) { o.cutoff->name = CutoffLaw::polynomial, o.basis = Basis::gaussian; });
    add("lower, exp_normal", preset, [](auto& o) { o.cutoff->lower = 0.4, o.basis = Basis::exp_normal; });
    add("other head", preset, [](auto& o) {
      o.head = o.head == Head::gated ? Head::mlp : Head::gated;
      o.activation = Activation::gelu;
    });
    add("norms turned", preset, [](auto& o) { o.parts.inv_norm = !o.parts.inv_norm; });
    add("mixing turned", preset, [](auto& o) {
      o.feed_forward = o.feed_forward == FeedForward::none ? FeedForward::mixing : FeedForward::none;
      o.neighbour_embedding = !o.neighbour_embedding;
    });
    add("normaliser turned", preset, [](auto& o) {
      o.normaliser = o.normaliser == Normaliser::silu ? Normaliser::constant : Normaliser::silu;
    });
    add("cut-off of scores alone", preset, [](auto& o) { o.vector_cutoff = false; });
  }
  return all;
}

const Asked everything{.stress = true, .energies = true, .virials = true, .owned = {}};

bool has_plan(Geomformer& model) {
  return model.bond_gradient(points_at(random_positions(6), {6}), {}).has_value();
}

/// Biases are not 0 then, and gains not 1.
void wear(Model& model) {
  at::manual_seed(12);
  for (const Parameter& p : model.parameters()) {
    p.tensor.add_(0.1 * at::randn_like(p.tensor));
  }
  model.train(false);
}

TEST(MessagePlan, GivesWhatAutogradGivesInEveryForm) {
  const at::NoGradGuard no_grad;
  for (const auto& [name, options] : covered()) {
    SCOPED_TRACE(name + (options.preset == Preset::et ? ", et" : ", painn"));
    const auto model = built(options, molecules_interface());
    EXPECT_LT(difference(*model, crystals(), everything), 1e-10);
    wear(*model);
    EXPECT_LT(difference(*model, crystals(), everything), 1e-10);
  }
}

TEST(MessagePlan, GivesWhatAutogradGivesOfShippedRecipes) {
  const at::NoGradGuard no_grad;
  for (const char* path : {"/configs/md/et.toml", "/configs/md/painn.toml", "/configs/md17/et.paper.toml"}) {
    SCOPED_TRACE(path);
    at::manual_seed(11);
    const BuildOn wide(at::kCPU, at::kDouble);
    const auto model = std::dynamic_pointer_cast<Geomformer>(
        build(read_recipe(std::string(WEYL_SOURCE_DIR) + path).model, molecules_interface()));
    wear(*model);
    const Points points = crystals();
    EXPECT_LT(difference(*model, points, everything), 1e-10);
    const ForceField of = task();
    const Named exact = of.predict_asked(*model, {points, {}}, everything);
    model->to(at::kFloat);
    const Points rounded = in_float32(points);
    const Named found = of.predict_asked(*model, {rounded, {}}, everything);
    const WithoutBondGradients by_autograd;
    const Named other = of.predict_asked(*model, {rounded, {}}, everything);
    EXPECT_GT(difference(found, exact), 1e-9);  // it was float32
    EXPECT_LT(difference(found, exact), 3 * difference(other, exact) + 1e-6);
  }
}

std::shared_ptr<Geomformer> model_of(Preset preset, const Interface& interface = molecules_interface()) {
  return built(small_preset(preset), interface);
}

TEST(MessagePlan, GivesWhatAutogradGivesOfAtomsThatCount) {
  const at::NoGradGuard no_grad;
  for (const Preset preset : {Preset::et, Preset::painn}) {
    const auto model = model_of(preset);
    Asked asked = everything;
    asked.owned = at::zeros({14}, at::kBool);
    for (const int64_t atom : {0, 2, 5, 6, 10}) {  // none of the last graph, nor the lone atom
      asked.owned[atom].fill_(true);
    }
    EXPECT_LT(difference(*model, crystals(), asked), 1e-10);
    asked.owned = at::ones({13}, at::kBool);
    EXPECT_THROW(task().predict_asked(*model, {crystals(), {}}, asked), ShapeError);
  }
}

TEST(MessagePlan, GivesWhatAutogradGivesOfFeatures) {
  const at::NoGradGuard no_grad;
  Interface interface = featured_interface();
  interface.outputs = molecules_interface().outputs;
  std::erase_if(interface.features, [](const Quantity& q) { return q.kind == Kind::vector; });
  Points points = std::get<Points>(featured_batch({5, 9}).input);
  points.vectors = Tensor();
  for (const Preset preset : {Preset::et, Preset::painn}) {
    EXPECT_LT(difference(*model_of(preset, interface), points, {}), 1e-10);
  }
}

TEST(MessagePlan, GivesWhatAutogradGivesInEveryCorner) {
  const at::NoGradGuard no_grad;
  Tensor coincident = random_positions(4);
  coincident[1].copy_(coincident[0]);
  const double radius = small_preset(Preset::et).cutoff->radius;
  const std::pair<const char*, Points> corners[] = {
      {"nothing", points_at(at::zeros({0, 3}, at::kDouble), {})},
      {"no atoms", points_at(random_positions(3), {0, 3, 0})},
      {"one atom", points_at(random_positions(1), {1})},
      {"coincident", points_at(coincident, {4})},
      {"flat", benzene_points()},
      {"linear", carbonyl_sulphide()}};
  for (const Preset preset : {Preset::et, Preset::painn}) {
    const auto model = model_of(preset);
    for (const auto& [name, points] : corners) {
      SCOPED_TRACE(name);
      EXPECT_LT(difference(*model, points, {.energies = true, .virials = true}), 1e-10);
    }
    for (const double off : {-1e-3, -1e-9, -1e-15, 0.0, 1e-9}) {
      SCOPED_TRACE(off);
      Tensor positions = at::zeros({3, 3}, at::kDouble);
      positions[1][0].fill_(radius + off);
      positions[2][1].fill_(1.1);
      EXPECT_LT(difference(*model, points_at(positions, {3}), {}), 1e-10);
    }
  }
}

TEST(MessagePlan, GivesWhatAutogradGivesByEveryInstructionSet) {
  const at::NoGradGuard no_grad;
  for (const auto set : {kernels::InstructionSet::baseline, kernels::InstructionSet::v3}) {
    const kernels::UseInstructionSet at_most(set);
    for (const Preset preset : {Preset::et, Preset::painn}) {
      const auto model = model_of(preset);
      EXPECT_LT(difference(*model, crystals(), everything), 1e-10);
      model->to(at::kFloat);
      EXPECT_LT(difference(*model, in_float32(crystals()), everything), 1e-4);
    }
  }
}

TEST(MessagePlan, GivesTheSameBitsAloneAndInBatchesAndOnThreads) {
  const at::NoGradGuard no_grad;
  const auto model = model_of(Preset::et);
  const Points points = crystals();
  const ForceField of = task();
  const Named all = of.predict(*model, {points, {}});
  const auto alone = take({points, {}}, std::vector<int64_t>{2}, declared_schema());
  EXPECT_TRUE(at::equal(of.predict(*model, alone).at("forces"), all.at("forces").slice(0, 5, 12)));
  std::vector<Named> found(4);
  std::vector<std::thread> threads;
  for (Named& one : found) {
    threads.emplace_back([&] {
      const at::NoGradGuard here;
      one = of.predict(*model, {points, {}});
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  const ShareAll graphs_among_threads;
  found.push_back(of.predict(*model, {points, {}}));
  for (const Named& one : found) {
    EXPECT_TRUE(at::equal(one.at("energy"), all.at("energy")));
    EXPECT_TRUE(at::equal(one.at("forces"), all.at("forces")));
  }
}

TEST(MessagePlan, KeepsItsWorkspace) {
  const at::NoGradGuard no_grad;
  const auto model = model_of(Preset::et);
  const ForceField of = task();
  std::thread([&] {  // whose workspace is its own
    const at::NoGradGuard here;
    EXPECT_EQ(message_workspace_bytes(), 0);
    const auto after = [&](int64_t atoms) {
      of.predict(*model, {points_at(random_positions(atoms), {atoms}), {}});
      return message_workspace_bytes();
    };
    const int64_t first = after(9);
    EXPECT_GT(first, 0);
    EXPECT_EQ(after(9), first);
    EXPECT_EQ(after(4), first);
    EXPECT_GT(after(20), first);
  })
      .join();
}

TEST(MessagePlan, FollowsItsWeights) {
  const at::NoGradGuard no_grad;
  const auto model = model_of(Preset::painn);
  const ForceField of = task();
  const Batch batch{crystals(), {}};
  const Named before = of.predict(*model, batch);
  for (const Parameter& p : model->parameters()) {
    p.tensor.mul_(1.01);
  }
  model->train(false);
  EXPECT_GT(difference(of.predict(*model, batch), before), 1e-4);
  EXPECT_LT(difference(*model, crystals(), {}), 1e-10);
  // They may change at any moment while they ask for gradients.
  const at::AutoGradMode with_gradients(true);
  EXPECT_FALSE(has_plan(*model));
}

TEST(MessagePlan, CoversNothingElse) {
  const at::NoGradGuard no_grad;
  Points strained = points_at(random_positions(6), {6});
  strained.strains = at::zeros({6, 3, 3}, at::kDouble);
  EXPECT_FALSE(model_of(Preset::et)->bond_gradient(strained, {}).has_value());
  for (const auto& [name, options] : geomformer_variants()) {
    EXPECT_EQ(has_plan(*built(options, molecules_interface())), name == "et" || name == "painn") << name;
  }
  const std::pair<const char*, std::function<void(Options&)>> forms[] = {
      {"sums of pairs", [](auto& o) { o.pair_embedding = true; }},
      {"input", [](auto& o) { o.input = VectorInput::local; }},
      {"norm of vectors", [](auto& o) { o.norm = VectorNormLaw::rms; }},
      {"gated networks", [](auto& o) { o.feed_forward = FeedForward::gated; }}};
  for (const auto& [name, change] : forms) {
    Options o = small_preset(Preset::et);
    change(o);
    EXPECT_FALSE(has_plan(*built(o, molecules_interface()))) << name;
  }
  for (const auto& change : std::vector<std::function<void(Interface&)>>{
           [](auto& i) { i.outputs[0].extensive = false; }, [](auto& i) { i.outputs[0].channels = 2; },
           [](auto& i) { i.outputs[0].level = Level::node; },
           [](auto& i) { i.outputs.push_back({"forces", Level::node, Kind::vector, 1}); },
           [](auto& i) { i.features.push_back({"velocity", Level::node, Kind::vector, 1}); }}) {
    Interface interface = molecules_interface();
    change(interface);
    EXPECT_FALSE(has_plan(*model_of(Preset::et, interface)));
  }
}

TEST(MessagePlan, StandsBackInTrainingAndWithoutKernels) {
  const at::NoGradGuard no_grad;
  const auto model = model_of(Preset::et);
  EXPECT_TRUE(has_plan(*model));
  model->train(true);
  EXPECT_FALSE(has_plan(*model));
  model->train(false);
  {
    const WithoutKernels as_on_another_device;
    EXPECT_FALSE(has_plan(*model));
  }
  {
    const UseReferences plain;
    EXPECT_FALSE(has_plan(*model));
  }
  at::autocast::set_autocast_enabled(at::kCPU, true);
  EXPECT_FALSE(has_plan(*model));
  at::autocast::set_autocast_enabled(at::kCPU, false);
  EXPECT_TRUE(has_plan(*model));
}

TEST(MessagePlan, RefusesWhatTheModelRefuses) {
  const at::NoGradGuard no_grad;
  const auto model = model_of(Preset::et);
  EXPECT_THROW(model->bond_gradient(points_at(random_positions(6), {6}), at::ones({5}, at::kBool)),
               ShapeError);
  Points points = points_at(random_positions(6), {6});
  points.types = Tensor();
  EXPECT_THROW(model->bond_gradient(points, {}), ShapeError);
  points.types = at::full({6}, 4, at::kLong);
  EXPECT_THROW(model->bond_gradient(points, {}), ShapeError);
  points = points_at(random_positions(6), {6});
  points.cell = at::zeros({1, 3, 3}, at::kDouble);
  points.pbc = at::ones({1, 3}, at::kBool);
  EXPECT_THROW(model->bond_gradient(points, {}), ShapeError);
}

}  // namespace message_plan_test
}  // namespace weyl::geomformer
