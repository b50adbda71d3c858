#include "weyl/data/poses/trajectory_errors.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <span>
#include <utility>
#include <vector>

#include "weyl/algebra/lattice/vector3.h"
#include "weyl/algebra/lie/kabsch.h"
#include "weyl/core/check.h"

namespace weyl {
namespace {

using Rotation = std::array<Vector3, 3>;  // rows

/// A pose x -> R x + t.
struct Rigid {
  Rotation r{};
  Vector3 t{};
};

Rigid rigid_at(const PoseTrajectory& poses, int64_t index) {
  const double* g = poses.matrices.data() + 16 * index;
  Rigid pose;
  for (size_t i = 0; i < 3; ++i) {
    pose.r[i] = {g[4 * i], g[4 * i + 1], g[4 * i + 2]};
    pose.t[i] = g[4 * i + 3];
  }
  return pose;
}

Vector3 column(const Rotation& r, size_t k) {
  return {r[0][k], r[1][k], r[2][k]};
}

Vector3 times(const Rotation& r, const Vector3& x) {
  return {dot(r[0], x), dot(r[1], x), dot(r[2], x)};
}

/// a^-1 b
Rigid rigid_between(const Rigid& a, const Rigid& b) {
  Rigid e;
  for (size_t i = 0; i < 3; ++i) {
    const Vector3 row = column(a.r, i);  // of R_a^T
    e.r[i] = {dot(row, column(b.r, 0)), dot(row, column(b.r, 1)), dot(row, column(b.r, 2))};
    e.t[i] = dot(row, Vector3{b.t[0] - a.t[0], b.t[1] - a.t[1], b.t[2] - a.t[2]});
  }
  return e;
}

/// In degrees, 0 .. 180; by sine and cosine, so that no digit is lost at either end.
double angle_of(const Rotation& r) {
  const double sine = std::hypot(r[2][1] - r[1][2], r[0][2] - r[2][0], r[1][0] - r[0][1]) / 2,
               cosine = (r[0][0] + r[1][1] + r[2][2] - 1) / 2;
  return std::atan2(sine, cosine) * 180 / std::numbers::pi;
}

class MeanSquares {
 public:
  void add(const Rigid& e) {
    const double angle = angle_of(e.r);
    translation_ += dot(e.t, e.t);
    angle_ += angle * angle;
    ++count_;
  }
  PoseErrors roots() const {
    const auto n = static_cast<double>(count_);
    return {std::sqrt(translation_ / n), std::sqrt(angle_ / n)};
  }

