#include "weyl/data/poses/pose_sequences.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/repeat_interleave.h>
#include <ATen/ops/tensor.h>
#include <algorithm>
#include <filesystem>
#include <numeric>
#include <span>

#include "weyl/carriers/tensor_format.h"
#include "weyl/core/check.h"
#include "weyl/data/base/open_request.h"
#include "weyl/data/base/parts.h"
#include "weyl/data/base/tensor_splits.h"
#include "weyl/data/poses/asked_poses.h"
#include "weyl/data/poses/sequence_gap.h"

namespace weyl {
namespace {

namespace fs = std::filesystem;

/// What is asked of each sample.
enum class Question { nothing, hole, poses };

Question question_of(const PoseFileOptions& o, const std::string& where) {
  const bool poses = o.ahead > 0 || o.noise > 0 || o.angle_noise > 0;
  require<ConfigError>(!(o.hole && poses), where,
                       ": hole asks for another pose than ahead and noise do; take one of them");
  require<ConfigError>(o.hole || o.whole == 0, where, ": whole goes with hole, which asks what is missing");
  require<ConfigError>(o.hole || !o.times || (o.length == 0 && !poses), where,
                       ": times goes with hole, or with the whole trajectory as one sample; with ahead or "
                       "noise the poses have a time anyway");
  return o.hole ? Question::hole : poses ? Question::poses : Question::nothing;
}

/// The poses of the samples: of windows all of them in their order, or with a hole the others in any order.
struct Windows {
  int64_t count = 0, tokens = 0;     // samples, and poses of each
  std::vector<int64_t> rows, flank;  // (count tokens) of the trajectory; 1 beside the hole
  std::vector<int64_t> starts;       // (count) the first pose of the trajectory
  std::vector<int64_t> holes;        // (count) of the trajectory; empty without

  /// The first so many alone.
  void keep(int64_t samples) {
    count = samples;
    rows.resize(samples * tokens);
    starts.resize(samples);
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
  require<ConfigError>(o.ahead == 0 || length >= o.ahead + 2, where, ": ahead = ", o.ahead,
                       " needs samples of at least ", o.ahead + 2, " poses, two to look ahead from, got ",
                       length);
  Windows windows;
  windows.tokens = o.hole ? length - 1 : length;
  for (int64_t start = first; start + length <= last; start += stride, ++windows.count) {
    windows.starts.push_back(start);
    if (!o.hole) {
      for (int64_t k = 0; k < length; ++k) {
        windows.rows.push_back(start + k);
      }
      continue;
    }
    Stream stream(static_cast<uint64_t>(o.seed), "pose_files gap", {static_cast<uint64_t>(start)});
    const SequenceGap gap = draw_gap(length, stream, o.whole);
    for (const int64_t k : gap.tokens) {
      windows.rows.push_back(start + k);
    }
    windows.flank.insert(windows.flank.end(), gap.flank.begin(), gap.flank.end());
    windows.holes.push_back(start + gap.hole);
  }
  return windows;
}

/// A trajectory as it is read: of a group, with a time of each pose, seconds or, where there are none, their numbers.
struct TimedPoses {
  PosesInGroup poses;
  LieGroup group;
  std::vector<double> times;
  bool in_seconds = false;
  Interface units;
  double off_group = 0;
  std::vector<std::string> warnings;

