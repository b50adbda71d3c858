#include "weyl/makers/poses/pose_windows.h"

#include <array>
#include <cmath>
#include <functional>
#include <numbers>
#include <span>
#include <vector>

#include "weyl/algebra/lie/group.h"
#include "weyl/config/unused_options.h"
#include "weyl/core/check.h"
#include "weyl/core/safetensors.h"
#include "weyl/makers/poses/pose_sequences.h"
#include "weyl/makers/split_files.h"

namespace weyl {

void fields(Fields& f, PoseWindowsMakerOptions& o) {
  f("group", o.group, "the Lie group of the poses: so2, se2, so3 or se3");
  f("train", o.train, "training windows", {0, 1e8});
  f("valid", o.valid, "validation windows", {0, 1e8});
  f("test", o.test, "test windows", {0, 1e8});
  f("seed", o.seed, "of the streams of random numbers", {0, 9.2e18});
  f("length", o.length, "poses of a window, those that are asked for included", {2, 10000});
  f("ahead", o.ahead, "of them the last are asked for, from those before; 0: all are", {0, 10000});
  f("spread", o.spread, "standard deviation of the translation of the first pose", {0, 1e6});
  f("step", o.step, "standard deviation of the translation in a unit of time", {0, 1e6});
  f("noise", o.noise, "standard deviation of noise on the translations of the poses that are given",
    {0, 1e6});
  f("angle_noise", o.angle_noise, "the same of their rotations, in radians", {0, 3});
  f("threads", o.threads, "threads that make windows; 0: one per core", {0, 1024});
}

MakerPlan plan_of(const PoseWindowsMakerOptions& o) {
  return {.what = text("windows of ", name_of(o.group)),
          .counts = {{"train", o.train}, {"valid", o.valid}, {"test", o.test}},
          .make = std::bind_front(make_pose_windows, o)};
}

namespace {

constexpr int64_t kMotions = 3;

void require_pose_windows_options(const PoseWindowsMakerOptions& o) {
  require<ConfigError>(is_rigid(o.group),
                       "pose_windows: group must be so2, se2, so3 or se3, as bodies move, got ",
                       name_of(o.group));
  require<ConfigError>(o.ahead == 0 || o.length >= o.ahead + 2,
                       "pose_windows: length must be at least ahead + 2 = ", o.ahead + 2,
                       ", two poses to look ahead from, got ", o.length);
}

/// The velocity at a share s of the whole time.
class Velocity {
 public:
  Velocity(const Lie<double>& lie, double step, double bound, int64_t motion, Stream& stream)
      : a_(draw_step(lie, step, bound, stream)), c_(draw_step(lie, step, bound, stream)), motion_(motion) {
    b_ = 0.5 + stream.uniform();
    f_ = 1 + stream.uniform();
    q_ = stream.uniform();
  }
  std::vector<double> at(double s) const {
    std::vector<double> v = a_;
    for (size_t k = 0; k < v.size(); ++k) {
      v[k] += motion_ == 1   ? a_[k] * b_ * s
              : motion_ == 2 ? c_[k] * std::sin(2 * std::numbers::pi * (f_ * s + q_))
                             : 0;
    }
    return v;
  }

