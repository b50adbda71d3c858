// Forces and second derivatives of GeoMFormer, ET and PaiNN in every form of their options and where formulas
// break: flat, linear, single and coincident atoms; the norms' table. (Cells and cut-offs:
// cutoff_test.cpp.)
#include <ATen/autocast_mode.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>

#include "tests/models/geomformer/potentials.h"

namespace weyl::geomformer {
namespace forces_test {

// Carbon dioxide's carbon has vectors of zero by symmetry, where the lengths that ET and PaiNN read have a
// kink, rounded off over 1e-8 and 1e-4: their second derivatives are those of a linear molecule without.
TEST(GeomformerForces, AreDerivativesForEveryShape) {
  auto models = gradient_models();
  Options whiten = small_geomformer();
  whiten.norm = VectorNormLaw::whiten;
  models.emplace_back("whiten", whiten);
  GradientCheck fine = forces_check;  // of short vectors of ET on the ring, whose lengths bend within 1e-3
  fine.step = 2e-7;
  for (const auto& [name, options] : models) {
    SCOPED_TRACE(name);
    const auto model = built(options, molecules_interface());
    expect_second_gradients(energy(*model, points_at(random_positions(6), {6})), {random_positions(6)},
                            forces_check);
    expect_second_gradients(energy(*model, benzene_points()), {benzene()}, fine);
    const Points straight = carbon_dioxide(), uneven = carbonyl_sulphide();
    expect_second_gradients(energy(*model, uneven), {uneven.positions}, forces_check);
    if (name == "et" || name == "painn") {
      expect_gradients(energy(*model, straight), {straight.positions}, forces_check);
    } else {
      expect_second_gradients(energy(*model, straight), {straight.positions}, forces_check);
    }
  }
}

TEST(GeomformerForces, AreDerivativesInEveryForm) {
  const Points points = points_at(random_positions(6), {4, 2});
  GradientCheck few = forces_check;
  few.samples = 4;  // a stride of 4
  for (const auto& [name, options] : geomformer_variants()) {
    SCOPED_TRACE(name);
    const auto model = built(options, molecules_interface());
    EXPECT_GT(forces(*model, points).abs().max().item<double>(), 1e-4);
    expect_second_gradients(energy(*model, points), {points.positions}, few);
  }
}

/// On the CPU here, by the same rules as on CUDA, where training in bf16 runs under it.
TEST(GeomformerForces, AreNearlyThoseOfFloat32UnderAutocast) {
  for (const auto& [name, options] : gradient_models()) {
    SCOPED_TRACE(name);
    const auto model = built(options, molecules_interface());
    model->to(at::kFloat);
    Points points = points_at(random_positions(6), {6});
    points.positions = points.positions.to(at::kFloat);
    const Tensor whole = forces(*model, points);
    at::autocast::set_autocast_dtype(at::kCPU, at::kBFloat16);
    at::autocast::set_autocast_enabled(at::kCPU, true);
    Tensor mixed;
    EXPECT_NO_THROW(mixed = forces(*model, points));
    at::autocast::set_autocast_enabled(at::kCPU, false);
    at::autocast::clear_cache();
    ASSERT_TRUE(mixed.defined());
    EXPECT_FALSE(at::equal(mixed, whole));  // bf16 it was
    EXPECT_LT((mixed - whole).abs().max().item<double>(), 0.05 * whole.abs().max().item<double>());
  }
}

/// In evaluation edges are worked in blocks, and again in the backward pass; in training all at once.
TEST(GeomformerForces, OfManyEdgesAreTheSameInBlocks) {
  constexpr int64_t atoms = 1300;
  Options attention = small_geomformer(), local;
  attention.cutoff = CutoffOptions{CutoffLaw::cosine, 4.0, 0};
  local = attention;
  local.input = VectorInput::local;
  local.basis = Basis::exp_normal;
  local.pair_embedding = true;
  for (const auto& [name, options] :
       std::vector<std::pair<std::string, Options>>{{"et", small_preset(Preset::et)},
                                                    {"painn", small_preset(Preset::painn)},
                                                    {"attention", attention},
                                                    {"local", local}}) {
    SCOPED_TRACE(name);
    const auto model = built(options, molecules_interface());
    // As many neighbours for each cut-off: about 200 of an atom that is not near the surface.
    const double side = options.cutoff->radius * std::cbrt(atoms / 200.0 * 4.19);
    Points points = points_at(random_positions(atoms), {atoms - 100, 100});
    points.positions = (points.positions - points.positions.floor()) * side;
    ASSERT_GT(model->edges(points)[0], 1 << 17);
    const Tensor in_blocks = forces(*model, points);
    model->train(true);
    const Tensor whole = forces(*model, points);
    EXPECT_FALSE(at::equal(in_blocks, whole));  // blocks they were
    EXPECT_LT((in_blocks - whole).abs().max().item<double>(), 1e-10 * whole.abs().max().item<double>());
  }
}

TEST(GeomformerForces, AreFiniteInEveryCorner) {
  for (const auto& [name, options] : gradient_models()) {
    SCOPED_TRACE(name);
    const auto model = built(options, molecules_interface());
    const Points single = points_at(at::zeros({1, 3}, at::kDouble), {1});
    EXPECT_EQ(forces(*model, single).abs().max().item<double>(), 0);
    Tensor coincident = random_positions(4);
    coincident[1].copy_(coincident[0]);
    for (const Points& points : {single, benzene_points(), carbon_dioxide(), points_at(coincident, {4})}) {
      expect_finite_gradients(energy(*model, points), {points.positions});
      EXPECT_LT(forces(*model, points).abs().max().item<double>(), 1e2);
    }
  }
}

// Where two atoms meet nothing jumps: energies on a line through the meeting have no step, and forces are
// derivatives there, before and behind it. (What depends on distance alone has a kink, whose two sides the
// central difference averages as the force does.)
TEST(GeomformerForces, AreDerivativesThroughCoincidence) {
  Options all_pairs = small_geomformer();
  all_pairs.input = VectorInput::local;
  auto models = gradient_models();
  std::erase_if(models, [](const auto& m) { return m.first == "et" || m.first == "painn"; });
  models.emplace_back("local, all pairs", all_pairs);
  for (const auto& [name, options] : models) {
    SCOPED_TRACE(name);
    const auto model = built(options, molecules_interface());
    const Tensor direction = at::tensor({0.6, -0.48, 0.64}, at::kDouble);
    const auto met = [&](double t) {
      Tensor x = random_positions(4);
      x[1].copy_(x[0] + t * direction);
      return points_at(x, {4});
    };
    const auto energy_at = [&](double t) {
      const Points p = met(t);
      return energy_of(*model, p, p.positions).item<double>();
    };
    for (const double t : {1e-9, -1e-9, 1e-7}) {
      EXPECT_NEAR(energy_at(t), energy_at(0), 1e2 * std::abs(t) + 1e-13) << t;
    }
    for (const double t : {0.0, 2e-3, -2e-3, 1e-2, 0.1, -0.3}) {
      const Points p = met(t);
      expect_gradients(energy(*model, p), {p.positions}, forces_check);
    }
  }
}

TEST(GeomformerForces, SumToZeroAndExertNoTorque) {
  for (const auto& [name, options] : gradient_models()) {
    const auto model = built(options, molecules_interface());
    const Points points = points_at(random_positions(7), {7});
    const Tensor f = forces(*model, points);
    EXPECT_GT(f.abs().max().item<double>(), 1e-4) << name;
    EXPECT_LT(f.sum(0).abs().max().item<double>(), 1e-13) << name;
    EXPECT_LT(at::linalg_cross(points.positions, f).sum(0).abs().max().item<double>(), 1e-13) << name;
  }
}

// Out of the plane of a flat molecule nothing pulls.
TEST(GeomformerForces, StayInThePlane) {
  for (const auto& [name, options] : gradient_models()) {
    const auto model = built(options, molecules_interface());
    EXPECT_EQ(forces(*model, benzene_points()).select(1, 2).abs().max().item<double>(), 0) << name;
  }
}

/// |d2 E / dz2| of one atom of benzene, which is flat.
double out_of_plane(Options options, uint64_t seed) {
  at::manual_seed(seed);
  const BuildOn build(at::kCPU, at::kDouble);
  Geomformer model(options, molecules_interface());
  const Points points = benzene_points();
  const Tensor x = points.positions.clone().requires_grad_();
  const Tensor gradient = torch::autograd::grad({energy_of(model, points, x)}, {x}, {}, true, true)[0];
  return std::abs(torch::autograd::grad({gradient[0][2]}, {x})[0][0][2].item<double>());
}

// Sheet, 1.4: literal whitening amplifies what is out of a flat molecule's plane, norm by norm; rms does not.
TEST(GeomformerForces, WhiteningAmplifiesWhatIsOutOfThePlane) {
  const auto median = [](VectorNormLaw law, double epsilon, int64_t blocks) {
    Options o = small_geomformer();
    o.width = 32;
    o.blocks = blocks;
    o.norm = law;
    o.rho = law == VectorNormLaw::whiten ? 0.01 : o.rho;
    o.norm_epsilon = epsilon;
    o.least_width = 1;  // sharp Gaussians would have steep energies of their own
    std::vector<double> values{out_of_plane(o, 1), out_of_plane(o, 2), out_of_plane(o, 3)};
    std::sort(values.begin(), values.end());
    return values[1];
  };
  for (const int64_t blocks : {2, 4, 8}) {
    const double value = median(VectorNormLaw::rms, 1e-2, blocks);
    EXPECT_LT(value, 1) << blocks;
    EXPECT_GT(value, 1e-4) << blocks;
  }
  EXPECT_GT(median(VectorNormLaw::whiten, 1e-6, 4), 1e6);
}

}  // namespace forces_test
}  // namespace weyl::geomformer
