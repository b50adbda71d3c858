// Poses, as `weyl config new` sees them: sequences with a missing pose, and trajectories of which such are taken.
#include <algorithm>
#include <filesystem>
#include <ranges>

#include "weyl/app/new_config_data.h"
#include "weyl/app/shell_word.h"
#include "weyl/core/check.h"
#include "weyl/data/files/files_below.h"
#include "weyl/data/formats/pose_file.h"
#include "weyl/data/open.h"
#include "weyl/data/sets/sequence_gap.h"

namespace weyl {
namespace {

namespace fs = std::filesystem;

FoundData completion(const PoseSequencesDataOptions& options) {
  FoundData found;
  found.family = FoundData::Family::poses;
  count_samples(found, open_splits({options}), options.path);
  found.tasks = {{"completion", "sequences with a missing pose"}};
  found.write_task = [](ConfigDraft& draft, const std::string&, const std::string&) {
    draft.table("task.completion");
    draft.set("gap_weight", 1.0);
    draft.set("pose_weight", 1.0);
  };
  return found;
}

void write_set(ConfigDraft& draft, const PoseSequencesDataOptions& options, const char* why_group) {
  draft.table("data");
  draft.set("set", "pose_sequences");
  draft.table("data.pose_sequences");
  draft.set("path", options.path);
  draft.set("group", std::string(name_of(options.group)), why_group);
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

/// The first trajectories below a folder, by path, at most two; few folders deep, as sequences of EuRoC lie in theirs.
std::vector<std::string> trajectories_in(const std::string& folder) {
  constexpr size_t most_tried = 100;
  constexpr uintmax_t largest = uintmax_t{1} << 28;
  const std::vector<std::string> files = files_below(folder, [](const std::string& path) {
    std::error_code error;
    return is_pose_file(path) && fs::file_size(path, error) <= largest;
  });
  std::vector<std::string> found;
  for (const std::string& file : files | std::views::take(most_tried)) {
    try {
      read_poses(file);
      found.push_back(file);
    } catch (const DataError&) {  // of another kind
    }
    if (found.size() == 2) {
      break;
    }
  }
  return found;
}

}  // namespace

FoundData look_at_pose_sequences(const std::string& path, const Schema& schema) {
  require<ConfigError>(
      find_quantity(schema.labels, "element") != nullptr && find_quantity(schema.labels, "flank") != nullptr,
      path,
      ": the poses have no labels element and flank, the missing pose and its neighbours, which task "
      "completion, the only one of poses, learns; give the trajectory itself: a missing pose is taken out of "
      "each of its windows");
  const PoseSequencesDataOptions options{.path = path, .group = *schema.interface.group};
  FoundData found = completion(options);
  found.what = text(found.samples, " training sequences of poses of ", name_of(options.group),
                    ", each with one missing");
  found.write_data = [options](ConfigDraft& draft, const std::string&, const std::string&) {
    write_set(draft, options, "as the files say");
  };
  return found;
}

FoundData look_at_trajectory(const std::string& path) {
  const int64_t poses = read_poses(path).size();
  require<ConfigError>(poses >= 2 * kLeastOfGap, path, ": must have at least ", 2 * kLeastOfGap,
                       " poses, a window of ", kLeastOfGap, " to train on and one to validate on, got ",
                       poses);
  PoseSequencesDataOptions options{.path = path, .group = LieGroup::se3};
  cut_windows(options, poses);
  FoundData found = completion(options);
  found.what = text("a trajectory of ", poses, " poses: ", found.samples,
                    " windows of it for training, each with one pose missing");
  found.write_data = [options](ConfigDraft& draft, const std::string&, const std::string&) {
    write_set(draft, options, "rigid motions in space");
    draft.set("length", options.length, "poses of a window; the model sees all but one of them");
    draft.set("stride", options.stride, "poses from one window to the next");
    draft.set("fractions", options.fractions,
              "of the trajectory, one stretch after the other: training, validation, test");
  };
  return found;
}

FoundData look_at_trajectories(const std::string& path) {
  const std::vector<std::string> found = trajectories_in(path);
  require<ConfigError>(found.size() <= 1, path,
                       ": holds several trajectories, of which a config takes one: `weyl config new --data ",
                       found.empty() ? "" : shell_word(found.front()), "`");
  return found.empty() ? FoundData() : look_at_trajectory(found.front());
}

}  // namespace weyl
