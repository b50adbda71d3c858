#include "weyl/data/makers/planets.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "weyl/core/check.h"
#include "weyl/core/new_files.h"
#include "weyl/core/random.h"
#include "weyl/core/safetensors.h"

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

constexpr double kTimeStep = 0.001, kFarthest = 2;
constexpr int kAttempts = 1000;

using Vector = std::vector<double>;
using Matrix = std::array<double, 9>;

// Uniform on SO(3): a quaternion of normal numbers.
Matrix random_rotation(Stream& random) {
  std::array<double, 4> q;
  double square = 0;
  for (double& x : q) {
    x = random.normal();
    square += x * x;
  }
  const double s = 2 / square;
  const auto [w, x, y, z] = q;
  return {1 - s * (y * y + z * z), s * (x * y - w * z),     s * (x * z + w * y),
          s * (x * y + w * z),     1 - s * (x * x + z * z), s * (y * z - w * x),
          s * (x * z - w * y),     s * (y * z + w * x),     1 - s * (x * x + y * y)};
}

void turn(const Matrix& r, double* v) {
  const std::array<double, 3> old{v[0], v[1], v[2]};
  for (int i = 0; i < 3; ++i) {
    v[i] = r[3 * i] * old[0] + r[3 * i + 1] * old[1] + r[3 * i + 2] * old[2];
  }
}

double log_uniform(Stream& random, double low, double high) {
  return low * std::pow(high / low, random.uniform());
}

// The star at the origin and at rest, first; planets in the plane.
PlanetSystem draw(const PlanetsMakerOptions& o, Stream& random) {
  const int64_t n = o.planets + 1;
  PlanetSystem s{Vector(3 * n), Vector(3 * n), {}, Vector(n)};
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

void require_options(const PlanetsMakerOptions& o) {
  require<ConfigError>(o.planets >= 1 && o.steps >= 1, "planets: planets and steps must be at least 1, got ",
                       o.planets, " and ", o.steps);
}

void write(const PlanetsMakerOptions& o, std::span<const PlanetSystem> systems, const char* split,
           const std::string& path) {
  Vector positions, velocities, masses, displacements;
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
                     {"time_step", text(kTimeStep)},
                     {"spread", text(o.spread)},
                     {"offset", text(o.offset)},
                     {"units", "reduced: the constant of gravity is 1"}},
                    Existing::keep);
}

}  // namespace

void move_planets(int64_t steps, const Vector& masses, Vector& x, Vector& v) {
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
        const double pull = kTimeStep / (square * std::sqrt(square));
        for (int d = 0; d < 3; ++d) {
          v[3 * i + d] += masses[j] * pull * way[d];
          v[3 * j + d] -= masses[i] * pull * way[d];
        }
      }
    }
    for (size_t k = 0; k < x.size(); ++k) {
      x[k] += kTimeStep * v[k];
    }
  }
}

PlanetSystem make_planet_system(const PlanetsMakerOptions& options, std::string_view split, int64_t index) {
  require_options(options);
  Stream random(static_cast<uint64_t>(options.seed), "planets " + std::string(split),
                {static_cast<uint64_t>(index)});
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    PlanetSystem s = draw(options, random);
    const Matrix rotation = random_rotation(random);
    std::array<double, 3> place;
    for (double& p : place) {
      p = options.spread * random.normal();
    }
    place[0] += options.offset;
    const auto order = random.permutation(options.planets + 1);
    s.later = s.positions;
    Vector v = s.velocities;
    move_planets(options.steps, s.masses, s.later, v);
    if (!(farthest(s) <= kFarthest)) {
      continue;
    }
    PlanetSystem result = s;
    for (size_t i = 0; i < order.size(); ++i) {
      const auto from = static_cast<size_t>(order[i]);
      result.masses[i] = s.masses[from];
      for (Vector PlanetSystem::* rows :
           {&PlanetSystem::positions, &PlanetSystem::velocities, &PlanetSystem::later}) {
        double* row = &(result.*rows)[3 * i];
        std::copy_n(&(s.*rows)[3 * from], 3, row);
        turn(rotation, row);
        for (int d = 0; d < 3 && rows != &PlanetSystem::velocities; ++d) {
          row[d] += place[d];
        }
      }
    }
    return result;
  }
  throw ConfigError(text("planets: no system whose bodies move at most ", kFarthest, " was found in ",
                         kAttempts, " draws; choose fewer steps"));
}

bool make_planets(const PlanetsMakerOptions& options, const std::string& folder, const JobHooks& hooks) {
  require_options(options);
  NewFiles files;
  std::vector<const char*> splits;
  std::vector<int64_t> firsts;
  int64_t total = 0;
  for (const auto& [split, count] :
       {std::pair{"train", options.train}, {"valid", options.valid}, {"test", options.test}}) {
    if (count > 0) {
      files.add_split(folder, split);
      splits.push_back(split);
      firsts.push_back(total);
      total += count;
    }
  }
  require<ConfigError>(total > 0, "planets: train, valid and test are all 0, there is nothing to make");
  std::vector<PlanetSystem> made(total);
  const bool whole = run_samples(total, options.threads, hooks, [&](int64_t i, const auto&) {
    const auto part = std::upper_bound(firsts.begin(), firsts.end(), i) - firsts.begin() - 1;
    made[i] = make_planet_system(options, splits[part], i - firsts[part]);
  });
  if (!whole) {
    return false;
  }
  firsts.push_back(total);
  files.write_each([&](size_t k) {
    write(options, std::span(made).subspan(firsts[k], firsts[k + 1] - firsts[k]), splits[k], files.path(k));
  });
  return true;
}

}  // namespace weyl