 private:
  double translation_ = 0, angle_ = 0;
  int64_t count_ = 0;
};

using Pairs = std::vector<std::pair<Rigid, Rigid>>;  // true and estimated

/// The index of the nearest of increasing times, the first among equals.
size_t nearest(const std::vector<double>& times, double t) {
  const auto after = std::ranges::lower_bound(times, t);
  if (after == times.begin()) {
    return 0;
  }
  const auto before = std::ranges::lower_bound(times, *(after - 1));
  return (after == times.end() || t - *before <= *after - t ? before : after) - times.begin();
}

/// Timestamps in float64, in which evo subtracts them: so differences that are equal in decimals are told apart alike.
std::vector<double> stamps64(const PoseTrajectory& poses) {
  const std::vector<long double> exact = seconds_of(poses.stamps);
  return {exact.begin(), exact.end()};
}

Pairs pairs_of(const PoseTrajectory& truth, const PoseTrajectory& estimate, const std::string& name_of_truth,
               const std::string& name_of_estimate) {
  Pairs pairs;
  if (truth.stamps.empty() || estimate.stamps.empty()) {
    require<DataError>(truth.size() == estimate.size(), name_of_estimate,
                       ": without times must have as many poses as ", name_of_truth, ", ", truth.size(),
                       ", got ", estimate.size());
    for (int64_t k = 0; k < truth.size(); ++k) {
      pairs.emplace_back(rigid_at(truth, k), rigid_at(estimate, k));
    }
    return pairs;
  }
  const auto of_truth = stamps64(truth), of_estimate = stamps64(estimate);
  const bool by_truth = truth.size() < estimate.size();
  const auto &few = by_truth ? of_truth : of_estimate, &many = by_truth ? of_estimate : of_truth;
  for (size_t k = 0; k < few.size(); ++k) {
    const size_t other = nearest(many, few[k]);
    if (std::abs(many[other] - few[k]) <= kSameTime) {
      pairs.emplace_back(rigid_at(truth, static_cast<int64_t>(by_truth ? k : other)),
                         rigid_at(estimate, static_cast<int64_t>(by_truth ? other : k)));
    }
  }
  require<DataError>(!pairs.empty(), name_of_estimate, ": must have poses within ", kSameTime,
                     " s of those of ", name_of_truth, ", has none");
  return pairs;
}

PoseErrors absolute(const Pairs& pairs) {
  MeanSquares squares;
  for (const auto& [q, p] : pairs) {
    squares.add(rigid_between(q, p));
  }
  return squares.roots();
}

/// Whether places are not all on one line: of the sum of x x^T some minor of two rows is not zero.
bool span_a_plane(std::span<const Vector3> places) {
  const Vector3 mean = mean_of(places);
  Vector3 longest{};
  for (const Vector3& x : places) {
    const Vector3 from{x[0] - mean[0], x[1] - mean[1], x[2] - mean[2]};
    longest = dot(from, from) > dot(longest, longest) ? from : longest;
  }
  constexpr double least = 1e-9;  // of the extent: what is off the line by less is rounding
  return std::ranges::any_of(places, [&](const Vector3& x) {
    const Vector3 off = cross(longest, Vector3{x[0] - mean[0], x[1] - mean[1], x[2] - mean[2]});
    return std::sqrt(dot(off, off)) > least * dot(longest, longest);
  });
}

/// x -> c R x + t of the estimate, whose rotations turn with it.
Pairs aligned(const Pairs& pairs, double c, const Rotation& r, const Vector3& t) {
  Pairs result = pairs;
  for (auto& [q, p] : result) {
    const Rigid before = p;
    const Vector3 turned = times(r, before.t);
    for (size_t i = 0; i < 3; ++i) {
      p.t[i] = c * turned[i] + t[i];
      for (size_t k = 0; k < 3; ++k) {
        p.r[i][k] = dot(r[i], column(before.r, k));
      }
    }
  }
  return result;
}

void align(TrajectoryErrors& found, const Pairs& pairs) {
  std::vector<Vector3> from, to;
  for (const auto& [q, p] : pairs) {
    from.push_back(p.t);
    to.push_back(q.t);
  }
  if (!span_a_plane(from) || !span_a_plane(to)) {
    return;
  }
  const RigidFit fit = kabsch(from, to);
  found.ape_se3 = absolute(aligned(pairs, 1, fit.rotation, fit.translation));
  const Vector3 a = mean_of(from), b = mean_of(to);
  double along = 0, square = 0;
  for (size_t k = 0; k < from.size(); ++k) {
    const Vector3 x{from[k][0] - a[0], from[k][1] - a[1], from[k][2] - a[2]},
        y{to[k][0] - b[0], to[k][1] - b[1], to[k][2] - b[2]};
    along += dot(y, times(fit.rotation, x));
    square += dot(x, x);
  }
  found.scale = along / square;
  const Vector3 mean = times(fit.rotation, a);
  found.ape_sim3 = absolute(
      aligned(pairs, found.scale, fit.rotation,
              {b[0] - found.scale * mean[0], b[1] - found.scale * mean[1], b[2] - found.scale * mean[2]}));
}

}  // namespace

TrajectoryErrors trajectory_errors(const PoseTrajectory& truth, const PoseTrajectory& estimate,
                                   const std::string& name_of_truth, const std::string& name_of_estimate) {
  const Pairs pairs = pairs_of(truth, estimate, name_of_truth, name_of_estimate);
  TrajectoryErrors found;
  found.pairs = static_cast<int64_t>(pairs.size());
  found.ape = absolute(pairs);
  align(found, pairs);
  MeanSquares drift;
  for (size_t k = 0; k + 1 < pairs.size(); ++k) {
    const auto& [q, p] = pairs[k];
    const auto& [q1, p1] = pairs[k + 1];
    drift.add(rigid_between(rigid_between(q, q1), rigid_between(p, p1)));
  }
  if (pairs.size() > 1) {
    found.rpe = drift.roots();
  }
  return found;
}

}  // namespace weyl
