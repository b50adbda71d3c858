#include "weyl/data/sets/pose_files.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/tensor.h>

#include <filesystem>

#include "weyl/core/check.h"
#include "weyl/data/tensor_format.h"

namespace weyl {
namespace {

/// The first rows of the windows of a trajectory, and their length.
struct Windows {
  std::vector<int64_t> starts;
  int64_t length = 0;

  /// (n, ...) -> the rows of all windows.
  Tensor rows(const Tensor& all) const {
    std::vector<Tensor> parts;
    for (const int64_t start : starts) {
      parts.push_back(all.slice(0, start, start + length));
    }
    return at::cat(parts, 0);
  }
};

Windows windows_of(int64_t poses, const PoseFileOptions& o, const std::string& where) {
  require<ConfigError>(o.length <= poses, where, ": length must be at most its ", poses, " poses, got ",
                       o.length);
  require<ConfigError>(o.stride == 0 || o.length > 0, where, ": stride needs a length, got ", o.stride,
                       " alone");
  Windows windows;
  windows.length = o.length > 0 ? o.length : poses;
  const int64_t stride = o.stride > 0 ? o.stride : windows.length;
  for (int64_t start = 0; start + windows.length <= poses; start += stride) {
    windows.starts.push_back(start);
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

std::shared_ptr<const InMemory> as_poses(const PoseTrajectory& found, const PoseFileOptions& options,
                                         const std::string& where) {
  const Windows windows = windows_of(found.size(), options, where);
  const auto count = static_cast<int64_t>(windows.starts.size());
  Schema schema;
  schema.carrier = Carrier::poses;
  schema.interface.group = LieGroup::se3;
  schema.length_unit = "m";
  schema.interface.typical_nodes = static_cast<double>(windows.length);
  Batch all;
  Poses poses{LieGroup::se3,
              windows.rows(at::tensor(found.matrices, at::kDouble).view({found.size(), 4, 4})),
              {},
              Segments::of_sizes(std::vector<int64_t>(count, windows.length))};
  if (!found.times.empty()) {
    schema.labels = {{.name = "time", .unit = "s"}};
    all.labels["time"] = windows.rows(at::tensor(found.times, at::kDouble).unsqueeze(1));
  }
  all.input = std::move(poses);
  return std::make_shared<Trajectory>(std::move(all), std::move(schema), found.off_group);
}

}  // namespace

std::shared_ptr<const InMemory> open_pose_file(const std::string& path, const PoseFileOptions& options) {
  return as_poses(read_poses(path, options.format), options, path);
}

void convert_pose_file(const std::string& in, const std::string& out, const PoseFileOptions& options) {
  const PoseTrajectory found = read_poses(in, options.format);
  const auto set = as_poses(found, options, in);
  std::map<std::string, std::string> metadata{
      {"converted_from", std::filesystem::path(in).filename().string()},
      {"source_format", std::string(pose_format_names[static_cast<int>(found.format)])},
      {"units", "lengths m, times s since the first pose"}};
  if (!found.start.empty()) {
    metadata["first_timestamp"] = found.start;
  }
  write_tensor_file(out, set->all(), set->schema(), std::move(metadata));
}

}  // namespace weyl
