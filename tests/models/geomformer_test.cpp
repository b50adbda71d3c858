// The symmetry of GeoMFormer, ET and PaiNN in every form of their options, raggedness, and what options
// exclude.
#include <gtest/gtest.h>

#include "tests/equivariance.h"
#include "tests/models/geomformer_fixtures.h"
#include "weyl/core/check.h"
#include "weyl/models/systems.h"

namespace weyl {
namespace {

using equivariance::claim_error;
using equivariance::motion_error;

/// x -> diag(1, 1, 2) x, which is no rotation.
Motions stretches(int64_t graphs) {
  return {at::diag(at::tensor({1.0, 1.0, 2.0}, at::kDouble)).repeat({graphs, 1, 1}), {}};
}

void expect_symmetric(Model& model, const Batch& batch, const Schema& schema) {
  EXPECT_GT(motion_error(model, batch, schema, stretches(batch.count())), 1e-4) << "blind to a stretch";
  for (const auto dtype : {at::kDouble, at::kFloat}) {
    model.to(dtype);
    for (const auto& claim : model.symmetry().exact) {
      EXPECT_LT(claim_error(model, claim, batch, schema), dtype == at::kDouble ? 1e-11 : 1e-5) << claim.group;
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

TEST(Geomformer, IsEquivariantWithTowersAndRounds) {
  const Batch batch = featured_batch({5, 4});
  GeomformerOptions towers = small_geomformer();
  towers.velocity_tower = true;
  expect_symmetric(*built(towers, featured_interface()), batch, featured_schema());
  GeomformerOptions rounds = small_geomformer();
  rounds.rounds = 3;
  const auto model = built(rounds, featured_interface());
  expect_symmetric(*model, batch, featured_schema());
  const Named once = built(small_geomformer(), featured_interface())->operator()(batch.input);
  EXPECT_GT(equivariance::relative_error(built(rounds, featured_interface())->operator()(batch.input), once),
            1e-3);
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

// Every part is wired in: leaving it out changes the outputs.
TEST(Geomformer, EveryPartCounts) {
  const Batch batch = featured_batch({5, 4});
  using Part = bool GeomParts::*;
  const std::pair<const char*, Part> parts[] = {
      {"inv_self", &GeomParts::inv_self}, {"inv_cross", &GeomParts::inv_cross},
      {"equ_self", &GeomParts::equ_self}, {"equ_cross", &GeomParts::equ_cross},
      {"inv_ffn", &GeomParts::inv_ffn},   {"equ_ffn", &GeomParts::equ_ffn},
      {"inv_norm", &GeomParts::inv_norm}, {"equ_norm", &GeomParts::equ_norm}};
  const auto whole = built(small_geomformer(), featured_interface());
  for (const auto& [name, part] : parts) {
    GeomformerOptions o = small_geomformer();
    o.parts.*part = false;
    const auto model = built(o, featured_interface());
    EXPECT_LT(model->parameter_count(), whole->parameter_count()) << name;
    expect_symmetric(*model, batch, featured_schema());
  }
}

// 25 d^2 a block with r = d, as published for 8 blocks of 512 (52.4 million), plus what norms and the ends
// have.
TEST(Geomformer, CountsThePapersMatrices) {
  GeomformerOptions one = small_geomformer(), two = small_geomformer();
  one.blocks = 1;
  const int64_t d = one.width;
  const int64_t block = built(two, molecules_interface())->parameter_count() -
                        built(one, molecules_interface())->parameter_count();
  const int64_t norms = 2 * 2 * d + 2 * d;
  EXPECT_EQ(block, 25 * d * d + norms);
}

TEST(Geomformer, CellsNeedACutoff) {
  Batch batch = featured_batch({5});
  auto& points = std::get<Points>(batch.input);
  points.cell = 9 * at::eye(3, at::kDouble).unsqueeze(0);
  points.pbc = at::ones({1, 3}, at::kBool);
  EXPECT_THROW((*built(small_geomformer(), featured_interface()))(batch.input), ConfigError);
  const auto et = built(small_preset(GeomformerPreset::et), featured_interface());
  EXPECT_NO_THROW((*et)(batch.input));
  points.pbc = Tensor();
  EXPECT_THROW((*et)(batch.input), ShapeError);
}

TEST(Geomformer, RefusesWhatItCannotDo) {
  const auto refuses = [](const std::function<void(GeomformerOptions&)>& change) {
    GeomformerOptions o = small_geomformer();
    change(o);
    EXPECT_THROW(built(o, featured_interface()), ConfigError);
  };
  refuses([](auto& o) { o.heads = 3; });
  refuses([](auto& o) { o.interaction = GeomInteraction::messages; });
  refuses([](auto& o) { o.basis = GeomBasis::bessel; });
  refuses([](auto& o) {
    o.shared_query = true;
    o.parts.inv_self = false;
  });
  refuses([](auto& o) { o.cutoff = CutoffOptions{CutoffLaw::cosine, 2, 3}; });
  Interface odd = featured_interface();
  odd.outputs.push_back({"handed", Level::graph, Kind::pseudoscalar, 1});
  EXPECT_THROW(built(small_geomformer(), odd), ConfigError);
  Interface flat = featured_interface();
  flat.dimension = 2;
  EXPECT_THROW(built(small_geomformer(), flat), ConfigError);
}

TEST(Geomformer, DropoutActsInTrainingAlone) {
  GeomformerOptions o = small_geomformer();
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

}  // namespace
}  // namespace weyl
