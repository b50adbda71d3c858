// The option `nearest` of the systems on points: nodes attend to those near them alone.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tests/data/folder.h"
#include "tests/effects.h"
#include "tests/equivariance.h"
#include "tests/gradients.h"
#include "weyl/core/check.h"
#include "weyl/models/gatr/options.h"
#include "weyl/models/model.h"
#include "weyl/models/platonic/options.h"
#include "weyl/models/systems.h"
#include "weyl/models/transformer/options.h"
#include "weyl/study/samples/random_samples.h"

namespace weyl {
namespace nearest_test {

constexpr const char* systems[] = {"transformer", "gatr", "gatr of many keys", "platonic",
                                   "platonic of one pattern"};

SystemOptions options_of(const std::string& system, int64_t nearest) {
  if (system == "transformer") {
    return transformer::Options{.width = 16, .heads = 2, .blocks = 2, .nearest = nearest};
  }
  if (system.starts_with("gatr")) {
    return gatr::Options{.width = 4,
                         .scalars = 8,
                         .heads = 2,
                         .blocks = 2,
                         .multi_query = system == "gatr",
                         .nearest = nearest};
  }
  platonic::Options o{.width = 48, .heads = 24, .blocks = 2, .nearest = nearest};
  o.position_vector = platonic::PositionVector::on;
  if (system != "platonic") {
    o.scores = platonic::Scores::invariant;
  }
  return o;
}

Schema clouds() {
  Schema schema;
  schema.interface.typical_nodes = 8;
  schema.interface.features = {{"mass"}, {"velocity", Level::node, Kind::vector}};
  return schema;
}

Interface told(Level level) {
  Interface interface = clouds().interface;
  interface.outputs = {{"heat", level, Kind::scalar, 2}, {"push", level, Kind::vector}};
  return interface;
}

std::shared_ptr<Model> made(const std::string& system, int64_t nearest, Level level = Level::node) {
  const BuildOn wide(at::kCPU, at::kDouble);
  at::manual_seed(5);
  const std::shared_ptr<Model> model = build({options_of(system, nearest)}, told(level));
  wear(*model);
  model->train(false);
  return model;
}

/// Clouds of 12 and 5 nodes, and one of a single node; or the same on a lattice, with many equal distances.
Batch batch_of(bool lattice) {
  at::manual_seed(4);
  Points p;
  p.graphs = Segments::of_sizes(std::vector<int64_t>{12, 5, 1});
  p.positions = at::randn({18, 3}, at::kDouble);
  if (lattice) {
    const Tensor n = at::arange(18, at::kDouble);
    p.positions = at::stack({n.remainder(2), at::floor(n / 2).remainder(3), at::floor(n / 6)}, 1);
  }
  p.scalars = at::randn({18, 1}, at::kDouble);
  p.vectors = at::randn({18, 1, 3}, at::kDouble);
  return {p, {}};
}

double distance(const Named& a, const Named& b) {
  return equivariance::relative_error(a, b);
}

TEST(Nearest, WithAsManyAsThereAreNodesIsAttentionToAll) {
  const Batch batch = batch_of(false);
  for (const char* system : systems) {
    const Named all = (*made(system, 0))(batch.input);
    EXPECT_LT(distance((*made(system, 11))(batch.input), all), 1e-12) << system;
    EXPECT_GT(distance((*made(system, 3))(batch.input), all), 1e-3) << system;  // the control
  }
}

/// Of two groups of nodes far from one another, what one is given is not seen by the other.
TEST(Nearest, LooksNoFartherThanTheNearest) {
  Batch batch = batch_of(false);
  Points& p = std::get<Points>(batch.input);
  p.graphs = Segments::of_sizes(std::vector<int64_t>{18});
  p.positions.narrow(0, 9, 9) += 50;
  Points other = p;
  other.scalars = p.scalars.clone();
  other.scalars.narrow(0, 9, 9) += 1;
  const auto first = [](const Named& y) { return Named{{"heat", y.at("heat").narrow(0, 0, 9)}}; };
  for (const char* system : systems) {
    const auto near = made(system, 3), all = made(system, 0);
    EXPECT_LT(distance(first((*near)(other)), first((*near)(p))), 1e-12) << system;
    EXPECT_GT(distance((*near)(other), (*near)(p)), 1e-3) << system;  // they do read it
    if (!std::string(system).starts_with("gatr")) {  // whose scores fall with the square of the distance
      EXPECT_GT(distance(first((*all)(other)), first((*all)(p))), 1e-6) << system;
    }
  }
}

TEST(Nearest, KeepsEveryClaimOfTheSystem) {
  for (const bool lattice : {false, true}) {
    for (const Level level : {Level::node, Level::graph}) {
      for (const char* system : systems) {
        SCOPED_TRACE(text(system, lattice ? " on a lattice" : ""));
        const auto model = made(system, 4, level);
        bool permutations = false;
        for (const Claim& claim : model->symmetry().exact) {
          permutations = permutations || claim.of == Claim::Of::permutations;
        }
        EXPECT_TRUE(permutations);
        for (const Claim& claim : model->symmetry().exact) {
          EXPECT_LT(equivariance::claim_error(*model, claim, batch_of(lattice), clouds()), 1e-11)
              << claim.group;
        }
      }
    }
  }
}

TEST(Nearest, DerivativesByPositionsAreRight) {
  const Points p = std::get<Points>(batch_of(false).input);
  for (const char* system : systems) {
    const auto model = made(system, 3, Level::graph);
    const auto of = [&](const std::vector<Tensor>& x) {
      Points moved = p;
      moved.positions = x[0];
      return (*model)(moved).at("heat");
    };
    expect_second_gradients(of, {p.positions}, {.step = 1e-5, .relative = 1e-4, .samples = 8});
  }
}

TEST(Nearest, CountsTheOperationsOfTheNodesThatAreSeen) {
  for (const char* system : {"transformer", "gatr", "platonic"}) {
    const auto work = [&](double nodes, int64_t nearest) {
      Interface interface = told(Level::node);
      interface.typical_nodes = nodes;
      return build({options_of(system, nearest)}, interface)->work_of_token();
    };
    EXPECT_EQ(work(1000, 7).forward, work(8, 0).forward) << system;
    EXPECT_EQ(work(5, 7).forward, work(5, 0).forward) << system;
    EXPECT_GT(work(1000, 0).forward, 2 * work(1000, 7).forward) << system;
  }
}

TEST(Nearest, IsRefusedWhereNothingWouldReadIt) {
  const auto refusal = [](const SystemOptions& options) {
    return message_of<ConfigError>([&] {
      options.require_effects(nullptr);
      build({options}, told(Level::node));
    });
  };
  EXPECT_EQ(refusal(transformer::Options{.attention = AttentionScope::hierarchical, .nearest = 4}),
            "model.transformer.nearest: must be 0 with attention = \"hierarchical\", got 4");
  EXPECT_EQ(refusal(gatr::Options{.attention = AttentionScope::hierarchical, .nearest = 4}),
            "model.gatr.nearest: must be 0 with attention = \"hierarchical\", got 4");
  EXPECT_EQ(refusal(gatr::Options{.axial = true, .nearest = 4}),
            "model.gatr.nearest: must be 0 with axial, got 4");
  platonic::Options linear{.nearest = 4}, dropped{.nearest = 4};
  linear.attention = platonic::AttentionLaw::linear;
  dropped.attention_dropout = 0.1;
  EXPECT_EQ(refusal(linear), "model.platonic.nearest: must be 0 with attention = \"linear\", got 4");
  EXPECT_EQ(refusal(dropped), "model.platonic.nearest: must be 0 with attention_dropout, got 4");
  Batch batch = batch_of(false);
  std::get<Points>(batch.input).placed = false;
  EXPECT_EQ(message_of<DataError>([&] { (*made("platonic", 3))(batch.input); }),
            "model.platonic.nearest: must be 0 for an input without positions, got 3");
}

TEST(Nearest, SaysThatEnergiesJump) {
  for (const char* system : {"transformer", "gatr", "platonic"}) {
    EXPECT_TRUE(made(system, 3)->warnings("").empty());
    EXPECT_TRUE(made(system, 0)->warnings("task.force_field.forces").empty());
    const auto warnings = made(system, 3)->warnings("task.force_field.forces");
    ASSERT_EQ(warnings.size(), 1U);
    EXPECT_EQ(warnings[0].find(text("model.", system, ".nearest = 3: what is differentiated jumps")), 0U);
  }
}

}  // namespace nearest_test
}  // namespace weyl
