#include "weyl/data/poses/asked_poses.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "weyl/algebra/lie/group.h"
#include "weyl/core/check.h"

namespace weyl {
namespace {

using Element = std::vector<double>;  // in compact storage

Element element_at(const Lie<double>& lie, std::span<const double> matrices, size_t index) {
  const size_t size = matrix_size(lie.group) * matrix_size(lie.group);
  Element g(compact_size(lie.group));
  lie.from_matrix(matrices.subspan(index * size, size), g);
  return g;
}

/// g exp(w)
Element moved_by(const Lie<double>& lie, const Element& g, const Element& w) {
  Element factor(g.size()), result(g.size());
  lie.exp(w, factor);
  lie.compose(g, factor, result);
  lie.normalise(result);
  return result;
}

Element draw_noise(const Lie<double>& lie, const PoseNoise& noise, Stream& stream) {
  Element e(degrees_of_freedom(lie.group));
  for (const LieBlock& block : blocks_of(lie.group)) {
    for (int k = 0; k < block.size; ++k) {
      e[block.begin + k] =
          (block.part == LiePart::translation ? noise.length : noise.angle) * stream.normal();
    }
  }
  return e;
}

void append_matrix(const Lie<double>& lie, const Element& g, std::vector<double>& matrices) {
  std::vector<double> matrix(matrix_size(lie.group) * matrix_size(lie.group));
  lie.to_matrix(g, matrix);
  matrices.insert(matrices.end(), matrix.begin(), matrix.end());
}

}  // namespace

AskedPoses ask_poses(LieGroup group, std::span<const double> poses, std::span<const double> times,
                     int64_t ahead, const PoseNoise& noise, Stream& stream) {
  const size_t size = matrix_size(group) * matrix_size(group), n = times.size();
  require(poses.size() == n * size, "ask_poses: must have a matrix for each of ", n, " times, got ",
          poses.size(), " numbers");
  const auto given = static_cast<int64_t>(n) - ahead;
  require(ahead >= 0 && (ahead == 0 || given >= 2), "ask_poses: must have two poses to look ahead from, got ",
          given);
  const Lie<double> lie(group);
  AskedPoses window;
  window.truth.assign(poses.begin(), poses.end());
  const bool noisy = noise.length > 0 || noise.angle > 0;
  Element last, before;
  for (size_t k = 0; k < static_cast<size_t>(given); ++k) {
    Element g = element_at(lie, poses, k);
    g = noisy ? moved_by(lie, g, draw_noise(lie, noise, stream)) : g;
    append_matrix(lie, g, window.tokens);
    before = std::exchange(last, g);
  }
  const auto end = static_cast<size_t>(given);
  if (ahead > 0) {
    Element step(last.size()), v(degrees_of_freedom(group));
    lie.between(before, last, step);
    const double interval = times[end - 1] - times[end - 2];
    if (interval > 0) {
      lie.log(step, v);  // 0 outside an affine chart
    }
    for (size_t k = end; k < n; ++k) {
      Element w = v;
      std::ranges::for_each(
          w, [&](double& x) { x *= interval > 0 ? (times[k] - times[end - 1]) / interval : 0; });
      append_matrix(lie, moved_by(lie, last, w), window.tokens);
    }
  }
  for (size_t k = 0; k < n; ++k) {
    window.time.push_back(times[k] - times[end - 1]);
    window.asked.push_back(ahead == 0 || k >= end ? 1 : 0);
  }
  return window;
}

PosesInGroup poses_in(const PoseTrajectory& trajectory, LieGroup group, Axis up, const std::string& where) {
  require<ConfigError>(is_rigid(group), where,
                       ": group must be so2, se2, so3 or se3, of which a trajectory's poses are, got ",
                       name_of(group));
  if (group == LieGroup::se3) {
    return {trajectory.matrices, 0};
  }
  PosesInGroup result;
  const auto z = static_cast<size_t>(up);
  const size_t x = (z + 1) % 3, y = (z + 2) % 3;
  for (int64_t p = 0; p < trajectory.size(); ++p) {
    const double* g = trajectory.matrices.data() + 16 * p;
    const auto entry = [&](size_t i, size_t j) { return g[4 * i + j]; };
    if (group == LieGroup::so3) {
      for (size_t i = 0; i < 3; ++i) {
        result.matrices.insert(result.matrices.end(), {entry(i, 0), entry(i, 1), entry(i, 2)});
      }
      continue;
    }
    const double upright = entry(z, z);  // the cosine of the tilt
    require<DataError>(upright > 1e-6, where, ": pose ", p,
                       " must be less than a quarter turn from upright (", axis_names[z],
                       ") to have a heading, is tilted by ", std::acos(std::clamp(upright, -1.0, 1.0)),
                       " rad");
    result.tilt = std::max(result.tilt, std::acos(std::min(upright, 1.0)));
    // The nearest rotation of the plane: the trace of Q^T A is greatest.
    const double c = entry(x, x) + entry(y, y), s = entry(y, x) - entry(x, y), norm = std::hypot(c, s);
    if (group == LieGroup::so2) {
      result.matrices.insert(result.matrices.end(), {c / norm, -s / norm, s / norm, c / norm});
    } else {
      result.matrices.insert(result.matrices.end(),
                             {c / norm, -s / norm, entry(x, 3), s / norm, c / norm, entry(y, 3), 0, 0, 1});
    }
  }
  return result;
}

}  // namespace weyl