 private:
  std::vector<double> a_, c_;
  double b_ = 0, f_ = 0, q_ = 0;
  int64_t motion_;
};

void write_windows(const PoseWindowsMakerOptions& o, std::span<const PoseWindow> windows, const char* split,
                   const std::string& path) {
  const int64_t m = matrix_size(o.group), b = static_cast<int64_t>(windows.size()), n = b * o.length;
  std::vector<double> tokens, truth, scalars, speeds;
  std::vector<int64_t> offsets{0}, classes;
  for (const PoseWindow& w : windows) {
    tokens.insert(tokens.end(), w.poses.tokens.begin(), w.poses.tokens.end());
    truth.insert(truth.end(), w.poses.truth.begin(), w.poses.truth.end());
    for (size_t k = 0; k < w.poses.time.size(); ++k) {
      scalars.insert(scalars.end(), {w.poses.time[k], w.poses.asked[k]});
    }
    speeds.push_back(w.speed);
    classes.push_back(w.motion);
    offsets.push_back(offsets.back() + o.length);
  }
  const TensorBytes tensors[] = {{"elements", ElementType::f64, {n, m, m}, std::as_bytes(std::span(tokens))},
                                 {"offsets", ElementType::i64, {b + 1}, std::as_bytes(std::span(offsets))},
                                 {"scalars", ElementType::f64, {n, 2}, std::as_bytes(std::span(scalars))},
                                 {"pose", ElementType::f64, {n, m, m}, std::as_bytes(std::span(truth))},
                                 {"class", ElementType::i64, {b, 1}, std::as_bytes(std::span(classes))},
                                 {"speed", ElementType::f64, {b, 1}, std::as_bytes(std::span(speeds))}};
  write_safetensors(path, tensors,
                    {{"format", "weyl.tensors"},
                     {"group", std::string(name_of(o.group))},
                     {"maker", PoseWindowsMakerOptions::name_in_config},
                     {"maker_version", "1"},
                     {"split", split},
                     {"seed", std::to_string(o.seed)},
                     {"length", std::to_string(o.length)},
                     {"ahead", std::to_string(o.ahead)},
                     {"spread", text(o.spread)},
                     {"step", text(o.step)},
                     {"noise", text(o.noise)},
                     {"angle_noise", text(o.angle_noise)},
                     {"scalars", "time since the last pose that is given, asked"},
                     {"units", "translations and times in units of their own, rotations as matrices"}},
                    Existing::keep);
}

/// Of groups of rotations nothing is drawn by lengths.
void require_pose_windows_effects(const PoseWindowsMakerOptions& o) {
  const bool places = matrix_size(o.group) > dimension_of(o.group);
  const char* of_rotations = "of rotations, which have no places";
  const Conditional options[] = {
      {"spread", places, of_rotations}, {"step", places, of_rotations}, {"noise", places, of_rotations}};
  refuse_unused("pose_windows", o, PoseWindowsMakerOptions{}, options);
}

}  // namespace

PoseWindow make_pose_window(const PoseWindowsMakerOptions& o, std::string_view split, int64_t index) {
  require_pose_windows_options(o);
  const auto stream = [&](std::string_view what) {
    return Stream(static_cast<uint64_t>(o.seed), text("pose_windows ", split, " ", what),
                  {static_cast<uint64_t>(index)});
  };
  const Lie<double> lie(o.group);
  Stream motions = stream("motion"), times = stream("times"), noise = stream("noise");
  PoseWindow window;
  window.motion = motions.below(kMotions);
  std::vector<double> t{0};
  for (int64_t k = 1; k < o.length; ++k) {
    t.push_back(t.back() + 0.5 + times.uniform());
  }
  const double bound = std::numbers::pi / (4 * static_cast<double>(o.length));
  std::vector<double> g(compact_size(o.group)), factor(g), next(g);
  lie.random(motions, g, o.spread);
  const Velocity velocity(lie, o.step, bound, window.motion, motions);
  const auto m = static_cast<size_t>(matrix_size(o.group)), size = m * m;
  std::vector<double> poses, matrix(size);
  for (size_t k = 0; k < t.size(); ++k) {
    lie.to_matrix(g, matrix);
    poses.insert(poses.end(), matrix.begin(), matrix.end());
    if (k + 1 == t.size()) {
      break;
    }
    std::vector<double> w = velocity.at((t[k] + t[k + 1]) / (2 * t.back()));
    double square = 0;
    for (double& x : w) {
      square += x * x;
      x *= t[k + 1] - t[k];
    }
    window.speed += std::sqrt(square) / static_cast<double>(o.length - 1);
    lie.exp(w, factor);
    lie.compose(g, factor, next);
    lie.normalise(next);
    g = next;
  }
  window.poses = ask_poses(o.group, poses, t, o.ahead, {o.noise, o.angle_noise}, noise);
  return window;
}

bool make_pose_windows(const PoseWindowsMakerOptions& options, const std::string& folder,
                       const JobHooks& hooks) {
  require_pose_windows_options(options);
  require_pose_windows_effects(options);
  return make_split_files(
      PoseWindowsMakerOptions::name_in_config, {options.train, options.valid, options.test}, folder,
      options.threads, hooks,
      [&](const char* split, int64_t index) { return make_pose_window(options, split, index); },
      [&](const auto& samples, const char* split, const std::string& path) {
        write_windows(options, samples, split, path);
      });
}

}  // namespace weyl
