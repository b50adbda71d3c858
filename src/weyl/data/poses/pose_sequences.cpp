#include "weyl/data/poses/pose_sequences.h"

#include <ATen/ops/index_select.h>
#include <ATen/ops/tensor.h>
#include <algorithm>
#include <filesystem>

#include "weyl/carriers/tensor_format.h"
#include "weyl/core/check.h"
#include "weyl/data/base/open_request.h"
#include "weyl/data/base/parts.h"
#include "weyl/data/base/tensor_splits.h"
#include "weyl/data/poses/sequence_gap.h"

namespace weyl {
namespace {

namespace fs = std::filesystem;

/// The poses of the samples: of windows all of them in their order, or with a hole the others in any order.
struct Windows {
  int64_t count = 0, tokens = 0;     // samples, and poses of each
  std::vector<int64_t> rows, flank;  // (count tokens) of the trajectory; 1 beside the hole
  std::vector<int64_t> holes;        // (count) of the trajectory; empty without

  /// The first so many alone.
  void keep(int64_t samples) {
    count = samples;
    rows.resize(samples * tokens);
    if (!holes.empty()) {
      flank.resize(samples * tokens);
      holes.resize(samples);
    }
  }
};

/// Of the poses first .. last - 1 of a trajectory.
Windows windows_of(int64_t first, int64_t last, const PoseFileOptions& o, const std::string& where) {
  const int64_t poses = last - first;
  require<ConfigError>(o.length <= poses, where, ": length must be at most its ", poses, " poses, got ",
                       o.length);
  require<ConfigError>(o.stride == 0 || o.length > 0, where, ": stride needs a length, got ", o.stride,
                       " alone");
  const int64_t length = o.length > 0 ? o.length : poses, stride = o.stride > 0 ? o.stride : length;
  require<ConfigError>(!o.hole || length >= kLeastOfGap, where, ": hole needs samples of at least ",
                       kLeastOfGap, " poses, got ", length);
  Windows windows;
  windows.tokens = o.hole ? length - 1 : length;
  for (int64_t start = first; start + length <= last; start += stride, ++windows.count) {
    if (!o.hole) {
      for (int64_t k = 0; k < length; ++k) {
        windows.rows.push_back(start + k);
      }
      continue;
    }
    Stream stream(static_cast<uint64_t>(o.seed), "pose_files gap", {static_cast<uint64_t>(start)});
    const SequenceGap gap = draw_gap(length, stream);
    for (const int64_t k : gap.tokens) {
      windows.rows.push_back(start + k);
    }
    windows.flank.insert(windows.flank.end(), gap.flank.begin(), gap.flank.end());
    windows.holes.push_back(start + gap.hole);
  }
  return windows;
}

/// Remembers what the file held: the matrices are of the group to rounding.
class Trajectory : public InMemory {
 public:
  Trajectory(Batch all, Schema schema, double mended)
      : InMemory(std::move(all), std::move(schema)), mended_(mended) {}
  double mended() const override { return mended_; }

