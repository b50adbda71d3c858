#include "weyl/makers/particles/nbody.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <span>

#include "weyl/core/check.h"
#include "weyl/core/numpy_random.h"
#include "weyl/core/output_files.h"
#include "weyl/core/safetensors.h"

namespace weyl {

void fields(Fields& f, NbodyMakerOptions& o) {
  f("particles", o.particles, "charged particles in a simulation", {2, 1000});
  f("train", o.train, "training simulations: the first of the stream", {0, 10000});
  f("valid", o.valid, "validation simulations: those from 10,000 on", {0, 2000});
  f("test", o.test, "test simulations: those from 12,000 on", {0, 1e6});
  f("seed", o.seed, "of the stream of random numbers", {0, 4294967295.0});
  f("steps", o.steps, "time steps of 0.001 in a simulation", {1, 1e8});
  f("every", o.every, "time steps between two frames", {1, 1e8});
  f("speed", o.speed, "of every particle at the start", {0, 1e3});
  f("threads", o.threads, "threads that simulate; 0: one per core", {0, 1024});
}

MakerPlan plan_of(const NbodyMakerOptions& o) {
  return {.what = text("simulations of ", o.particles, " particles"),
          .counts = {{"train", o.train}, {"valid", o.valid}, {"test", o.test}},
          .make = std::bind_front(make_nbody, o)};
}

namespace {

constexpr int64_t kFirstValid = 10000, kFirstTest = 12000;

void require_nbody_options(const NbodyMakerOptions& o) {
  require<ConfigError>(o.particles >= 2, "nbody: particles must be at least 2, got ", o.particles);
  require<ConfigError>(o.every >= 1 && o.steps % o.every == 0,
                       "nbody: steps must be a multiple of every, got ", o.steps, " and ", o.every);
  require<ConfigError>(frames_of(o) >= 1, "nbody: steps must be at least two times every, got ", o.steps,
                       " and ", o.every);
}

void write_simulations(const NbodyMakerOptions& o, const NbodyJob& job, const char* split,
                       const std::string& path) {
  const auto& r = job.result;
  const auto bytes = [](const std::vector<double>& x) { return std::as_bytes(std::span(x)); };
  const TensorBytes tensors[] = {
      {"positions", ElementType::f64, {r.simulations, r.frames, r.particles, 3}, bytes(r.positions)},
      {"velocities", ElementType::f64, {r.simulations, r.frames, r.particles, 3}, bytes(r.velocities)},
      {"charges", ElementType::f64, {r.simulations, r.particles}, bytes(r.charges)}};
  write_safetensors(
      path, tensors,
      {{"format", "weyl.nbody"},
       {"format_version", "1"},
       {"split", split},
       {"generator", "charged particles in free space (EGNN benchmark), MT19937, numpy legacy draws"},
       {"seed", std::to_string(o.seed)},
       {"first_simulation", std::to_string(job.first)},
       {"particles", std::to_string(o.particles)},
       {"steps", std::to_string(o.steps)},
       {"every", std::to_string(o.every)},
       {"speed", text(o.speed)},
       {"time_step", "0.001"},
       {"frame_interval", text(kNbodyTimeStep * static_cast<double>(o.every))},
       {"units", "reduced: masses 1, charges +-1, strength of the Coulomb force 1"}},
      Existing::keep);
}

}  // namespace

NbodyTrajectories simulate_nbody(const NbodyMakerOptions& options, int64_t first, int64_t count,
                                 const JobHooks& hooks) {
  require_nbody_options(options);
  require<ConfigError>(first >= 0 && count >= 0, "nbody: simulations must be numbered from 0, got ", first,
                       " and ", count);
  NbodyJob job{first, count, {}};
  const bool whole = run_nbody(options, {&job, 1}, hooks);
  return whole ? std::move(job.result) : NbodyTrajectories{};
}

bool make_nbody(const NbodyMakerOptions& options, const std::string& folder, const JobHooks& hooks) {
  require_nbody_options(options);
  require<ConfigError>(
      options.train <= kFirstValid && options.valid <= kFirstTest - kFirstValid,
      "nbody: at most 10000 training and 2000 validation simulations, or splits would share some");
  std::vector<NbodyJob> jobs;
  std::vector<const char*> splits;
  NewFiles files;
  const auto add = [&](const char* split, int64_t first, int64_t count) {
    if (count > 0) {
      jobs.push_back({first, count, {}});
      splits.push_back(split);
      files.add_split(folder, split);
    }
  };
  add("train", 0, options.train);
  add("valid", kFirstValid, options.valid);
  add("test", kFirstTest, options.test);
  require<ConfigError>(!jobs.empty(), "nbody: train, valid and test are all 0, there is nothing to make");
  if (!run_nbody(options, jobs, hooks)) {
    return false;
  }
  files.write_each([&](size_t i) { write_simulations(options, jobs[i], splits[i], files.path(i)); });
  return true;
}

namespace {

constexpr double kBox = 5, kLargestForce = 0.1 / kNbodyTimeStep;

/// Positions, velocities (n, 3) and charges (n) of one simulation before its first step.
struct Start {
  std::vector<double> x, v, charges;
};

/// Mirrors a coordinate into the box, the velocity turning inward. Far outside (many particles) it is
/// mirrored again.
void mirror(double& x, double& v) {
  while (x > kBox || x < -kBox) {
    if (x > kBox) {
      x = 2 * kBox - x;
      v = -std::abs(v);
    }
    if (x < -kBox) {
      x = -2 * kBox - x;
      v = std::abs(v);
    }
  }
}

/// Draws the next simulation of the stream: charges, then all coordinates and velocities axis by axis (3, n),
/// then the noise of the frames, which is multiplied by zero and only moves the stream on.
Start draw_start(NumpyRandom& random, const NbodyMakerOptions& o) {
  const int64_t n = o.particles;
  Start s{std::vector<double>(3 * n), std::vector<double>(3 * n), std::vector<double>(n)};
  for (double& c : s.charges) {
    c = random.uniform() < 0.5 ? -1 : 1;  // choice over {-1, 0, 1} with p = 1/2, 0, 1/2
  }
  const double spread = std::pow(static_cast<double>(n) / 5, 1. / 3);
  for (int64_t d = 0; d < 3; ++d) {
    for (int64_t i = 0; i < n; ++i) {
      s.x[3 * i + d] = random.normal() * spread;
    }
  }
  for (int64_t d = 0; d < 3; ++d) {
    for (int64_t i = 0; i < n; ++i) {
      s.v[3 * i + d] = random.normal();
    }
  }
  for (int64_t i = 0; i < n; ++i) {
    double* v = &s.v[3 * i];
    const double norm = std::sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    for (int64_t d = 0; d < 3; ++d) {
      v[d] = v[d] * o.speed / norm;
      mirror(s.x[3 * i + d], v[d]);
    }
  }
  random.discard_normals(2 * frames_of(o) * 3 * n);
  return s;
}

void skip(NumpyRandom& random, const NbodyMakerOptions& o) {
  for (int64_t i = 0; i < o.particles; ++i) {
    random.uniform();
  }
  random.discard_normals(6 * o.particles + 2 * frames_of(o) * 3 * o.particles);
}

/// a (n, 3). Distances are |a|^2 + |b|^2 - 2 a.b and every pair is added in the order of its partner's
/// number, as in the original, so that smooth trajectories agree to rounding.
void accelerate(int64_t n, const double* x, const double* charges, double* squares, double* a) {
  for (int64_t i = 0; i < n; ++i) {
    const double* p = x + 3 * i;
    squares[i] = p[0] * p[0] + p[1] * p[1] + p[2] * p[2];
  }
  std::fill_n(a, 3 * n, 0.0);
  for (int64_t i = 0; i < n; ++i) {
    const double* p = x + 3 * i;
    double a0 = a[3 * i], a1 = a[3 * i + 1], a2 = a[3 * i + 2];
    for (int64_t j = i + 1; j < n; ++j) {
      const double* q = x + 3 * j;
      const double square = squares[i] + squares[j] - 2 * (p[0] * q[0] + p[1] * q[1] + p[2] * q[2]);
      const double size = charges[i] * charges[j] / (square * std::sqrt(square));
      const double f0 = size * (p[0] - q[0]), f1 = size * (p[1] - q[1]), f2 = size * (p[2] - q[2]);
      a0 += f0;
      a1 += f1;
      a2 += f2;
      a[3 * j] -= f0;
      a[3 * j + 1] -= f1;
      a[3 * j + 2] -= f2;
    }
    a[3 * i] = a0;
    a[3 * i + 1] = a1;
    a[3 * i + 2] = a2;
  }
  for (int64_t k = 0; k < 3 * n; ++k) {
    a[k] = a[k] > kLargestForce ? kLargestForce : a[k] < -kLargestForce ? -kLargestForce : a[k];
  }
}

/// Runs one simulation and stores its frames (F, n, 3).
void simulate(const Start& start, const NbodyMakerOptions& o, double* positions, double* velocities) {
  const int64_t n = o.particles;
  std::vector<double> x = start.x, v = start.v, a(3 * n), squares(n);
  accelerate(n, x.data(), start.charges.data(), squares.data(), a.data());
  for (int64_t k = 0; k < 3 * n; ++k) {
    v[k] += kNbodyTimeStep * a[k];
  }
  int64_t until_frame = o.every;
  for (int64_t step = 1; step < o.steps; ++step) {
    for (int64_t k = 0; k < 3 * n; ++k) {
      x[k] += kNbodyTimeStep * v[k];
    }
    if (--until_frame == 0) {
      positions = std::copy(x.begin(), x.end(), positions);
      velocities = std::copy(v.begin(), v.end(), velocities);
      until_frame = o.every;
    }
    accelerate(n, x.data(), start.charges.data(), squares.data(), a.data());
    for (int64_t k = 0; k < 3 * n; ++k) {
      v[k] += kNbodyTimeStep * a[k];
    }
  }
}

/// The simulations of some jobs, one after the other.
class Simulator {
 public:
  Simulator(const NbodyMakerOptions& options, std::span<NbodyJob> jobs)
      : o_(options), jobs_(jobs), random_(options.seed) {
    const int64_t frames = frames_of(o_), n = o_.particles;
    for (auto& job : jobs_) {
      total_ += job.count;
      job.result = {job.count,
                    frames,
                    n,
                    std::vector<double>(job.count * frames * n * 3),
                    std::vector<double>(job.count * frames * n * 3),
                    std::vector<double>(job.count * n)};
    }
  }

