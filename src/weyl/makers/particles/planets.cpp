#include "weyl/makers/particles/planets.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "weyl/core/check.h"
#include "weyl/core/random.h"
#include "weyl/core/safetensors.h"
#include "weyl/data/clouds/surface.h"
#include "weyl/makers/split_files.h"

namespace weyl {

void fields(Fields& f, PlanetsMakerOptions& o) {
  f("planets", o.planets, "planets of a star", {1, 1000});
  f("train", o.train, "training systems", {0, 1e8});
  f("valid", o.valid, "validation systems", {0, 1e8});
  f("test", o.test, "test systems", {0, 1e8});
  f("seed", o.seed, "of the streams of random numbers", {0, 9.2e18});
  f("steps", o.steps, "time steps of 0.001 between the two times", {1, 1e6});
  f("spread", o.spread, "standard deviation of each coordinate of a system's place", {0, 1e6});
  f("offset", o.offset, "added to every x coordinate; the paper's shifted domain has 200", {-1e6, 1e6});
  f("threads", o.threads, "threads that simulate; 0: one per core", {0, 1024});
}

MakerPlan plan_of(const PlanetsMakerOptions& o) {
  return {.what = text("systems of a star and ", o.planets, o.planets == 1 ? " planet" : " planets"),
          .counts = {{"train", o.train}, {"valid", o.valid}, {"test", o.test}},
          .make = std::bind_front(make_planets, o)};
}

namespace {

constexpr double kFarthest = 2;
constexpr int kSystemAttempts = 1000;

double log_uniform(Stream& random, double low, double high) {
  return low * std::pow(high / low, random.uniform());
}

// The star at the origin and at rest, first; planets in the plane.
PlanetSystem draw_system(const PlanetsMakerOptions& o, Stream& random) {
  const int64_t n = o.planets + 1;
  PlanetSystem s{std::vector<double>(3 * n), std::vector<double>(3 * n), {}, std::vector<double>(n)};
  const double star = s.masses[0] = log_uniform(random, 1, 10);
  for (int64_t i = 1; i < n; ++i) {
    s.masses[i] = log_uniform(random, 0.01, 0.1);
    double x = 0, y = 0, r = 0;
    while (r < 0.1 || r > 1) {
      x = 2 * random.uniform() - 1;
      y = 2 * random.uniform() - 1;
      r = std::hypot(x, y);
    }
    const double speed = (random.uniform() < 0.5 ? -1 : 1) * std::sqrt(star) / std::pow(r, 1.5);
    s.positions[3 * i] = x;
    s.positions[3 * i + 1] = y;
    s.velocities[3 * i] = -y * speed;
    s.velocities[3 * i + 1] = x * speed;
    for (int d = 0; d < 3; ++d) {
      s.velocities[3 * i + d] += 0.01 * random.normal();
    }
  }
  return s;
}

// The largest distance that a body went.
double farthest(const PlanetSystem& s) {
  double worst = 0;
  for (size_t i = 0; i < s.masses.size(); ++i) {
    const double* a = &s.positions[3 * i];
    const double* b = &s.later[3 * i];
    const double way = std::hypot(b[0] - a[0], b[1] - a[1], b[2] - a[2]);
    worst = way <= worst ? worst : way;  // keeps NaN
  }
  return worst;
}

void require_planets_options(const PlanetsMakerOptions& o) {
  require<ConfigError>(o.planets >= 1 && o.steps >= 1, "planets: planets and steps must be at least 1, got ",
                       o.planets, " and ", o.steps);
}

void write_systems(const PlanetsMakerOptions& o, std::span<const PlanetSystem> systems, const char* split,
                   const std::string& path) {
  std::vector<double> positions, velocities, masses, displacements;
  std::vector<int64_t> offsets{0};
  for (const PlanetSystem& s : systems) {
    positions.insert(positions.end(), s.positions.begin(), s.positions.end());
    velocities.insert(velocities.end(), s.velocities.begin(), s.velocities.end());
    masses.insert(masses.end(), s.masses.begin(), s.masses.end());
    for (size_t k = 0; k < s.later.size(); ++k) {
      displacements.push_back(s.later[k] - s.positions[k]);
    }
    offsets.push_back(static_cast<int64_t>(masses.size()));
  }
  const auto n = offsets.back(), b = static_cast<int64_t>(systems.size());
  const auto bytes = [](const auto& x) { return std::as_bytes(std::span(x)); };
  const TensorBytes tensors[] = {{"positions", ElementType::f64, {n, 3}, bytes(positions)},
                                 {"offsets", ElementType::i64, {b + 1}, bytes(offsets)},
                                 {"scalars", ElementType::f64, {n, 1}, bytes(masses)},
                                 {"vectors", ElementType::f64, {n, 1, 3}, bytes(velocities)},
                                 {"displacement", ElementType::f64, {n, 1, 3}, bytes(displacements)}};
  write_safetensors(path, tensors,
                    {{"format", "weyl.tensors"},
                     {"maker", PlanetsMakerOptions::name_in_config},
                     {"maker_version", "1"},
                     {"split", split},
                     {"seed", std::to_string(o.seed)},
                     {"planets", std::to_string(o.planets)},
                     {"steps", std::to_string(o.steps)},
                     {"time_step", text(kPlanetTimeStep)},
                     {"spread", text(o.spread)},
                     {"offset", text(o.offset)},
                     {"units", "reduced: the constant of gravity is 1"}},
                    Existing::keep);
}

}  // namespace

void move_planets(int64_t steps, const std::vector<double>& masses, std::vector<double>& x,
                  std::vector<double>& v) {
  const size_t n = masses.size();
  for (int64_t step = 0; step < steps; ++step) {
    for (size_t i = 0; i < n; ++i) {
      for (size_t j = i + 1; j < n; ++j) {
        std::array<double, 3> way;
        double square = 0;
        for (int d = 0; d < 3; ++d) {
          way[d] = x[3 * j + d] - x[3 * i + d];
          square += way[d] * way[d];
        }
        const double pull = kPlanetTimeStep / (square * std::sqrt(square));
        for (int d = 0; d < 3; ++d) {
          v[3 * i + d] += masses[j] * pull * way[d];
          v[3 * j + d] -= masses[i] * pull * way[d];
        }
      }
    }
    for (size_t k = 0; k < x.size(); ++k) {
      x[k] += kPlanetTimeStep * v[k];
    }
  }
}

PlanetSystem make_planet_system(const PlanetsMakerOptions& options, std::string_view split, int64_t index) {
  require_planets_options(options);
  Stream random(static_cast<uint64_t>(options.seed), "planets " + std::string(split),
                {static_cast<uint64_t>(index)});
  for (int attempt = 0; attempt < kSystemAttempts; ++attempt) {
    PlanetSystem s = draw_system(options, random);
    const Rotation rotation = draw_rotation(Turning::uniform, 2, random);
    std::array<double, 3> place;
    for (double& p : place) {
      p = options.spread * random.normal();
    }
    place[0] += options.offset;
    const auto order = random.permutation(options.planets + 1);
    s.later = s.positions;
    std::vector<double> v = s.velocities;
    move_planets(options.steps, s.masses, s.later, v);
    if (!(farthest(s) <= kFarthest)) {
      continue;
    }
    PlanetSystem result = s;
    for (size_t i = 0; i < order.size(); ++i) {
      const auto from = static_cast<size_t>(order[i]);
      result.masses[i] = s.masses[from];
      for (std::vector<double> PlanetSystem::* rows :
           {&PlanetSystem::positions, &PlanetSystem::velocities, &PlanetSystem::later}) {
        double* row = &(result.*rows)[3 * i];
        std::copy_n(&(s.*rows)[3 * from], 3, row);
        turn(std::span(row, 3), rotation);
        for (int d = 0; d < 3 && rows != &PlanetSystem::velocities; ++d) {
          row[d] += place[d];
        }
      }
    }
    return result;
  }
  throw ConfigError(text("planets: no system whose bodies move at most ", kFarthest, " was found in ",
                         kSystemAttempts, " draws; choose fewer steps"));
}

bool make_planets(const PlanetsMakerOptions& options, const std::string& folder, const JobHooks& hooks) {
  require_planets_options(options);
  return make_split_files(
      PlanetsMakerOptions::name_in_config, {options.train, options.valid, options.test}, folder,
      options.threads, hooks,
      [&](const char* split, int64_t index) { return make_planet_system(options, split, index); },
      [&](const auto& samples, const char* split, const std::string& path) {
        write_systems(options, samples, split, path);
      });
}

}  // namespace weyl
