// Trajectories of a rigid body as one of the file formats.
#include "weyl/data/poses/files.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <ranges>

#include "weyl/algebra/lie/group_numbers.h"
#include "weyl/core/check.h"
#include "weyl/core/quote.h"
#include "weyl/data/base/files_below.h"
#include "weyl/data/base/open_request.h"
#include "weyl/data/poses/pose_file.h"
#include "weyl/data/poses/pose_sequences.h"

namespace weyl {
namespace {

namespace fs = std::filesystem;

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
      read_poses(file, {}, RepeatedTimes::keep);
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

std::string trajectory_in(const std::string& folder) {
  const std::vector<std::string> found = trajectories_in(folder);
  require<ConfigError>(found.size() <= 1, folder,
                       ": holds several trajectories, of which a config takes one: `weyl config new --data ",
                       found.empty() ? "" : shell_word(found.front()), "`");
  return found.empty() ? "" : found.front();
}

bool PoseFiles::takes(const std::string& path, AskedSet) {
  return is_pose_file(path) && !fs::is_directory(path) &&
         (!fs::is_regular_file(path) || other_table(path).empty());
}

bool PoseFiles::lays_out(const std::string& folder) {
  return !trajectories_in(folder).empty();
}

NamedSets PoseFiles::sets(const std::string& folder) {
  const std::vector<std::string> found = trajectories_in(folder);
  require<DataError>(found.size() == 1, folder, ": holds several trajectories, each of which is a data set");
  return {{"", open_pose_file(found.front())}};
}

std::shared_ptr<const Dataset> PoseFiles::open(const OpenRequest& request) {
  const auto* windows = request.asked.get_if<PoseWindowsDataOptions>();
  const auto* sequences = request.asked.get_if<PoseSequencesDataOptions>();
  const LieGroup group = windows != nullptr     ? windows->group
                         : sequences != nullptr ? sequences->group
                                                : LieGroup::se3;
  const std::optional<LieGroup> taken = request.interface != nullptr ? request.interface->group : group;
  require<DataError>(is_rigid(group) && taken == group, request.path,
                     ": holds poses of se3, the model takes ", taken ? name_of(*taken) : "none");
  std::shared_ptr<const Dataset> set;
  if (windows != nullptr) {
    set = open_windows(request.path, *windows);
  } else {
    PoseFileOptions options;
    options.group = group;
    if (sequences != nullptr) {
      options.up = sequences->up;
      options.repeated = sequences->repeated;
      options.times = sequences->times;
    }
    set = open_pose_file(request.path, options);
  }
  require_features(request, set->schema());
  return set;
}

bool PoseFiles::converts(const std::string& in, const std::string& out, const OptionTexts& options) {
  const bool said = std::ranges::any_of(options, [](const auto& o) { return o.starts_with("format="); });
  return out.ends_with(".safetensors") && (is_pose_file(in) || said) && !fs::is_directory(in);
}

Converted PoseFiles::convert(const std::string& in, const std::string& out, const PoseFileOptions& options) {
  require_new(out);
  return {{out}, {}, convert_pose_file(in, out, options)};
}

}  // namespace weyl
