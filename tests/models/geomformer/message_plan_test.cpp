// Energies and derivatives by hand against those by autograd.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>

#include "tests/models/geomformer/fixtures.h"
#include "weyl/core/worst_of.h"
#include "weyl/kernels/dispatch.h"
#include "weyl/models/geomformer/message_plan.h"
#include "weyl/ops/edges/bond_gradient.h"
#include "weyl/tasks/force_field.h"

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
  EXPECT_EQ(nets_run, points.count() > 0 ? points.count() : 0);
  const WithoutBondGradients by_autograd;
  const Named right = of.predict_asked(model, batch, asked);
  EXPECT_EQ(nets_run, points.count() > 0 ? points.count() : 0);
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

TEST(MessagePlan, GivesWhatAutogradGivesInEveryForm) {
  for (const auto& [name, options] : covered()) {
    SCOPED_TRACE(name + (options.preset == Preset::et ? ", et" : ", painn"));
    const auto model = built(options, molecules_interface());
    EXPECT_LT(difference(*model, crystals(), everything), 1e-10);
  }
}

}  // namespace message_plan_test
}  // namespace weyl::geomformer
