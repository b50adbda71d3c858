// Poses, as `weyl config new` sees them: sequences with a missing pose, and trajectories of which such are taken.
#include <ATen/TensorOperators.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <numeric>

#include "weyl/carriers/loader.h"
#include "weyl/core/check.h"
#include "weyl/core/quote.h"
#include "weyl/data/base/draft.h"
#include "weyl/data/base/open_request.h"
#include "weyl/data/poses/files.h"
#include "weyl/data/poses/pose_file.h"
#include "weyl/data/poses/pose_sequences.h"
#include "weyl/data/poses/sequence_gap.h"

namespace weyl {
namespace {

namespace fs = std::filesystem;

/// Whether there are sequences of which nothing is missing: without a token of flank 1.
bool holds_whole(const Dataset& train) {
  constexpr int64_t at_a_time = 1024;
  bool whole = false;
  for_each_chunk(train, at_a_time, [&](const Batch& batch) {
    const Tensor flank = batch.labels.at("flank").to(at::kCPU, at::kLong).contiguous();
    const auto* beside = flank.const_data_ptr<int64_t>();
    const auto& offsets = std::get<Poses>(batch.input).graphs.offsets;
    for (size_t s = 0; s + 1 < offsets.size(); ++s) {
      whole = whole || std::find(beside + offsets[s], beside + offsets[s + 1], 1) == beside + offsets[s + 1];
    }
  });
  return whole;
}

/// The distance of a token to its nearest neighbour, the median over those of the first samples, in two digits; 0: places are all the same, or the group has none.
double distance_of_neighbours(LieGroup group, const Dataset& train) {
  const int64_t d = dimension_of(group);
  if (matrix_size(group) == d) {
    return 0;
  }
  constexpr int64_t samples = 64;
  std::vector<int64_t> first(static_cast<size_t>(std::min(samples, train.size())));
  std::iota(first.begin(), first.end(), 0);
  const Batch batch = train.batch(first);
  const auto& poses = std::get<Poses>(batch.input);
  const Tensor places = poses.elements.select(2, d).slice(1, 0, d).to(at::kCPU, at::kDouble);
  std::vector<double> nearest;
  for (int64_t s = 0; s < poses.count(); ++s) {
    const Tensor x = places.slice(0, poses.graphs.offsets[s], poses.graphs.offsets[s + 1]);
    for (int64_t i = 0; i < x.size(0) && x.size(0) > 1; ++i) {
      Tensor square = (x - x[i]).square().sum(1);
      square[i] = std::numeric_limits<double>::infinity();
      nearest.push_back(std::sqrt(square.min().item<double>()));
    }
  }
  if (nearest.empty()) {
    return 0;
  }
  const auto middle = nearest.begin() + std::ssize(nearest) / 2;
  std::nth_element(nearest.begin(), middle, nearest.end());
  return two_digits(*middle);
}

FoundData completion(const PoseSequencesDataOptions& options, const Splits& splits) {
  FoundData found;
  found.family = FoundData::Family::poses;
  found.group = name_of(options.group);
  count_samples(found, splits, options.path);
  found.tasks = {{"completion", "sequences with a missing pose"}};
  found.write_task = [](ConfigDraft&, const std::string&, const std::string&) {};
  // Beside lengths of another order angles count for nothing, or for all.
  constexpr double most = 5, least = 1 / most;
  if (const double apart = distance_of_neighbours(options.group, *splits.train);
      apart > most || (apart > 0 && apart < least)) {
    found.write_model = [apart](ConfigDraft& draft, const FoundData&, const std::string& system) {
      if (system == "lie") {
        draft.table("model.lie");
        draft.set("length_scale", apart,
                  "how far neighbours are apart: the length that counts as much as one radian");
      }
    };
  }
  return found;
}

/// Windows of 8 poses where the last tenths of the trajectory hold one, else shorter ones and larger parts.
void cut_windows(PoseSequencesDataOptions& o, int64_t poses) {
  if (poses < 20) {
    o.fractions = {0.5, 0.5, 0};
    o.length = kLeastOfGap;
  } else if (poses < 80) {
    o.fractions = {0.6, 0.2, 0.2};
    o.length = std::clamp<int64_t>(poses / 5, kLeastOfGap, 8);
  }
  constexpr double windows = 2000;  // enough to learn from, where the trajectory is long
  o.stride = std::clamp<int64_t>(static_cast<int64_t>(static_cast<double>(poses) * o.fractions[0] / windows),
                                 1, o.length);
}

FoundData look_at_trajectory(const std::string& path) {
  const int64_t lines = read_poses(path, {}, RepeatedTimes::keep).size();
  const int64_t poses = read_poses(path, {}, RepeatedTimes::drop).size();
  require<ConfigError>(poses >= 2 * kLeastOfGap, path, ": must have at least ", 2 * kLeastOfGap,
                       " poses, a window of ", kLeastOfGap, " to train on and one to validate on, got ",
                       poses);
  PoseSequencesDataOptions options{.path = path, .group = LieGroup::se3};
  options.repeated = lines > poses ? RepeatedTimes::drop : RepeatedTimes::refuse;
  cut_windows(options, poses);
  const Splits splits = open_set(options);
  FoundData found = completion(options, splits);
  found.warnings = splits.train->schema().warnings;
  found.tasks.push_back({"pose_correction", "its own next poses", /*on_request=*/true});
  found.what = text("a trajectory of ", poses, " poses: ", found.samples, " windows of it for training");
  found.write_data = [options, twice = lines - poses](ConfigDraft& draft, const std::string& task,
                                                      const std::string&) {
    const bool gaps = task == "completion";
    write_set(draft, gaps ? "pose_sequences" : "pose_windows", options.path);
    draft.set("group", std::string(name_of(options.group)),
              "rigid motions in space; se2 of what moves on a plane, so3 of what turns alone");
    draft.set("length", options.length,
              gaps ? "poses of a window; the model sees all but one of them" : "poses of a window");
    if (!gaps) {
      draft.set("ahead", std::max<int64_t>(1, options.length / 3), "the last of them, which are asked for");
    }
    draft.set("stride", options.stride, "poses from one window to the next");
    draft.set("fractions", options.fractions,
              "of the trajectory, one stretch after the other: training, validation, test");
    if (twice > 0) {
      draft.set(
          "repeated", "drop",
          text(twice, " of its poses have the time of the one before and are left out; keep: they stay"));
    }
  };
  return found;
}

}  // namespace

FoundData draft_pose_sequences(const std::string& path, const Schema& schema) {
  require<ConfigError>(
      find_quantity(schema.labels, "element") != nullptr && find_quantity(schema.labels, "flank") != nullptr,
      path,
      ": the poses have no labels element and flank, the missing pose and its neighbours, which task completion learns");
  const PoseSequencesDataOptions options{.path = path, .group = *schema.interface.group};
  const Splits splits = open_set(options);
  FoundData found = completion(options, splits);
  const bool whole = holds_whole(*splits.train);
  found.what = text(found.samples, " training sequences of poses of ", name_of(options.group),
                    whole ? ", of some of which nothing is missing" : ", each with one missing");
  found.write_task = [whole](ConfigDraft& draft, const std::string& task, const std::string&) {
    if (whole && task == "completion") {
      draft.table("task.completion");
      draft.set("whole", true, "of some sequences nothing is missing, and the model says so");
    }
  };
  found.write_data = [options](ConfigDraft& draft, const std::string&, const std::string&) {
    write_set(draft, "pose_sequences", options.path);
    draft.set("group", std::string(name_of(options.group)), "as the files say");
  };
  return found;
}

FoundData PoseFiles::draft(const std::string& path) {
  return look_at_trajectory(fs::is_directory(path) ? trajectory_in(path) : path);
}

}  // namespace weyl
