// Forces and second derivatives of GeoMFormer, ET and PaiNN where formulas break: flat, linear, single and
// coincident atoms, cells smaller than the cut-off; the cut-off itself; periodic cells; the norms' table.
#include <ATen/autocast_mode.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>

#include "tests/gradients.h"
#include "tests/models/geomformer_fixtures.h"

namespace weyl {
namespace {

Tensor energy_of(Geomformer& model, Points points, const Tensor& positions, const Tensor& cell = {}) {
  points.positions = positions;
  if (cell.defined()) {
    points.cell = cell;
  }
  return model(points).at("energy").sum();
}

Expression energy(Geomformer& model, const Points& points) {
  return [&model, points](const std::vector<Tensor>& in) { return energy_of(model, points, in[0]); };
}

Tensor forces(Geomformer& model, const Points& points) {
  const Tensor x = points.positions.detach().clone().requires_grad_();
  return -torch::autograd::grad({energy_of(model, points, x)}, {x})[0];
}

std::vector<std::pair<std::string, GeomformerOptions>> gradient_models() {
  std::vector<std::pair<std::string, GeomformerOptions>> models{
      {"geomformer", small_geomformer()},
      {"et", small_preset(GeomformerPreset::et)},
      {"painn", small_preset(GeomformerPreset::painn)}};
  GeomformerOptions local = small_geomformer();
  local.cutoff = CutoffOptions{CutoffLaw::cosine, 4.0, 0};
  local.input = GeomInput::local;
  models.emplace_back("local", local);
  return models;
}

constexpr GradientCheck forces_check{.step = 1e-6, .relative = 1e-6, .absolute = 1e-8, .samples = 12};

TEST(GeomformerForces, AreDerivativesForEveryShape) {
  for (const auto& [name, options] : gradient_models()) {
    SCOPED_TRACE(name);
    const auto model = built(options, molecules_interface());
    expect_second_gradients(energy(*model, points_at(random_positions(6), {6})), {random_positions(6)},
                            forces_check);
    expect_gradients(energy(*model, benzene_points()), {benzene()}, forces_check);
    expect_gradients(energy(*model, carbon_dioxide()), {carbon_dioxide().positions}, forces_check);
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
  GeomformerOptions all_pairs = small_geomformer();
  all_pairs.input = GeomInput::local;
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

TEST(GeomformerForces, OfCellsAreDerivativesToo) {
  for (const auto& [name, options] : gradient_models()) {
    if (!options.cutoff) {
      continue;
    }
    SCOPED_TRACE(name);
    const auto model = built(options, molecules_interface());
    Points points = points_at(random_positions(3, 4, 1.0), {3});
    points.cell = at::tensor({3.1, 0.2, 0.0, -0.8, 2.9, 0.3, 0.4, 0.5, 3.4}, at::kDouble).view({1, 3, 3});
    points.pbc = at::ones({1, 3}, at::kBool);
    const Expression of_both = [&](const std::vector<Tensor>& in) {
      return energy_of(*model, points, in[0], in[1]);
    };
    expect_second_gradients(of_both, {points.positions, points.cell}, forces_check);
    EXPECT_LT(forces(*model, points).sum(0).abs().max().item<double>(), 1e-12);
  }
}

TEST(GeomformerForces, TwoCellsHaveTwiceTheEnergy) {
  for (const auto& [name, options] : gradient_models()) {
    if (!options.cutoff) {
      continue;
    }
    const auto model = built(options, molecules_interface());
    Points one = points_at(random_positions(4, 6, 1.0), {4});
    one.cell = at::tensor({4.1, 0.2, 0.0, -0.8, 3.9, 0.3, 0.4, 0.5, 4.4}, at::kDouble).view({1, 3, 3});
    one.pbc = at::ones({1, 3}, at::kBool);
    Points two = points_at(at::cat({one.positions, one.positions + one.cell[0][0]}), {8});
    two.types = one.types.repeat({2});
    two.cell = one.cell.clone();
    two.cell[0][0].mul_(2);
    two.pbc = one.pbc;
    const double single = energy_of(*model, one, one.positions).item<double>();
    EXPECT_NEAR(energy_of(*model, two, two.positions).item<double>(), 2 * single,
                1e-12 * std::abs(single) + 1e-12)
        << name;
    // And wrapping an atom to another image changes nothing.
    const Tensor wrapped = one.positions.clone();
    wrapped[1].add_(one.cell[0][0] - 2 * one.cell[0][2]);
    EXPECT_NEAR(energy_of(*model, one, wrapped).item<double>(), single, 1e-12 * std::abs(single) + 1e-12)
        << name;
  }
}

// An atom that leaves through the cut-off takes no step in the energy, nor in the force.
TEST(GeomformerForces, FadeAtTheCutoff) {
  for (const auto& [name, options] : gradient_models()) {
    if (!options.cutoff) {
      continue;
    }
    const auto model = built(options, molecules_interface());
    const double radius = options.cutoff->radius;
    const auto at_distance = [&](double d) {
      Points p = points_at(random_positions(4, 9, 0.4), {4});
      p.positions[3].copy_(p.positions[0]);
      p.positions[3][0] += d;
      // The others keep away: only the first atom hears the fourth, from the left.
      p.positions[1][0] -= 2;
      p.positions[2][0] -= 2;
      return p;
    };
    const auto value = [&](double d) {
      const Points p = at_distance(d);
      return energy_of(*model, p, p.positions).item<double>();
    };
    const auto force = [&](double d) { return forces(*model, at_distance(d)); };
    const double h = 1e-6;
    EXPECT_NEAR(value(radius - h), value(radius + h), 1e-10) << name;
    EXPECT_LT((force(radius - h) - force(radius + h)).abs().max().item<double>(), 1e-5) << name;
    EXPECT_GT(std::abs(value(radius - 1) - value(radius + h)), 1e-6) << name << ": nothing is heard at all";
  }
}

// ET without vector_cutoff jumps: what the option is for.
TEST(GeomformerForces, WithoutItsVectorCutoffEtJumps) {
  GeomformerOptions o = small_preset(GeomformerPreset::et);
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

/// |d2 E / dz2| of one atom of benzene, which is flat.
double out_of_plane(GeomformerOptions options, uint64_t seed) {
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
  const auto median = [](VectorNormLaw law, double rho, double epsilon, int64_t blocks) {
    GeomformerOptions o = small_geomformer();
    o.width = 32;
    o.blocks = blocks;
    o.norm = law;
    o.rho = rho;
    o.norm_epsilon = epsilon;
    o.least_width = 1;  // sharp Gaussians would have steep energies of their own
    std::vector<double> values{out_of_plane(o, 1), out_of_plane(o, 2), out_of_plane(o, 3)};
    std::sort(values.begin(), values.end());
    return values[1];
  };
  for (const int64_t blocks : {2, 4, 8}) {
    const double value = median(VectorNormLaw::rms, 1, 1e-2, blocks);
    EXPECT_LT(value, 1) << blocks;
    EXPECT_GT(value, 1e-4) << blocks;
  }
  EXPECT_GT(median(VectorNormLaw::whiten, 0.01, 1e-6, 4), 1e6);
}

}  // namespace
}  // namespace weyl
