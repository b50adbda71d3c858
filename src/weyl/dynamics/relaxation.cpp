#include "weyl/dynamics/relaxation.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "weyl/core/check.h"

namespace weyl {
namespace {

// The paper's constants; steps in units in which all masses are 1 (A, eV), as is usual for molecules.
constexpr double kFirstStep = 0.1, kLongestStep = 1, kFasten = 1.1, kSlow = 0.5;
constexpr double kFirstMixing = 0.1, kLessMixing = 0.99;
constexpr int kPatience = 5;
constexpr double kFarthest = 0.2;  // A that all atoms together move in a step

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    sum += a[i] * b[i];
  }
  return sum;
}

double longest(const std::vector<double>& forces) {
  double most = 0;
  for (size_t i = 0; i + 2 < forces.size(); i += 3) {
    most = std::max(most, std::hypot(forces[i], forces[i + 1], forces[i + 2]));
  }
  return most;
}

}  // namespace

Relaxed relax(const EnergySurface& surface, std::vector<double> positions, double largest, int64_t steps,
              const std::function<bool()>& stopped) {
  Relaxed now{std::move(positions), {}};
  now.point = surface(now.positions);
  std::vector<double> velocities(now.positions.size(), 0.0);
  double step = kFirstStep, mixing = kFirstMixing;
  int downhill = 0;
  for (int64_t i = 0; longest(now.point.forces) > largest && !(stopped && stopped()); ++i) {
    const auto& forces = now.point.forces;
    require<DataError>(i < steps, "does not relax in ", steps, " steps: the longest force is ",
                       longest(forces), " eV/A");
    if (dot(forces, velocities) > 0) {
      const double turn = mixing * std::sqrt(dot(velocities, velocities) / dot(forces, forces));
      for (size_t k = 0; k < velocities.size(); ++k) {
        velocities[k] = (1 - mixing) * velocities[k] + turn * forces[k];
      }
      if (++downhill > kPatience) {
        step = std::min(step * kFasten, kLongestStep);
        mixing *= kLessMixing;
      }
    } else {
      std::ranges::fill(velocities, 0.0);
      step *= kSlow;
      mixing = kFirstMixing;
      downhill = 0;
    }
    for (size_t k = 0; k < velocities.size(); ++k) {
      velocities[k] += step * forces[k];
    }
    const double length = step * std::sqrt(dot(velocities, velocities));
    const double scale = step * (length > kFarthest ? kFarthest / length : 1);
    for (size_t k = 0; k < velocities.size(); ++k) {
      now.positions[k] += scale * velocities[k];
    }
    now.point = surface(now.positions);
  }
  return now;
}

}  // namespace weyl
