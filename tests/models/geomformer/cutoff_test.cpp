// Cut-offs of GeoMFormer, ET and PaiNN: nothing steps where an atom leaves, distant parts add up, and cells,
// also smaller than the cut-off: their slopes, their multiples, and how they turn.
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include "tests/equivariance.h"
#include "tests/models/geomformer/potentials.h"

namespace weyl::geomformer {
namespace cutoff_test {

using equivariance::claim_error;
using equivariance::relative_error;

/// (1, 3, 3), triclinic, edges near 3.
Tensor small_cell() {
  return at::tensor({3.1, 0.2, 0.0, -0.8, 2.9, 0.3, 0.4, 0.5, 3.4}, at::kDouble).view({1, 3, 3});
}

TEST(GeomformerCutoff, ForcesOfCellsAreDerivativesToo) {
  for (const auto& [name, options] : gradient_models()) {
    if (!options.cutoff) {
      continue;
    }
    SCOPED_TRACE(name);
    const auto model = built(options, molecules_interface());
    Points points = points_at(random_positions(3, 4, 1.0), {3});
    points.cell = small_cell();
    points.pbc = at::ones({1, 3}, at::kBool);
    const Expression of_both = [&](const std::vector<Tensor>& in) {
      return energy_of(*model, points, in[0], in[1]);
    };
    expect_second_gradients(of_both, {points.positions, points.cell}, forces_check);
    EXPECT_LT(forces(*model, points).sum(0).abs().max().item<double>(), 1e-12);
  }
}

TEST(GeomformerCutoff, TwoCellsHaveTwiceTheEnergy) {
  for (const auto& [name, options] : geomformer_variants()) {
    const auto model = built(options, molecules_interface());
    if (!model->periodic()) {
      continue;
    }
    SCOPED_TRACE(name);
    Points one = points_at(random_positions(4, 6, 1.0), {4});
    one.cell = 1.3 * small_cell();
    one.pbc = at::ones({1, 3}, at::kBool);
    const double single = energy_of(*model, one, one.positions).item<double>();
    const double tolerance = 1e-12 * std::abs(single) + 1e-12;
    for (int64_t axis = 0; axis < 3; ++axis) {
      Points two = points_at(at::cat({one.positions, one.positions + one.cell[0][axis]}), {8});
      two.types = one.types.repeat({2});
      two.cell = one.cell.clone();
      two.cell[0][axis].mul_(2);
      two.pbc = one.pbc;
      EXPECT_NEAR(energy_of(*model, two, two.positions).item<double>(), 2 * single, tolerance) << axis;
    }
    // And wrapping an atom to another image changes nothing.
    const Tensor wrapped = one.positions.clone();
    wrapped[1].add_(one.cell[0][0] - 2 * one.cell[0][2]);
    EXPECT_NEAR(energy_of(*model, one, wrapped).item<double>(), single, tolerance);
  }
}

/// A cell smaller than the cut-off, one larger than it, and a slab.
Batch cells() {
  Points p = points_at(random_positions(9, 4, 1.0), {3, 4, 2});
  const Tensor large = at::tensor({7.2, 0.4, -0.6, 1.1, 6.5, 0.3, -0.9, 0.8, 8.1}, at::kDouble),
               slab = at::tensor({4.2, 0.5, 0.0, -0.6, 3.8, 0.2, 0.0, 0.0, 0.0}, at::kDouble);
  p.cell = at::cat({small_cell(), large.view({1, 3, 3}), slab.view({1, 3, 3})});
  p.pbc = at::ones({3, 3}, at::kBool);
  p.pbc[2][2].fill_(false);
  return {p, {}};
}

// The model of one cell is told by distances between atoms and images, so all turn together or not at all.
TEST(GeomformerCutoff, EnergiesStayAndForcesTurnWithTheCell) {
  const Batch batch = cells();
  const Schema schema = declared_schema();
  Stream stream(3, "cells");
  const Motions motions = random_rotations(batch.count(), 3, true, stream);
  for (const auto& [name, options] : gradient_models()) {
    if (!options.cutoff) {
      continue;
    }
    SCOPED_TRACE(name);
    Potential potential(options);
    const Named right = transform(potential(batch.input), potential.interface.outputs, motions, batch.input);
    Batch turned = transform(batch, motions, schema);
    EXPECT_LT(relative_error(potential(turned.input), right), 1e-11);
    std::get<Points>(turned.input).cell = std::get<Points>(batch.input).cell;
    const Named wrong = potential(turned.input);
    for (const char* output : {"energy", "forces"}) {
      EXPECT_GT(relative_error({{output, wrong.at(output)}}, {{output, right.at(output)}}), 1e-3)
          << output << ": blind to the cell";
    }
    // In float32 a moved place is rounded before the steep functions of distances see it.
    for (const auto dtype : {at::kDouble, at::kFloat}) {
      potential.to(dtype);
      for (const Claim& claim : potential.symmetry().exact) {
        EXPECT_LT(claim_error(potential, claim, batch, schema), dtype == at::kDouble ? 1e-11 : 5e-5)
            << claim.group;
      }
    }
  }
}

// Energies of parts that are no neighbours add up, forces stay. A centroid, or attention to all, ties
// them together at any distance.
TEST(GeomformerCutoff, DistantPartsAddUp) {
  const Points a = points_at(random_positions(4, 1), {4});
  Points b = points_at(random_positions(3, 2), {3});
  b.positions.select(1, 0).add_(40);
  const Points both = points_at(at::cat({a.positions, b.positions}), {7});
  ASSERT_TRUE(at::equal(both.types, at::cat({a.types, b.types})));
  for (const auto& [name, options] : geomformer_variants()) {
    SCOPED_TRACE(name);
    Potential potential(options);
    const Named of_a = potential(a), of_b = potential(b), of_both = potential(both);
    const Named sum{{"energy", of_a.at("energy") + of_b.at("energy")},
                    {"forces", at::cat({of_a.at("forces"), of_b.at("forces")})}};
    const double off = relative_error(of_both, sum);
    if (options.cutoff && !uses_centroid(options.input)) {
      EXPECT_LT(off, 1e-11);
    } else {
      EXPECT_GT(off, 1e-4);
    }
  }
}

// An atom that leaves through the cut-off takes no step in the energy, nor in the force.
TEST(GeomformerCutoff, NothingStepsWhereAnAtomLeaves) {
  for (const auto& [name, options] : geomformer_variants()) {
    if (!options.cutoff) {
      continue;
    }
    SCOPED_TRACE(name);
    const auto model = built(options, molecules_interface());
    const double radius = options.cutoff->radius;
    const auto at_distance = [&](double d) {
      Points p = points_at(random_positions(4, 9, 0.4), {4});
      p.positions[3].copy_(p.positions[0]);
      p.positions[3][0] += d;
      // The others keep away: only the first atom has the fourth as neighbour, from the left.
      p.positions[1][0] -= 2;
      p.positions[2][0] -= 2;
      return p;
    };
    const auto value = [&](double d) {
      const Points p = at_distance(d);
      return energy_of(*model, p, p.positions).item<double>();
    };
    const double h = 1e-6;
    const Tensor before = forces(*model, at_distance(radius - h)),
                 behind = forces(*model, at_distance(radius + h));
    // Beyond the cut-off only a centroid pulls.
    const double pull = behind[3][0].item<double>();
    if (!uses_centroid(options.input)) {
      EXPECT_EQ(behind[3].abs().max().item<double>(), 0);
    }
    EXPECT_NEAR(value(radius - h) - value(radius + h), 2 * h * pull, 1e-10);
    EXPECT_LT((before - behind).abs().max().item<double>(), 1e-5);
    EXPECT_GT(std::abs(value(radius - 1) - value(radius + h)), 1e-6) << "no neighbour has an effect";
  }
}

// ET without vector_cutoff jumps: what the option is for.
TEST(GeomformerCutoff, WithoutItsVectorCutoffEtJumps) {
  Options o = small_preset(Preset::et);
  o.vector_cutoff = false;
  const auto model = built(o, molecules_interface());
  {
    const at::NoGradGuard quiet;
    for (const auto& p : model->parameters()) {
      if (p.name.ends_with("dv_proj.bias")) {
        p.tensor.fill_(0.7);
      }
    }
  }
  const auto value = [&](double d) {
    Points p = points_at(random_positions(3, 9, 0.4), {3});
    p.positions[2].copy_(p.positions[0]);
    p.positions[2][0] += d;
    p.positions[1][0] -= 2;
    return energy_of(*model, p, p.positions).item<double>();
  };
  EXPECT_GT(std::abs(value(5 - 1e-7) - value(5 + 1e-7)), 1e-6);
}

}  // namespace cutoff_test
}  // namespace weyl::geomformer