  /// Numbers as matrices of the group, (n, m, m).
  Tensor as_matrices(const std::vector<double>& numbers) const {
    const int64_t m = matrix_size(group);
    return at::tensor(numbers, at::kDouble).view({-1, m, m});
  }
};

TimedPoses timed_poses(const PoseTrajectory& found, const PoseFileOptions& o, const std::string& where) {
  TimedPoses timed{poses_in(found, o.group, o.up, where),
                   o.group,
                   found.times,
                   !found.times.empty(),
                   units_of(found),
                   found.off_group,
                   found.warnings};
  for (int64_t k = 0; !timed.in_seconds && k < found.size(); ++k) {
    timed.times.push_back(static_cast<double>(k));
  }
  constexpr double kTilted = 0.1;  // radians: more than a vehicle on a slope
  if (timed.poses.tilt > kTilted) {
    timed.warnings.push_back(text(where, ": poses are tilted by up to ", timed.poses.tilt, " rad from ",
                                  axis_names[static_cast<size_t>(o.up)], ", of which ", name_of(o.group),
                                  " keeps nothing"));
  }
  return timed;
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

Tensor column_of(const std::vector<double>& values) {
  return at::tensor(values, at::kDouble).unsqueeze(1);
}

std::vector<Quantity> features_of_windows(const Quantity& time) {
  return {time, {.name = "asked"}};
}
const Quantity label_of_windows{.name = "pose", .kind = Kind::element};

/// The samples of windows whose poses are asked for (poses/asked_poses.h).
void ask(const TimedPoses& timed, const Windows& windows, const PoseFileOptions& o, Batch& all,
         Schema& schema) {
  const size_t m = matrix_size(timed.group), size = m * m, n = windows.tokens;
  AskedPoses every;
  for (const int64_t start : windows.starts) {
    Stream stream(static_cast<uint64_t>(o.seed), "pose_files noise", {static_cast<uint64_t>(start)});
    const auto first = static_cast<size_t>(start);
    const AskedPoses one =
        ask_poses(timed.group, std::span(timed.poses.matrices).subspan(first * size, n * size),
                  std::span(timed.times).subspan(first, n), o.ahead, {o.noise, o.angle_noise}, stream);
    for (const auto part : {&AskedPoses::tokens, &AskedPoses::truth, &AskedPoses::time, &AskedPoses::asked}) {
      (every.*part).insert((every.*part).end(), (one.*part).begin(), (one.*part).end());
    }
  }
  auto& poses = std::get<Poses>(all.input);
  poses.elements = timed.as_matrices(every.tokens);
  poses.scalars = at::cat({column_of(every.time), column_of(every.asked)}, 1);
  schema.interface.features = features_of_windows(timed.units.features[0]);
  schema.labels = {label_of_windows};
  all.labels["pose"] = timed.as_matrices(every.truth);
}

std::shared_ptr<const InMemory> as_poses(const TimedPoses& timed, const Windows& windows,
                                         const PoseFileOptions& o, Question question, bool with_times) {
  const Tensor matrices = timed.as_matrices(timed.poses.matrices), rows = at::tensor(windows.rows, at::kLong);
  Schema schema;
  schema.interface.group = timed.group;
  schema.interface.dimension = dimension_of(timed.group);
  schema.interface.length_unit = timed.units.length_unit;
  schema.interface.typical_nodes = static_cast<double>(windows.tokens);
  schema.warnings = timed.warnings;
  Batch all;
  all.input = Poses{timed.group,
                    at::index_select(matrices, 0, rows),
                    {},
                    Segments::of_sizes(std::vector<int64_t>(windows.count, windows.tokens))};
  const Tensor times = at::index_select(at::tensor(timed.times, at::kDouble), 0, rows).unsqueeze(1);
  if (question == Question::poses) {
    ask(timed, windows, o, all, schema);
  } else {
    if (question == Question::hole) {
      schema.labels = declared_schema(PoseSequencesDataOptions{}).labels;
      all.labels["element"] = at::index_select(matrices, 0, at::tensor(windows.holes, at::kLong));
      all.labels["flank"] = at::tensor(windows.flank, at::kLong).unsqueeze(1);
    }
    if (o.times) {
      const Tensor firsts =
          at::index_select(at::tensor(timed.times, at::kDouble), 0, at::tensor(windows.starts, at::kLong));
      std::get<Poses>(all.input).scalars = times - firsts.repeat_interleave(windows.tokens).unsqueeze(1);
      schema.interface.features = timed.units.features;
    }
  }
  // What is a feature has its name already.
  if (with_times && timed.in_seconds && schema.interface.features.empty()) {
    schema.labels.push_back({.name = "time", .unit = "s"});
    all.labels["time"] = times;
  }
  return std::make_shared<Trajectory>(std::move(all), std::move(schema), timed.off_group);
}

/// A trajectory as a data set with splits: stretches of it, one after the other.
struct SplitTrajectory {
  std::string path, key;  // of the options, for messages: "data.pose_windows"
  PoseFileOptions cut;
  std::vector<double> fractions;
  int64_t train = 0, valid = 0, test = 0;  // how many samples to use; 0: all
};

Splits open_trajectory(const SplitTrajectory& o, Question question) {
  const PoseTrajectory found = read_poses(o.path, {}, o.cut.repeated);
  const TimedPoses timed = timed_poses(found, o.cut, o.path);
  const PartCounts poses = part_counts(found.size(), o.fractions, {}, o.path + ": " + o.key);
  int64_t begin = 0;
  const auto part = [&](const char* split, int64_t count, int64_t asked) -> std::shared_ptr<const Dataset> {
    const int64_t first = begin;
    begin += count;
    if (count == 0) {
      return nullptr;
    }
    const std::string where = text(o.path, ": the ", split, " part");
    Windows windows = windows_of(first, begin, o.cut, where);
    require<DataError>(asked <= windows.count, where, ": ", o.key, ".", split, " must be at most ",
                       windows.count, ", the samples there are (0: all), got ", asked);
    if (asked > 0) {
      windows.keep(asked);
    }
    return as_poses(timed, windows, o.cut, question, false);
  };
  auto train = part("train", poses.train, o.train);
  auto valid = part("valid", poses.valid, o.valid);
  auto test = part("test", poses.test, o.test);
  return {std::move(train), std::move(valid), std::move(test)};
}

bool is_one_trajectory(const std::string& path) {
  return is_pose_file(path) && !fs::is_directory(path);
}

}  // namespace

std::shared_ptr<const InMemory> open_pose_file(const std::string& path, const PoseFileOptions& options) {
  const Question question = question_of(options, path);
  const PoseTrajectory found = read_poses(path, options.format, options.repeated);
  return as_poses(timed_poses(found, options, path), windows_of(0, found.size(), options, path), options,
                  question, true);
}

Interface units_of(const PoseTrajectory& trajectory) {
  Interface units;
  units.length_unit = "m";
  units.features = {{.name = "time", .unit = trajectory.times.empty() ? "poses" : "s"}};
  return units;
}

std::vector<std::string> convert_pose_file(const std::string& in, const std::string& out,
                                           const PoseFileOptions& options) {
  const Question question = question_of(options, in);
  const PoseTrajectory found = read_poses(in, options.format, options.repeated);
  const auto set = as_poses(timed_poses(found, options, in), windows_of(0, found.size(), options, in),
                            options, question, true);
  std::map<std::string, std::string> metadata{
      {"converted_from", fs::path(in).filename().string()},
      {"source_format", std::string(pose_format_names[static_cast<int>(found.format)])},
      {"units", text("lengths m, times ", units_of(found).features[0].unit, " since the first pose")}};
  if (options.whole > 0) {
    metadata["whole"] = text(options.whole);
  }
  if (options.hole || options.noise > 0 || options.angle_noise > 0) {
    metadata["seed"] = std::to_string(options.seed);
  }
  if (!set->schema().interface.features.empty()) {
    metadata["time_unit"] = set->schema().interface.features[0].unit;
  }
  if (question == Question::poses) {
    metadata["units"] = "lengths m, times " + metadata["time_unit"] + " from the last pose that is given";
    metadata["ahead"] = std::to_string(options.ahead);
    metadata["noise"] = text(options.noise);
    metadata["angle_noise"] = text(options.angle_noise);
  }
  if (!found.start.empty()) {
    metadata["first_timestamp"] = found.start;
  }
  write_tensor_file(out, set->all(), set->schema(), std::move(metadata), Existing::keep);
  return set->schema().warnings;
}

Schema declared_schema(const PoseSequencesDataOptions& options) {
  Schema schema;
  schema.interface.group = options.group;
  schema.interface.dimension = dimension_of(options.group);
  schema.interface.typical_nodes = 7;
  if (options.times) {
    schema.interface.features = {{.name = "time", .unit = "s"}};
  }
  schema.labels = {{.name = "element", .level = Level::graph, .kind = Kind::element},
                   {.name = "flank", .kind = Kind::category}};
  return schema;
}

Splits open_set(const PoseSequencesDataOptions& o) {
  if (is_one_trajectory(o.path)) {
    return open_trajectory({.path = o.path,
                            .key = "data.pose_sequences",
                            .cut = {.length = o.length,
                                    .stride = o.stride,
                                    .hole = true,
                                    .whole = o.whole,
                                    .times = o.times,
                                    .group = o.group,
                                    .up = o.up,
                                    .repeated = o.repeated,
                                    .seed = o.seed},
                            .fractions = o.fractions,
                            .train = o.train,
                            .valid = o.valid,
                            .test = o.test},
                           Question::hole);
  }
  Schema wanted = declared_schema(o);
  for (Quantity& feature : wanted.interface.features) {
    feature.unit.clear();  // the files say it, or nobody does
  }
  return open_tensor_splits(
      {.path = o.path,
       .key = "data.pose_sequences",
       .make = text("`weyl data make pose_sequences --out ", o.path, " group=", name_of(o.group), "`"),
       .wanted = std::move(wanted),
       .train = o.train,
       .valid = o.valid,
       .test = o.test});
}

Schema declared_schema(const PoseWindowsDataOptions& options) {
  Schema schema;
  schema.interface.group = options.group;
  schema.interface.dimension = dimension_of(options.group);
  schema.interface.typical_nodes = static_cast<double>(options.length);
  schema.interface.features = features_of_windows({.name = "time", .unit = "s"});
  schema.labels = {label_of_windows};
  return schema;
}

namespace {

PoseFileOptions cut_of(const PoseWindowsDataOptions& o) {
  return {.length = o.length,
          .stride = o.stride,
          .ahead = o.ahead,
          .noise = o.noise,
          .angle_noise = o.angle_noise,
          .group = o.group,
          .up = o.up,
          .repeated = o.repeated,
          .seed = o.seed};
}

}  // namespace

std::shared_ptr<const InMemory> open_windows(const std::string& path, const PoseWindowsDataOptions& options) {
  PoseFileOptions cut = cut_of(options);
  cut.noise = cut.angle_noise = 0;
  const PoseTrajectory found = read_poses(path, {}, cut.repeated);
  TimedPoses timed = timed_poses(found, cut, path);
  const Windows windows = windows_of(0, found.size(), cut, path);
  const int64_t end = windows.starts.back() + windows.tokens;
  if (end < found.size()) {
    timed.warnings.push_back(text(path, ": the last ", found.size() - end, " of ", found.size(),
                                  " poses fill no window of ", windows.tokens, " and are left out"));
  }
  return as_poses(timed, windows, cut, Question::poses, false);
}

Splits open_set(const PoseWindowsDataOptions& o) {
  if (is_one_trajectory(o.path)) {
    require<ConfigError>(
        o.ahead > 0 || o.noise > 0 || o.angle_noise > 0, o.path,
        ": data.pose_windows.ahead, noise or angle_noise must be above 0, for nothing else is asked of a "
        "trajectory whose poses are given");
    return open_trajectory({.path = o.path,
                            .key = "data.pose_windows",
                            .cut = cut_of(o),
                            .fractions = o.fractions,
                            .train = o.train,
                            .valid = o.valid,
                            .test = o.test},
                           Question::poses);
  }
  Schema wanted = declared_schema(o);
  wanted.interface.features =
      features_of_windows({.name = "time"});  // the files say the unit, or nobody does
  return open_tensor_splits(
      {.path = o.path,
       .key = "data.pose_windows",
       .make = text("`weyl data make pose_windows --out ", o.path, " group=", name_of(o.group), "`"),
       .wanted = std::move(wanted),
       .train = o.train,
       .valid = o.valid,
       .test = o.test});
}

PoseWindowsDataOptions as_opened(PoseWindowsDataOptions o, const Dataset& train) {
  const auto& features = train.schema().interface.features;
  if (is_one_trajectory(o.path) || features.size() != 2 || features[1].name != "asked") {
    return o;
  }
  constexpr int64_t at_once = 2048;
  int64_t length = 0, ahead = 0;
  for (int64_t begin = 0; begin < train.size(); begin += at_once) {
    std::vector<int64_t> some(std::min(at_once, train.size() - begin));
    std::iota(some.begin(), some.end(), begin);
    const Batch batch = train.batch(some);
    const auto& poses = std::get<Poses>(batch.input);
    const Tensor asked = poses.scalars.select(1, 1).to(at::kDouble).contiguous();
    const auto* a = asked.const_data_ptr<double>();
    for (int64_t s = 0; s < poses.graphs.count(); ++s) {
      const int64_t size = poses.graphs.size(s), first = poses.graphs.offsets[s],
                    count = std::count_if(a + first, a + first + size, [](double x) { return x > 0.5; });
      length = std::max(length, size);
      ahead = std::max(ahead, count < size ? count : 0);
    }
  }
  const PoseWindowsDataOptions usual;
  const auto take = [&](const char* key, int64_t& told, int64_t left_out, int64_t found) {
    require<ConfigError>(told == left_out || told == found, "data.pose_windows.", key, ": must be ", found,
                         ", as the files of ", o.path, " have it, or be left out, got ", told);
    told = found;
  };
  take("length", o.length, usual.length, length);
  take("ahead", o.ahead, usual.ahead, ahead);
  return o;
}

}  // namespace weyl
