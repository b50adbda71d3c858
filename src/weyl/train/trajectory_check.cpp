#include "weyl/train/trajectory_check.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <numeric>

#include "weyl/carriers/subset.h"
#include "weyl/core/check.h"
#include "weyl/data/atoms/trajectory_work.h"
#include "weyl/tasks/force_field_statistics.h"

namespace weyl {
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

std::string doubt_about_forces(const Recipe& recipe, const Dataset& train) {
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
