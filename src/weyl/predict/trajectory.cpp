#include "weyl/predict/trajectory.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/isfinite.h>
#include <ATen/ops/tensor.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

#include "weyl/core/check.h"
#include "weyl/data/poses/asked_poses.h"
#include "weyl/data/poses/pose_file.h"
#include "weyl/tasks/completion.h"

namespace weyl {
namespace {}  // namespace

PoseTrajectory trajectory_to_change(const std::string& path, const std::string& out, RepeatedTimes repeated) {
  require<ConfigError>(is_written_trajectory(out), out, ": a trajectory is written as .tum or .kitti");
  require<ConfigError>(
      is_pose_file(path), path,
      ": a trajectory is written of one of text (.txt, .csv, .tum, .kitti): give a .safetensors file");
  PoseTrajectory found = read_poses(path, {}, repeated);
  require<ConfigError>(!out.ends_with(".tum") || !found.stamps.empty(), path,
                       ": has no times, which TUM needs: give a .kitti file");
  return found;
}

namespace {

void write_trajectory(const PoseTrajectory& found, const std::string& out, Existing existing) {
  write_file_atomically(
      out,
      pose_text(out.ends_with(".tum") ? PoseFormat::tum : PoseFormat::kitti, found.matrices, found.stamps),
      existing);
}

/// Windows of tokens as a model of pose_correction takes them.
struct TokenWindows {
  std::vector<double> tokens, scalars;
  std::vector<int64_t> sizes;