  int64_t total() const { return total_; }

  /// Makes the next simulation, whichever thread asks: it is drawn under the lock, for the stream is
  /// sequential.
  void next(const std::atomic<bool>& stopped) {
    std::unique_lock lock(mutex_);
    while (in_job_ == jobs_[job_].count) {
      ++job_;
      in_job_ = 0;
    }
    NbodyJob& job = jobs_[job_];
    const int64_t index = in_job_++;
    for (; drawn_ < job.first + index; ++drawn_) {
      if (stopped) {
        return;
      }
      skip(random_, o_);
    }
    const Start start = draw_start(random_, o_);
    ++drawn_;
    lock.unlock();
    NbodyTrajectories& r = job.result;
    const int64_t size = r.frames * r.particles * 3;
    std::copy(start.charges.begin(), start.charges.end(), r.charges.begin() + index * r.particles);
    simulate(start, o_, r.positions.data() + index * size, r.velocities.data() + index * size);
    for (int64_t k = index * size; k < (index + 1) * size; ++k) {
      require<DataError>(std::isfinite(r.positions[k]) && std::isfinite(r.velocities[k]),
                         "nbody: simulation ", job.first + index,
                         " is not finite: two particles met exactly");
    }
  }

 private:
  const NbodyMakerOptions& o_;
  std::span<NbodyJob> jobs_;
  std::mutex mutex_;
  NumpyRandom random_;
  size_t job_ = 0;
  int64_t in_job_ = 0, drawn_ = 0, total_ = 0;
};

}  // namespace

bool run_nbody(const NbodyMakerOptions& options, std::span<NbodyJob> jobs, const JobHooks& hooks) {
  Simulator simulator(options, jobs);
  return run_samples(simulator.total(), options.threads, hooks,
                     [&](int64_t, const auto& stopped) { simulator.next(stopped); });
}

}  // namespace weyl
