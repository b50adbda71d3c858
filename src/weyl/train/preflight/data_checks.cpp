#include "weyl/train/preflight/data_checks.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <algorithm>
#include <cstdint>
#include <numeric>

#include "weyl/carriers/dataset.h"
#include "weyl/core/check.h"
#include "weyl/data/atoms/trajectory_work.h"
#include "weyl/models/framed_model.h"
#include "weyl/tasks/force_field_statistics.h"

namespace weyl {
namespace {

constexpr int64_t most_samples = 20000, chunk = 256;

/// Calls `see(sample, gap)` for samples evenly spread over the set; returns how many.
template <class See>
int64_t each_gap(const Dataset& data, bool vectors, const See& see) {
  const int64_t looked_at = std::min(data.size(), most_samples);
  for (int64_t begin = 0; begin < looked_at; begin += chunk) {
    std::vector<int64_t> samples;
    for (int64_t i = begin; i < std::min(begin + chunk, looked_at); ++i) {
      samples.push_back(i * data.size() / looked_at);
    }
    const Batch batch = data.batch(samples);
    const std::vector<double> gaps = FramedModel::axis_gaps(std::get<Points>(batch.input), vectors);
    for (size_t b = 0; b < gaps.size(); ++b) {
      see(samples[b], gaps[b]);
    }
  }
  return looked_at;
}

}  // namespace

std::string check_axes(const SavedModel& saved, const Splits& data) {
  const auto* framed = dynamic_cast<const FramedModel*>(saved.model.get());
  if (framed == nullptr) {
    return "";
  }
  const std::string by = saved.task->differentiated_by();
  const bool vectors = framed->has_vectors() || !by.empty();
  int64_t without = 0, looked_at = 0;
  struct Split {
    const Dataset* data;
    const char* name;
    bool training;  // splits may be the same set
  };
  for (const auto& [split, name, training] : {Split{data.train.get(), "training", true},
                                              {data.valid.get(), "validation", false},
                                              {data.test.get(), "test", false}}) {
    if (split == nullptr || (by.empty() && !training)) {
      continue;
    }
    const int64_t seen = each_gap(*split, vectors, [&](int64_t sample, double gap) {
      require<DataError>(by.empty() || gap >= least_gap_of_derivatives, name, " data: sample ", sample,
                         ": must have principal axes, for model.frames with ", by,
                         ": two eigenvalues of its covariance are only ", gap,
                         " of the largest apart (at least ", least_gap_of_derivatives, ")");
      without += training && gap < least_gap_of_axes ? 1 : 0;
    });
    looked_at += training ? seen : 0;
  }
  return without == 0
             ? ""
             : text("model.frames: ", without, " of ", looked_at,
                    " training samples have no principal axes to rely on; of these the model is not exact");
}

namespace {

constexpr int64_t kChunk = 64, kMostFrames = 2048;

template <class T>
std::vector<T> numbers(const Tensor& tensor, at::ScalarType type) {
  const Tensor t = tensor.detach().to(at::kCPU, type).contiguous();
  const auto* begin = t.const_data_ptr<T>();
  return {begin, begin + t.numel()};
}

/// The frames of a batch, one after the other.
void add_frames(TrajectoryWork& to, const Points& points, const Tensor& energies, const Tensor& forces) {
  const auto energy = numbers<double>(energies, at::kDouble);
  const bool typed = points.types.defined() && points.types.dim() == 1;
  for (int64_t g = 0; g < points.count(); ++g) {
    const int64_t begin = points.graphs.offsets[g], end = points.graphs.offsets[g + 1];
    WorkFrame frame;
    frame.kinds = typed ? numbers<int64_t>(points.types.slice(0, begin, end), at::kLong)
                        : std::vector<int64_t>(static_cast<size_t>(end - begin));
    frame.positions = numbers<double>(points.positions.slice(0, begin, end), at::kDouble);
    frame.forces = numbers<double>(forces.slice(0, begin, end), at::kDouble);
    frame.energy = energy[static_cast<size_t>(g)];
    if (points.cell.defined() && points.pbc.defined()) {
      const auto cell = numbers<double>(points.cell[g], at::kDouble);
      std::ranges::copy(cell, frame.cell.emplace().begin());
      for (int64_t d = 0; d < 3; ++d) {
        frame.pbc[static_cast<size_t>(d)] = points.pbc[g][d].item<bool>();
      }
    }
    to.add(std::move(frame));
  }
}

/// The table whose keys say the units of a set's files; empty: none does.
std::string table_of(const DataOptions& data) {
  if (std::holds_alternative<MoleculesDataOptions>(data.set)) {
    return "data.molecules";
  }
  return std::holds_alternative<Md17DataOptions>(data.set) ? "data.molecules, with data.set = \"molecules\""
                                                           : "";
}

}  // namespace

std::string warning_about_forces(const Recipe& recipe, const Dataset& train) {
  const auto* task = std::get_if<ForceFieldOptions>(&recipe.task.task);
  if (task == nullptr || task->energy_weight <= 0 || !learns_forces(*task)) {
    return "";
  }
  const auto* part = dynamic_cast<const Subset*>(&train);
  const Dataset& all = part != nullptr ? part->whole() : train;
  const at::NoGradGuard no_grad;
  TrajectoryWork work;
  const int64_t frames = std::min(all.size(), kMostFrames);
  for (int64_t begin = 0; begin < frames && !work.enough(); begin += kChunk) {
    std::vector<int64_t> samples(static_cast<size_t>(std::min(kChunk, frames - begin)));
    std::iota(samples.begin(), samples.end(), begin);
    const Batch batch = all.batch(samples);
    const auto* points = std::get_if<Points>(&batch.input);
    const auto energy = batch.labels.find("energy"), forces = batch.labels.find("forces");
    if (points == nullptr || points->dimension() != 3 || energy == batch.labels.end() ||
        forces == batch.labels.end()) {
      return "";
    }
    add_frames(work, *points, energy->second, forces->second);
  }
  const auto law = work.law();
  if (law && law->is_wrong()) {
    const std::string table = table_of(recipe.data);
    return text(path_of(recipe.data),
                ": energies and forces seem not to be of one system of units: ", work_fault(*law, table));
  }
  return "";
}

}  // namespace weyl