  void add(const AskedPoses& window) {
    tokens.insert(tokens.end(), window.tokens.begin(), window.tokens.end());
    for (size_t k = 0; k < window.time.size(); ++k) {
      scalars.insert(scalars.end(), {window.time[k], window.asked[k]});
    }
    sizes.push_back(static_cast<int64_t>(window.time.size()));
  }
  Poses poses() const {
    return {LieGroup::se3, at::tensor(tokens, at::kDouble).view({-1, 4, 4}),
            at::tensor(scalars, at::kDouble).view({-1, 2}), Segments::of_sizes(sizes)};
  }
};

/// The predicted poses (N, 4, 4), on the CPU in float64.
Tensor poses_said(const Predictor& predictor, const TokenWindows& windows) {
  const Tensor said = predictor(Input(windows.poses())).at("pose").to(at::kCPU, at::kDouble).contiguous();
  require<DataError>(at::isfinite(said).all().item<bool>(), "predicted poses must be finite, got NaN");
  return said;
}

/// The poses that follow the last `given` ones.
void look_ahead(const Predictor& predictor, int64_t given, int64_t ahead, const std::vector<double>& times,
                PoseTrajectory& found) {
  const int64_t first = found.size() - given;
  std::vector<double> matrices(found.matrices.begin() + 16 * first, found.matrices.end()),
      at_times(times.begin() + first, times.end());
  const double interval = (at_times.back() - at_times.front()) / static_cast<double>(given - 1);
  const double last = at_times.back();
  for (int64_t k = 1; k <= ahead; ++k) {
    matrices.insert(matrices.end(), found.matrices.end() - 16, found.matrices.end());  // not looked at
    at_times.push_back(last + static_cast<double>(k) * interval);
  }
  Stream none(0, "no noise");
  TokenWindows window;
  window.add(ask_poses(LieGroup::se3, matrices, at_times, ahead, {}, none));
  const Tensor said = poses_said(predictor, window);
  const auto* g = said.const_data_ptr<double>() + 16 * given;
  found.matrices.insert(found.matrices.end(), g, g + 16 * ahead);
  if (!found.stamps.empty()) {
    // Of the stamps themselves: as seconds in float64 those of a clock have no more than a tenth of a microsecond.
    const std::vector<std::string> ends{found.stamps[first], found.stamps.back()};
    const std::vector<long double> seconds = seconds_of(ends);
    const long double step = (seconds[1] - seconds[0]) / static_cast<long double>(given - 1);
    for (int64_t k = 1; k <= ahead; ++k) {
      found.stamps.push_back(stamp_after(ends[1], static_cast<long double>(k) * step));
    }
  }
}

/// Replaces each pose. False: stopped.
bool denoise(const Predictor& predictor, int64_t length, const std::vector<double>& times,
             PoseTrajectory& found, const PredictorCalls& calls) {
  const int64_t poses = found.size(), n = std::min(length, poses), step = std::max<int64_t>(1, n / 4);
  std::vector<int64_t> starts;
  for (int64_t start = 0; start + n < poses; start += step) {
    starts.push_back(start);
  }
  starts.push_back(poses - n);
  const std::vector<double> given = found.matrices;
  std::vector<int64_t> off(poses,
                           2 * n);  // twice the distance from the middle of the window that a pose is from
  constexpr size_t at_once = 64;
  for (size_t begin = 0; begin < starts.size(); begin += at_once) {
    if (calls.stop && calls.stop()) {
      return false;
    }
    const auto some = std::span(starts).subspan(begin, std::min(at_once, starts.size() - begin));
    TokenWindows windows;
    Stream none(0, "no noise");
    for (const int64_t start : some) {
      windows.add(ask_poses(LieGroup::se3, std::span(given).subspan(16 * start, 16 * n),
                            std::span(times).subspan(start, n), 0, {}, none));
    }
    const Tensor said = poses_said(predictor, windows);
    const auto* g = said.const_data_ptr<double>();
    for (const int64_t start : some) {
      for (int64_t k = 0; k < n; ++k, g += 16) {
        if (const int64_t from_middle = std::abs(2 * k - (n - 1)); from_middle < off[start + k]) {
          off[start + k] = from_middle;
          std::copy_n(g, 16, found.matrices.begin() + 16 * (start + k));
        }
      }
    }
  }
  return true;
}

/// What windows of a trajectory say of its gap.
struct Gap {
  int64_t place = -1;           // the pose before which the missing one goes; -1: nothing is missing
  std::vector<double> element;  // (16)
  int64_t agree = 0, look = 0;  // of the windows with the poses on both sides of it those that put it there
};

/// Rows start .. start + n - 1 of each window, as samples of their own; a feature `time` begins at 0 in each.
Poses windows_of(const Poses& all, std::span<const int64_t> starts, int64_t n, bool timed) {
  std::vector<int64_t> rows, firsts;
  for (const int64_t start : starts) {
    for (int64_t k = 0; k < n; ++k) {
      rows.push_back(start + k);
      firsts.push_back(start);
    }
  }
  const auto taken = [](const Tensor& x, const std::vector<int64_t>& which) {
    return x.defined() ? at::index_select(x, 0, at::tensor(which, at::kLong)) : x;
  };
  Poses windows{all.group, taken(all.elements, rows), taken(all.scalars, rows),
                Segments::of_sizes(std::vector<int64_t>(starts.size(), n))};
  if (timed) {
    windows.scalars = windows.scalars - taken(all.scalars, firsts);
  }
  return windows;
}

/// The token before which the missing pose `element` (16) of a window goes, `poses` (n, 16), that of the token with the largest of the logits
/// `gap` (n): before or behind it, where its other neighbour is the nearer one, for the logits tell sides no more.
int64_t place_of(std::span<const double> gap, std::span<const double> element,
                 std::span<const double> poses) {
  const auto token = std::ranges::max_element(gap) - gap.begin(), last = std::ssize(gap) - 1;
  if (token == 0 || token == last) {
    return token == 0 ? 1 : last;
  }
  const auto matrix = [](std::span<const double> g, int64_t k) {
    const auto one = g.subspan(16 * k, 16);
    return at::tensor(c10::ArrayRef(one.data(), one.size()), at::kDouble).view({1, 4, 4});
  };
  const auto far = [&](int64_t k) {
    return pose_distances(LieGroup::se3, matrix(element, 0), matrix(poses, k)).squared.item<double>();
  };
  return far(token + 1) < far(token - 1) ? token + 1 : token;
}

/// Looks for the gap in all windows of `n` poses, of which every place between two poses but those at the ends has n - 1: each window
/// says a place, the surer the more probable its token is. The place that has most, their sum over one more than the windows that see it, is
/// the gap's, and the window in whose middle it is nearest says the pose. Nothing is missing where a model can say so and as many windows as not do.
/// Nothing: stopped.
std::optional<Gap> gap_in(const Predictor& predictor, const Poses& all, int64_t n,
                          const PredictorCalls& calls) {
  const int64_t poses = all.nodes(), count = poses - n + 1;
  const auto& features = predictor.interface().features;
  const bool timed = features.size() == 1 && features[0].name == "time";
  std::vector<double> sure(poses);
  std::vector<int64_t> agree(poses), place(count, -1);
  std::vector<std::vector<double>> elements(count);
  constexpr int64_t at_once = 256;
  for (int64_t first = 0; first < count; first += at_once) {
    if (calls.stop && calls.stop()) {
      return {};
    }
    std::vector<int64_t> starts(std::min(at_once, count - first));
    std::iota(starts.begin(), starts.end(), first);
    const Poses windows = windows_of(all, starts, n, timed);
    const Named said = predictor(Input(windows));
    const auto numbers = [](const Tensor& tensor) {
      const Tensor x = tensor.to(at::kCPU, at::kDouble).contiguous();
      return std::vector<double>(x.const_data_ptr<double>(), x.const_data_ptr<double>() + x.numel());
    };
    const std::vector<double> given = numbers(windows.elements), gap = numbers(said.at("gap")),
                              element = numbers(said.at("element")),
                              odds = said.contains("missing") ? numbers(said.at("missing"))
                                                              : std::vector<double>();
    for (const int64_t start : starts) {
      const size_t k = start - first;
      const auto of_window = std::span(gap).subspan(k * n, n);
      if (!odds.empty() && odds[k] <= 0) {
        continue;
      }
      const double most = *std::ranges::max_element(of_window);
      double all_tokens = odds.empty() ? 0 : std::exp(-most);  // "nothing" is one more choice, of logit 0
      for (const double x : of_window) {
        all_tokens += std::exp(x - most);
      }
      elements[start].assign(element.begin() + 16 * k, element.begin() + 16 * (k + 1));
      require<DataError>(std::ranges::all_of(elements[start], [](double x) { return std::isfinite(x); }),
                         "the missing pose must be finite, got NaN");
      place[start] =
          start + place_of(of_window, elements[start], std::span(given).subspan(16 * k * n, 16 * n));
      sure[place[start]] += 1 / all_tokens;
      ++agree[place[start]];
    }
  }
  const auto seen = [&](int64_t p) {
    return std::min(p - 1, count - 1) - std::max<int64_t>(p - n + 1, 0) + 1;
  };
  Gap best;
  double most = -1;
  for (int64_t p = 1; p < poses; ++p) {
    const double score = sure[p] / static_cast<double>(seen(p) + 1);
    if (score > most) {
      most = score;
      best = {.place = p, .element = {}, .agree = agree[p], .look = seen(p)};
    }
  }
  if (find_quantity(predictor.outputs(), "missing") != nullptr && 2 * best.agree <= best.look) {
    return Gap{};
  }
  int64_t nearest = std::numeric_limits<int64_t>::max();  // twice the distance from the middle of a window
  for (int64_t start = 0; start < count; ++start) {
    const int64_t off = std::abs(2 * (best.place - start) - n);
    if (place[start] == best.place && off < nearest) {
      nearest = off;
      best.element = elements[start];
    }
  }
  return best;
}

}  // namespace

bool is_written_trajectory(std::string_view path) {
  return path.ends_with(".tum") || path.ends_with(".kitti");
}

FilledTrajectory predict_trajectory(const Predictor& predictor, const std::shared_ptr<const Dataset>& data,
                                    int64_t window, RepeatedTimes repeated, const std::string& path,
                                    const std::string& out, Existing existing, const PredictorCalls& calls) {
  const auto gives = [&](const char* name) { return find_quantity(predictor.outputs(), name) != nullptr; };
  require<ConfigError>(
      gives("element") && gives("gap") && predictor.interface().group == LieGroup::se3,
      "a trajectory takes the missing pose of the task completion of se3 alone, this model gives others: "
      "give a .safetensors file");
  PoseTrajectory found = trajectory_to_change(path, out, repeated);
  const bool tum = out.ends_with(".tum");
  require<DataError>(found.size() >= 2, path,
                     ": must have at least 2 poses, between which one is missing, got ", found.size());
  FilledTrajectory filled;
  std::optional<Gap> gap;
  predictor.each(
      data, path,
      [&](const Batch& batch) {
        const auto& all = std::get<Poses>(batch.input);
        gap = gap_in(predictor, all, std::clamp<int64_t>(window, 2, all.nodes()), calls);
      },
      calls);
  if (!gap) {
    filled.stopped = true;
    return filled;
  }
  filled.place = gap->place;
  filled.agree = gap->agree;
  filled.look = gap->look;
  if (const int64_t k = gap->place; k >= 0) {
    found.matrices.insert(found.matrices.begin() + 16 * k, gap->element.begin(), gap->element.end());
    if (tum) {
      found.stamps.insert(found.stamps.begin() + k,
                          stamp_between(found.stamps[k - 1], found.stamps[k], path));
    }
  }
  write_trajectory(found, out, existing);
  filled.poses = found.size();
  return filled;
}

bool corrects_poses(const Predictor& predictor) {
  const Quantity* pose = find_quantity(predictor.outputs(), "pose");
  return pose != nullptr && pose->kind == Kind::element && pose->level == Level::node;
}

CorrectedTrajectory correct_trajectory(const Predictor& predictor, const PoseWindowsDataOptions& windows,
                                       PoseTrajectory found, const std::string& path, const std::string& out,
                                       Existing existing, const PredictorCalls& calls) {
  const auto& features = predictor.interface().features;
  require<ConfigError>(predictor.interface().group == LieGroup::se3, path,
                       ": trajectories are of se3, the model is of another group: give a .safetensors file");
  require<ConfigError>(
      features.size() == 2 && features[0].name == "time" && features[1].name == "asked", path,
      ": the model must read the features time and asked of a trajectory: give a .safetensors file");
  std::vector<double> times = found.times;
  for (int64_t k = 0; found.times.empty() && k < found.size(); ++k) {
    times.push_back(static_cast<double>(k));
  }
  CorrectedTrajectory done;
  if (windows.ahead > 0) {
    const int64_t given = std::min(windows.length - windows.ahead, found.size());
    require<DataError>(given >= 2, path,
                       ": must have two poses to look ahead from, and data.pose_windows.length be two more "
                       "than ahead, got ",
                       given);
    look_ahead(predictor, given, windows.ahead, times, found);
    done.ahead = windows.ahead;
  } else if (!denoise(predictor, windows.length, times, found, calls)) {
    done.stopped = true;
    return done;
  }
  write_trajectory(found, out, existing);
  done.poses = found.size();
  return done;
}

}  // namespace weyl