 private:
  double mended_;
};

std::shared_ptr<const InMemory> as_poses(const PoseTrajectory& found, const Windows& windows,
                                         bool with_times) {
  const Tensor matrices = at::tensor(found.matrices, at::kDouble).view({found.size(), 4, 4});
  const Tensor rows = at::tensor(windows.rows, at::kLong);
  Schema schema;
  schema.interface.group = LieGroup::se3;
  schema.interface.length_unit = "m";
  schema.interface.typical_nodes = static_cast<double>(windows.tokens);
  Batch all;
  Poses poses{LieGroup::se3,
              at::index_select(matrices, 0, rows),
              {},
              Segments::of_sizes(std::vector<int64_t>(windows.count, windows.tokens))};
  if (!windows.holes.empty()) {
    schema.labels = declared_schema(PoseSequencesDataOptions{}).labels;
    all.labels["element"] = at::index_select(matrices, 0, at::tensor(windows.holes, at::kLong));
    all.labels["flank"] = at::tensor(windows.flank, at::kLong).unsqueeze(1);
  }
  if (with_times && !found.times.empty()) {
    schema.labels.push_back({.name = "time", .unit = "s"});
    all.labels["time"] = at::index_select(at::tensor(found.times, at::kDouble), 0, rows).unsqueeze(1);
  }
  all.input = std::move(poses);
  return std::make_shared<Trajectory>(std::move(all), std::move(schema), found.off_group);
}

}  // namespace

std::shared_ptr<const InMemory> open_pose_file(const std::string& path, const PoseFileOptions& options) {
  const PoseTrajectory found = read_poses(path, options.format);
  return as_poses(found, windows_of(0, found.size(), options, path), true);
}

Splits open_trajectory(const PoseSequencesDataOptions& o) {
  require<ConfigError>(o.group == LieGroup::se3, o.path,
                       ": data.pose_sequences.group must be \"se3\", the poses of a trajectory, got \"",
                       name_of(o.group), "\"");
  const PoseTrajectory found = read_poses(o.path);
  const PartCounts poses = part_counts(found.size(), o.fractions, {}, o.path + ": data.pose_sequences");
  const PoseFileOptions cut{.length = o.length, .stride = o.stride, .hole = true, .seed = o.seed};
  int64_t begin = 0;
  const auto part = [&](const char* split, int64_t count, int64_t asked) -> std::shared_ptr<const Dataset> {
    const int64_t first = begin;
    begin += count;
    if (count == 0) {
      return nullptr;
    }
    const std::string where = text(o.path, ": the ", split, " part");
    Windows windows = windows_of(first, begin, cut, where);
    require<DataError>(asked <= windows.count, where, ": data.pose_sequences.", split, " must be at most ",
                       windows.count, ", the samples there are (0: all), got ", asked);
    if (asked > 0) {
      windows.keep(asked);
    }
    return as_poses(found, windows, false);
  };
  auto train = part("train", poses.train, o.train);
  auto valid = part("valid", poses.valid, o.valid);
  auto test = part("test", poses.test, o.test);
  return {std::move(train), std::move(valid), std::move(test)};
}

void convert_pose_file(const std::string& in, const std::string& out, const PoseFileOptions& options) {
  const PoseTrajectory found = read_poses(in, options.format);
  const auto set = as_poses(found, windows_of(0, found.size(), options, in), true);
  std::map<std::string, std::string> metadata{
      {"converted_from", fs::path(in).filename().string()},
      {"source_format", std::string(pose_format_names[static_cast<int>(found.format)])},
      {"units", "lengths m, times s since the first pose"}};
  if (options.hole) {
    metadata["seed"] = std::to_string(options.seed);
  }
  if (!found.start.empty()) {
    metadata["first_timestamp"] = found.start;
  }
  write_tensor_file(out, set->all(), set->schema(), std::move(metadata), Existing::keep);
}

Schema declared_schema(const PoseSequencesDataOptions& options) {
  Schema schema;
  schema.interface.group = options.group;
  schema.interface.dimension = dimension_of(options.group);
  schema.interface.typical_nodes = 7;
  schema.labels = {{.name = "element", .level = Level::graph, .kind = Kind::element},
                   {.name = "flank", .kind = Kind::category}};
  return schema;
}

Splits open_set(const PoseSequencesDataOptions& options) {
  if (is_pose_file(options.path) && !std::filesystem::is_directory(options.path)) {
    return open_trajectory(options);
  }
  return open_tensor_splits({.path = options.path,
                             .key = "data.pose_sequences",
                             .make = text("`weyl data make pose_sequences --out ", options.path,
                                          " group=", name_of(options.group), "`"),
                             .wanted = declared_schema(options),
                             .train = options.train,
                             .valid = options.valid,
                             .test = options.test});
}

}  // namespace weyl
