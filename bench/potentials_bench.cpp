// Energy and forces of small systems through a Predictor, by hand (models/geomformer/message_plan.h) beside autograd, on
// one thread, interleaved in one process; medians of WEYL_REPEATS (40) in milliseconds and their ratio. Water: 7 molecules,
// and 64 in a periodic cell; atoms move between calls.
//   bench.potentials configs/md/et.toml configs/md/painn.toml
// Exit 1 where the two ways differ by more than rounding.
#include <ATen/Parallel.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "weyl/algebra/lattice/vector3.h"
#include "weyl/core/check.h"
#include "weyl/core/quantile.h"
#include "weyl/core/random.h"
#include "weyl/core/worst_of.h"
#include "weyl/models/systems.h"
#include "weyl/ops/edges/bond_gradient.h"
#include "weyl/saved/atoms.h"
#include "weyl/tasks/force_field.h"
#include "weyl/train/recipe.h"

namespace weyl {
namespace {

/// Molecules of water on a grid, each turned at random.
AtomsFrame water(int64_t molecules, bool periodic) {
  constexpr double apart = 3.1;
  const auto side = static_cast<int64_t>(std::ceil(std::cbrt(molecules) - 1e-9));
  AtomsFrame frame;
  Stream random(3, "water");
  for (int64_t m = 0; m < molecules; ++m) {
    const Vector3 oxygen{apart * static_cast<double>(m % side), apart * static_cast<double>(m / side % side),
                         apart * static_cast<double>(m / side / side)};
    const double turn = 2 * M_PI * random.uniform(), tilt = std::acos(2 * random.uniform() - 1);
    const Vector3 out{std::sin(tilt) * std::cos(turn), std::sin(tilt) * std::sin(turn), std::cos(tilt)},
        across{std::cos(tilt) * std::cos(turn), std::cos(tilt) * std::sin(turn), -std::sin(tilt)};
    for (const double bend : {0.0, 1.0, -1.0}) {  // oxygen, then two hydrogens
      frame.numbers.push_back(bend == 0 ? 8 : 1);
      for (size_t a = 0; a < 3; ++a) {
        frame.positions.push_back(oxygen[a] + (bend == 0 ? 0 : 0.59 * out[a] + 0.76 * bend * across[a]));
      }
    }
  }
  if (periodic) {
    const double length = apart * static_cast<double>(side);
    frame.cell = {length, 0, 0, 0, length, 0, 0, 0, length};
    frame.pbc = {true, true, true};
  }
  return frame;
}

Predictor predictor_of(const std::string& path, at::ScalarType dtype) {
  Schema schema;
  schema.interface.types = 3;
  schema.interface.elements = {"H", "C", "O"};
  schema.interface.length_unit = "Angstrom";
  schema.labels = {{.name = "energy", .level = Level::graph, .extensive = true, .unit = "eV"},
                   {.name = "forces", .kind = Kind::vector, .unit = "eV/Angstrom"}};
  SavedModel saved;
  saved.recipe.model = read_recipe(path).model;
  auto task = std::make_unique<ForceField>(ForceFieldOptions{});
  task->adopt(schema, {.scale = 1, .shift = 0});
  const BuildOn build_on(at::kCPU, dtype);
  at::manual_seed(1);
  saved.model = build(saved.recipe.model, task->interface(schema));
  saved.task = std::move(task);
  return Predictor(std::move(saved));
}

double milliseconds(const Predictor& predictor, const AtomsFrame& frame, EnergyAndForces& found) {
  const auto begin = std::chrono::steady_clock::now();
  found = energy_and_forces(predictor, frame);
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

bool compare(const std::string& path, int64_t molecules, bool periodic, at::ScalarType dtype, int repeats) {
  const Predictor predictor = predictor_of(path, dtype);
  AtomsFrame frame = water(molecules, periodic);
  Stream random(4, "steps");
  std::vector<double> by_hand, by_autograd;
  double error = 0;
  for (int r = -2; r < repeats; ++r) {  // two to warm up
    for (double& x : frame.positions) {
      x += 0.01 * (random.uniform() - 0.5);
    }
    EnergyAndForces found, right;
    const double one = milliseconds(predictor, frame, found);
    const WithoutBondGradients off;
    const double two = milliseconds(predictor, frame, right);
    if (r >= 0) {
      by_hand.push_back(one);
      by_autograd.push_back(two);
    }
    double largest = 0, off_by = 0;
    for (size_t k = 0; k < right.forces.size(); ++k) {
      largest = std::max(largest, std::abs(right.forces[k]));
      off_by = worst_of(off_by, std::abs(found.forces[k] - right.forces[k]));
    }
    error = worst_of(error, worst_of(off_by / largest,
                                     std::abs(found.energy - right.energy) / (1 + std::abs(right.energy))));
  }
  std::printf("%-28s %4lld atoms%s %s  %8.2f ms  autograd %8.2f ms  ratio %.2f  differ by %.0e\n",
              path.c_str(), static_cast<long long>(3 * molecules), periodic ? " in a cell" : "          ",
              dtype == at::kFloat ? "float32" : "float64", median(by_hand), median(by_autograd),
              median(by_hand) / median(by_autograd), error);
  std::fflush(stdout);
  return error < (dtype == at::kFloat ? 1e-4 : 1e-10);
}

int run(const std::vector<std::string>& paths) {
  require<ConfigError>(!paths.empty(), "bench.potentials: must be given configs (configs/md/et.toml)");
  at::set_num_threads(1);
  const char* told = std::getenv("WEYL_REPEATS");
  const int repeats = told != nullptr ? std::atoi(told) : 40;
  bool equal = true;
  for (const std::string& path : paths) {
    for (const at::ScalarType dtype : {at::kFloat, at::kDouble}) {
      equal = compare(path, 7, false, dtype, repeats) && equal;
      equal = compare(path, 64, true, dtype, std::max(3, repeats / 5)) && equal;
    }
  }
  if (!equal) {
    std::fprintf(stderr, "bench.potentials: the two ways must agree to rounding, and differ\n");
  }
  return equal ? 0 : 1;
}

}  // namespace
}  // namespace weyl

int main(int argc, char** argv) {
  try {
    return weyl::run({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}
