// Features of pairs, such as bonds: they change the scores, with a cut-off and without, and keep the symmetries.
#include <gtest/gtest.h>

#include "tests/equivariance.h"
#include "tests/models/geomformer/fixtures.h"
#include "weyl/core/check.h"
#include "weyl/models/geomformer/options.h"

namespace weyl::geomformer {
namespace pair_features_test {

struct Paired {
  Interface interface;
  Batch batch;
  Schema schema;
};

/// The featured batch with two numbers a pair.
Paired paired(std::vector<int64_t> sizes) {
  Paired made{featured_interface(), featured_batch(sizes), featured_schema()};
  const Quantity bond{.name = "bond", .level = Level::pair, .channels = 2};
  made.interface.features.push_back(bond);
  made.schema.interface.features.push_back(bond);
  auto& points = std::get<Points>(made.batch.input);
  at::manual_seed(9);
  points.pairs = at::randn({points.graphs.pairs(), 2}, points.positions.options());
  return made;
}

std::vector<Options> forms() {
  std::vector<Options> all(3, small_geomformer());
  all[1].cutoff = CutoffOptions{CutoffLaw::cosine, 2.0, 0};
  all[2].bias = BiasScope::layer;
  return all;
}

TEST(GeomformerPairs, ChangeTheScoresAndKeepTheSymmetries) {
  const Paired given = paired({5, 1, 7});
  for (const Options& options : forms()) {
    const auto model = built(options, given.interface);
    const Named said = (*model)(given.batch.input);
    Paired other = given;
    auto& points = std::get<Points>(other.batch.input);
    points.pairs = -points.pairs;
    EXPECT_GT(equivariance::relative_error((*model)(other.batch.input), said), 1e-4);
    for (const auto& claim : model->symmetry().exact) {
      EXPECT_LT(equivariance::claim_error(*model, claim, given.batch, given.schema), 1e-11) << claim.group;
    }
    // Pairs left behind by nodes that are put in another order are others: the control.
    Stream stream(1, "order");
    const Tensor order = equivariance::random_order(points.graphs, stream);
    Batch moved = permute_nodes(given.batch, order, given.schema);
    std::get<Points>(moved.input).pairs = std::get<Points>(given.batch.input).pairs;
    const Named outputs = permute_nodes(said, model->interface.outputs, order);
    EXPECT_GT(equivariance::relative_error((*model)(moved.input), outputs), 1e-4);
  }
}

TEST(GeomformerPairs, DoNotDependOnTheBatch) {
  const Paired given = paired({5, 1, 7});
  for (const Options& options : forms()) {
    const auto model = built(options, given.interface);
    const Named all = (*model)(given.batch.input);
    const int64_t which[] = {2};
    const Named alone = (*model)(take(given.batch, which, given.schema).input);
    for (const Quantity& q : given.interface.outputs) {
      const Tensor& of_all = all.at(q.name);
      const Tensor part = q.level == Level::graph  ? of_all.slice(0, 2, 3)
                          : q.level == Level::node ? of_all.slice(0, 6, 13)
                                                   : Tensor();
      if (part.defined()) {
        EXPECT_LT((part - alone.at(q.name)).abs().max().item<double>(), 1e-12) << q.name;
      }
    }
  }
}

TEST(GeomformerPairs, AreRefusedWithoutScores) {
  const Paired given = paired({4});
  EXPECT_THROW(built(preset_options(Preset::et), given.interface), ConfigError);
  EXPECT_THROW(built(preset_options(Preset::painn), given.interface), ConfigError);
}

}  // namespace pair_features_test
}  // namespace weyl::geomformer
