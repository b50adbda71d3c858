#include "weyl/data/makers/nbody_simulation.h"

#include <algorithm>
#include <atomic>
#include <mutex>

#include "weyl/core/check.h"
#include "weyl/core/numpy_random.h"

namespace weyl {
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
