#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "weyl/config/fields.h"
#include "weyl/data/particles/options.h"
#include "weyl/makers/plan.h"

namespace weyl {

/// Planets around a star, the gravitational n-body data of the GATr paper (Brehmer et al., NeurIPS 2023): one star of
/// mass 1 to 10 (log-uniform) at rest and planets of mass 0.01 to 0.1 (log-uniform), which start in an annulus of
/// radii 0.1 to 1 on circular orbits of either direction, v = +-z x x sqrt(M) / r^{3/2}, plus noise of 0.01 on each
/// component. The system is then turned by a uniform rotation about the star, shifted by normal numbers, and its bodies
/// are permuted. Newton's law with G = 1, `steps` steps of 0.001 of semi-implicit Euler (velocity, then position). A
/// system of which a body moves more than 2 is drawn again. Each system is a pure function of seed, split and index.
struct PlanetsMakerOptions {
  static constexpr const char* name_in_config = "planets";
  static constexpr const char* makes = "planets around a star, at two times (the GATr paper's n-body data)";
  int64_t planets = 3;
  int64_t train = 1000;
  int64_t valid = 1000;
  int64_t test = 5000;
  int64_t seed = 0;
  int64_t steps = planet_steps;  // of 0.001 time units each
  double spread = 20;            // standard deviation of each coordinate of the shift
  double offset = 0;             // added to every x: 200 is the paper's shifted domain
  int64_t threads = 0;           // 0: one per core
};
void fields(Fields& f, PlanetsMakerOptions& o);
MakerPlan plan_of(const PlanetsMakerOptions& o);

/// A star and its planets in any order, row-major: positions, velocities and later positions (n, 3), masses (n).
struct PlanetSystem {
  std::vector<double> positions, velocities, later, masses;
};

/// System `index` of a split. ConfigError: no system that stays together was found in 1,000 draws.
PlanetSystem make_planet_system(const PlanetsMakerOptions& options, std::string_view split, int64_t index);

/// `steps` steps of 0.001 of semi-implicit Euler under Newton's law with G = 1: x and v (n, 3) are moved.
void move_planets(int64_t steps, const std::vector<double>& masses, std::vector<double>& x,
                  std::vector<double>& v);

/// Makes train, valid and test (those of nonzero size) and writes `<folder>/<split>.safetensors`, tensor files of points:
/// positions, scalars (the mass), vectors (the velocity), and the label displacement. Files that are there already are
/// never replaced (ConfigError). False when stopped: then nothing was written.
bool make_planets(const PlanetsMakerOptions& options, const std::string& folder, const JobHooks& hooks = {});

}  // namespace weyl
