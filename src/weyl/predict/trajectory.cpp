#include "weyl/predict/trajectory.h"

#include <ATen/ops/isfinite.h>
#include <ATen/ops/tensor.h>

#include <algorithm>
#include <cstdlib>
#include <span>
#include <vector>

#include "weyl/core/check.h"
#include "weyl/data/poses/asked_poses.h"
#include "weyl/data/poses/pose_file.h"

namespace weyl {
namespace {

/// The index that the missing pose gets, beside the token whose answer it is, that of the largest of the logits `gap` (N):
/// before or behind it, where the neighbour's logit is the larger one.
int64_t place_of(const Tensor& gap) {
  const Tensor logits = gap.to(at::kCPU, at::kDouble).reshape({-1}).contiguous();
  const std::span x(logits.const_data_ptr<double>(), logits.numel());
  const auto token = std::ranges::max_element(x) - x.begin(), last = std::ssize(x) - 1;
  const bool behind = token == 0 || (token < last && x[token + 1] > x[token - 1]);
  return token + (behind ? 1 : 0);
}

}  // namespace

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

}  // namespace

bool is_written_trajectory(std::string_view path) {
  return path.ends_with(".tum") || path.ends_with(".kitti");
}

FilledTrajectory predict_trajectory(const Predictor& predictor, const std::shared_ptr<const Dataset>& data,
                                    RepeatedTimes repeated, const std::string& path, const std::string& out,
                                    Existing existing, const PredictorCalls& calls) {
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
  Tensor element;
  bool done = false, missing = true;
  predictor.each(
      data, path,
      [&](const Batch& batch) {
        const Named predictions = predictor(batch.input);
        element = predictions.at("element").to(at::kCPU, at::kDouble).reshape({-1}).contiguous();
        require(element.numel() == 16 && at::isfinite(element).all().item<bool>(),
                "the missing pose must be finite, got NaN");
        filled.place = place_of(predictions.at("gap"));
        const auto odds = predictions.find("missing");
        missing = odds == predictions.end() || odds->second.item<double>() > 0;
        done = true;
      },
      calls);
  if (!done) {
    filled.stopped = true;
    return filled;
  }
  if (missing) {
    const auto* g = element.const_data_ptr<double>();
    const auto k = filled.place;
    found.matrices.insert(found.matrices.begin() + 16 * k, g, g + 16);
    if (tum) {
      found.stamps.insert(found.stamps.begin() + k,
                          stamp_between(found.stamps[k - 1], found.stamps[k], path));
    }
  } else {
    filled.place = -1;
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
