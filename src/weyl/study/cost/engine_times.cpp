#include "weyl/study/cost/engine_times.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>

#include "weyl/core/check.h"
#include "weyl/core/elements.h"
#include "weyl/core/quantile.h"
#include "weyl/core/random.h"
#include "weyl/core/worst_of.h"
#include "weyl/ops/edges/bond_gradient.h"
#include "weyl/saved/atoms.h"

namespace weyl {
namespace {

/// Molecules of water on a grid, at the liquid's density, each turned at random.
AtomsFrame water(const std::vector<std::string>& elements, int64_t molecules, bool periodic) {
  constexpr double apart = 3.1;
  const auto known = [&](const char* symbol, const std::string& otherwise) {
    return atomic_number(std::ranges::find(elements, symbol) != elements.end() ? symbol : otherwise);
  };
  const int oxygen = known("O", elements.back()), hydrogen = known("H", elements.front());
  const auto side = static_cast<int64_t>(std::ceil(std::cbrt(molecules) - 1e-9));
  AtomsFrame frame;
  Stream random(3, "water");
  for (int64_t m = 0; m < molecules; ++m) {
    const std::array<int64_t, 3> place{m % side, m / side % side, m / side / side};
    const double turn = 2 * M_PI * random.uniform(), tilt = std::acos(2 * random.uniform() - 1);
    const std::array<double, 3> out{std::sin(tilt) * std::cos(turn), std::sin(tilt) * std::sin(turn),
                                    std::cos(tilt)},
        across{std::cos(tilt) * std::cos(turn), std::cos(tilt) * std::sin(turn), -std::sin(tilt)};
    for (const double bend : {0.0, 1.0, -1.0}) {  // oxygen, then two hydrogens
      frame.numbers.push_back(bend == 0 ? oxygen : hydrogen);
      for (size_t a = 0; a < 3; ++a) {
        frame.positions.push_back(apart * static_cast<double>(place[a]) +
                                  (bend == 0 ? 0 : 0.59 * out[a] + 0.76 * bend * across[a]));
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

double asked_ms(const Predictor& predictor, const AtomsFrame& frame, EnergyAndForces& found) {
  const auto begin = std::chrono::steady_clock::now();
  found = energy_and_forces(predictor, frame);
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

EngineCase timed(const Predictor& predictor, AtomsFrame frame, int64_t repeats) {
  EngineCase result{.atoms = frame.size(), .periodic = frame.cell.has_value(), .of_autograd = {}};
  Stream random(4, "steps");
  std::vector<double> own, by_autograd, ratios;
  for (int64_t r = -2; r < repeats; ++r) {  // two to warm up
    for (double& x : frame.positions) {
      x += 0.01 * (random.uniform() - 0.5);
    }
    EnergyAndForces found, right;
    const double ms = asked_ms(predictor, frame, found);
    const WithoutBondGradients off;
    const double autograd_ms = asked_ms(predictor, frame, right);
    if (r >= 0) {
      own.push_back(ms);
      by_autograd.push_back(autograd_ms);
      ratios.push_back(ms / autograd_ms);
    }
    double largest = 0, difference = 0;
    for (size_t k = 0; k < right.forces.size(); ++k) {
      largest = std::max(largest, std::abs(right.forces[k]));
      difference = worst_of(difference, std::abs(found.forces[k] - right.forces[k]));
    }
    const double of_energy = std::abs(found.energy - right.energy) / std::max(1.0, std::abs(right.energy));
    result.error =
        worst_of(result.error, worst_of(of_energy, largest > 0 ? difference / largest : difference));
  }
  result.ms = median(own);
  result.autograd_ms = median(by_autograd);
  result.of_autograd = {median(ratios), quantile(ratios, 0.25), quantile(ratios, 0.75)};
  return result;
}

}  // namespace

std::vector<EngineCase> time_engine(const Predictor& predictor, int64_t repeats) {
  const std::vector<std::string>& elements = predictor.interface().elements;
  require<ConfigError>(!elements.empty(),
                       "weyl bench --engine: needs a model of atoms, whose types are elements");
  std::vector<EngineCase> cases{timed(predictor, water(elements, 7, false), repeats)};
  if (predictor.model().reach()) {
    cases.push_back(timed(predictor, water(elements, 64, true), repeats));
  }
  return cases;
}

}  // namespace weyl
