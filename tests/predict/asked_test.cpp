// What a potential says of single atoms: their energies and virials, and energies of a domain and its ghosts.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "tests/data/folder.h"
#include "tests/predict/potentials.h"
#include "weyl/core/check.h"
#include "weyl/saved/atoms.h"

namespace weyl {
namespace asked_test {

constexpr const char* with_cutoff[] = {"painn", "et", "geomformer"};

double largest(const Tensor& x) {
  return x.abs().max().item<double>();
}

/// Atoms on a disturbed lattice in a skew cell, two types.
Points crystal(int64_t edge, double apart) {
  Points p;
  at::manual_seed(5);
  std::vector<double> places;
  std::vector<int64_t> types;
  for (int64_t i = 0; i < edge * edge * edge; ++i) {
    for (const int64_t k : {i / (edge * edge), i / edge % edge, i % edge}) {
      places.push_back(static_cast<double>(k) * apart);
    }
    types.push_back(i % 2);
  }
  const auto count = static_cast<int64_t>(types.size());
  p.graphs = Segments::of_sizes({{count}});
  p.positions = at::tensor(places, at::kDouble).view({count, 3}) + 0.2 * at::randn({count, 3}, at::kDouble);
  p.types = at::tensor(types, at::kLong);
  const double length = static_cast<double>(edge) * apart;
  p.cell = at::tensor({length, 0.0, 0.0, 0.3 * length, length, 0.0, 0.1 * length, -0.2 * length, length},
                      at::kDouble)
               .view({1, 3, 3});
  p.positions = at::matmul(p.positions / length, p.cell[0]);
  p.pbc = at::ones({1, 3}, at::kBool);
  return p;
}

TEST(EnergiesOfAtoms, AddUpToTheEnergyWhateverTheSystem) {
  const auto data = set();
  const Input input = all_of(*data).input;
  const Points& points = std::get<Points>(input);
  for (const char* system : {"painn", "et", "geomformer", "platonic", "transformer", "gatr"}) {
    const Predictor predictor(potential(system, *data));
    const Named plain = predictor(input), asked = predictor(input, {.energies = true});
    EXPECT_TRUE(at::equal(plain.at("energy"), asked.at("energy"))) << system;
    EXPECT_TRUE(at::equal(plain.at("forces"), asked.at("forces"))) << system;
    const Tensor sums =
        at::zeros({4, 1}, at::kDouble).index_add(0, points.graphs.index, asked.at("energies"));
    EXPECT_LT(largest(sums - plain.at("energy")), 1e-9) << system;
    EXPECT_EQ(predictor.outputs({.energies = true}).back().name, "energies");
  }
}

// The energy of one half and that of the other are the energy, and so are their forces.
TEST(EnergiesOfAtoms, OfOwnedAtomsAreOfTheirDomain) {
  const auto data = set();
  const Input input = all_of(*data).input;
  for (const char* system : {"painn", "transformer"}) {
    const Predictor predictor(potential(system, *data));
    const Tensor half = at::arange(13).remainder(2).eq(0);
    const Named all = predictor(input), one = predictor(input, {.owned = half}),
                other = predictor(input, {.owned = half.logical_not()});
    EXPECT_LT(largest(one.at("energy") + other.at("energy") - all.at("energy")), 1e-9) << system;
    EXPECT_LT(largest(one.at("forces") + other.at("forces") - all.at("forces")), 1e-10) << system;
    EXPECT_GT(largest(one.at("forces") - all.at("forces")), 1e-3) << system;
    EXPECT_THROW(predictor(input, {.owned = half.narrow(0, 0, 12)}), ShapeError);
  }
  // Forces that are no derivatives are the owner's own to say.
  const Predictor direct(potential("et", *data, {.forces = ForceSource::direct}));
  const Tensor half = at::arange(13).remainder(2).eq(0);
  const Named all = direct(input), one = direct(input, {.energies = true, .owned = half});
  EXPECT_TRUE(at::equal(one.at("forces")[0], all.at("forces")[0]));
  for (const char* name : {"forces", "energies"}) {
    EXPECT_EQ(largest(one.at(name).index({half.logical_not()})), 0) << name;
    EXPECT_GT(largest(one.at(name)), 1e-3) << name;
  }
}

TEST(VirialsOfAtoms, AddUpToTheStressAndAreWhatStrainingTheirEdgesCosts) {
  const auto data = set();
  const Points points = crystal(3, 2.1);
  for (const char* system : with_cutoff) {
    const Predictor predictor(potential(system, *data));
    const Named said = predictor(points, {.stress = true, .virials = true});
    const Tensor virials = said.at("virials");
    ASSERT_EQ(virials.sizes(), (std::vector<int64_t>{27, 1, 3, 3}));
    const Tensor expected = -said.at("stress")[0][0] * cell_volumes(points)[0];
    EXPECT_LT(largest(virials.sum(0)[0] - expected), 1e-9 * largest(expected)) << system;
    EXPECT_TRUE(at::equal(said.at("forces"), predictor(points).at("forces"))) << system;

    // By differences, of a strain of one atom's edges.
    Model& model = predictor.model();
    const auto energy_with = [&](int64_t atom, int64_t i, int64_t j, double size) {
      Points strained = points;
      strained.strains = at::zeros({27, 3, 3}, at::kDouble);
      strained.strains[atom][i][j] += 0.5 * size;
      strained.strains[atom][j][i] += 0.5 * size;
      return model(strained).at("energy").item<double>();
    };
    const double scale = predictor.task()->state().at("scale").item<double>();
    for (const auto [atom, i, j] : {std::array<int64_t, 3>{4, 0, 0}, {17, 1, 2}, {26, 0, 1}}) {
      constexpr double h = 1e-5;
      const double slope = scale * (energy_with(atom, i, j, h) - energy_with(atom, i, j, -h)) / (2 * h);
      EXPECT_NEAR(virials[atom][0][i][j].item<double>(), -slope, 1e-6 * largest(virials)) << system;
    }
  }
}

TEST(Reach, IsHowFarAnAtomCanBeSeen) {
  const auto data = set();
  // A chain: the derivative of the first atom's energy by the places of the others ends at the reach.
  Points chain;
  constexpr int64_t atoms = 40;
  chain.graphs = Segments::of_sizes({{atoms}});
  chain.positions = at::zeros({atoms, 3}, at::kDouble);
  chain.positions.select(1, 0).copy_(at::arange(atoms, at::kDouble) * 0.9);
  chain.positions.select(1, 1).copy_(0.1 * at::cos(at::arange(atoms, at::kDouble)));
  chain.types = at::arange(atoms).remainder(3);
  Tensor first = at::zeros({atoms}, at::kBool);
  first[0].fill_(true);
  for (const bool sequential : {false, true}) {
    for (const char* system : with_cutoff) {
      if (sequential && std::string(system) != "geomformer") {
        continue;
      }
      SavedModel saved = potential(system, *data);
      if (sequential) {
        saved.recipe.model.system.get_if<geomformer::Options>()->order = geomformer::Order::sequential;
        const BuildOn wide(at::kCPU, at::kDouble);
        saved.model = build(saved.recipe.model, saved.task->interface(data->schema()));
      }
      const Predictor predictor(std::move(saved));
      ASSERT_TRUE(predictor.model().reach()) << system;
      const double reach = *predictor.model().reach();
      const Tensor forces = predictor(chain, {.owned = first}).at("forces").select(1, 0);
      double farthest = 0;
      for (int64_t i = 0; i < atoms; ++i) {
        const double apart = (chain.positions[i] - chain.positions[0]).norm().item<double>();
        farthest = largest(forces[i]) > 0 ? std::max(farthest, apart) : farthest;
      }
      EXPECT_LE(farthest, reach) << system << " sequential " << sequential;
      EXPECT_GT(farthest, 0.8 * reach) << system << " sequential " << sequential;
    }
  }
  for (const char* system : {"platonic", "transformer", "gatr"}) {
    EXPECT_FALSE(Predictor(potential(system, *data)).model().reach()) << system;
  }
}

/// The atoms of a crystal in a box around it, with the images that are within `reach` of one; first those of the cell.
Points with_ghosts(const Points& whole, double reach, Tensor& owned, std::vector<int64_t>& parents) {
  const int64_t own = whole.nodes();
  std::vector<Tensor> places{whole.positions};
  for (int64_t i = 0; i < own; ++i) {
    parents.push_back(i);
  }
  constexpr int64_t images = 6;
  for (int64_t a = -images; a <= images; ++a) {
    for (int64_t b = -images; b <= images; ++b) {
      for (int64_t c = -images; c <= images; ++c) {
        if (a == 0 && b == 0 && c == 0) {
          continue;
        }
        const Tensor shift = at::matmul(at::tensor({a, b, c}, at::kDouble), whole.cell[0]);
        const Tensor there = whole.positions + shift;
        const Tensor near = at::cdist(there, whole.positions).amin(1).lt(reach);
        for (int64_t i = 0; i < own; ++i) {
          if (near[i].item<bool>()) {
            places.push_back(there.narrow(0, i, 1));
            parents.push_back(i);
          }
        }
      }
    }
  }
  Points cluster;
  cluster.positions = at::cat(places);
  cluster.graphs = Segments::of_sizes({{cluster.positions.size(0)}});
  cluster.types = whole.types.index_select(0, at::tensor(parents, at::kLong));
  owned = at::arange(cluster.positions.size(0)).lt(own);
  return cluster;
}

TEST(Clusters, OfOwnAtomsAndGhostsAreTheWholeCell) {
  const auto data = set();
  const Points whole = crystal(2, 2.4);
  for (const char* system : with_cutoff) {
    const Predictor predictor(potential(system, *data));
    Tensor owned;
    std::vector<int64_t> parents;
    const Points cluster = with_ghosts(whole, *predictor.model().reach(), owned, parents);
    const Named here = predictor(whole, {.energies = true}),
                there = predictor(cluster, {.energies = true, .owned = owned});
    EXPECT_LT(largest(here.at("energy") - there.at("energy")), 1e-8) << system;
    EXPECT_LT(largest(here.at("energies") - there.at("energies").narrow(0, 0, 8)), 1e-8) << system;
    const Tensor folded =
        at::zeros({8, 1, 3}, at::kDouble).index_add(0, at::tensor(parents, at::kLong), there.at("forces"));
    EXPECT_LT(largest(here.at("forces") - folded), 1e-8) << system;
    // Fewer ghosts are too few.
    std::vector<int64_t> fewer_parents;
    const Points fewer = with_ghosts(whole, 0.5 * *predictor.model().reach(), owned, fewer_parents);
    EXPECT_GT(largest(here.at("energy") - predictor(fewer, {.owned = owned}).at("energy")), 1e-8) << system;
  }
}

std::string refusal(const Predictor& predictor, const Input& input, const Asked& asked) {
  return message_of<ConfigError>([&] { predictor(input, asked); });
}

TEST(Asked, WhatAModelCannotSayIsRefused) {
  const auto data = set();
  const Input input = all_of(*data).input;
  EXPECT_EQ(refusal(Predictor(potential("transformer", *data)), input, {.virials = true}),
            "model input: strains of single nodes need a model whose nodes see no farther than a cut-off");
  EXPECT_EQ(refusal(Predictor(potential("painn", *data, {.forces = ForceSource::direct})), input,
                    {.virials = true}),
            "force_field: virials of atoms need forces that are gradients of the energy");
  EXPECT_TRUE(refusal(Predictor(potential("painn", *data, {.pooled = true})), input, {.energies = true})
                  .starts_with("force_field: energies of atoms need an energy that is their sum"));
}

}  // namespace asked_test
}  // namespace weyl
