#include "weyl/train/preflight/data_checks.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/zeros_like.h>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>

#include "weyl/carriers/dataset.h"
#include "weyl/carriers/layout.h"
#include "weyl/core/check.h"
#include "weyl/core/elements.h"
#include "weyl/core/units.h"
#include "weyl/data/atoms/frame_layout.h"
#include "weyl/data/atoms/potential_keys.h"
#include "weyl/data/atoms/unit_doubts.h"
#include "weyl/data/base/sample_checks.h"
#include "weyl/models/framed_model.h"
#include "weyl/ops/segment.h"
#include "weyl/tasks/force_field_statistics.h"

namespace weyl {
namespace {

constexpr int64_t most_samples = 20000, chunk = 256;

/// Calls `see(samples, batch)` for samples evenly spread over the set, until it says no; returns how many there are.
template <class See>
int64_t each_chunk(const Dataset& data, const See& see) {
  const int64_t looked_at = std::min(data.size(), most_samples);
  for (int64_t begin = 0; begin < looked_at; begin += chunk) {
    std::vector<int64_t> samples;
    for (int64_t i = begin; i < std::min(begin + chunk, looked_at); ++i) {
      samples.push_back(i * data.size() / looked_at);
    }
    if (!see(samples, data.batch(samples))) {
      break;
    }
  }
  return looked_at;
}

/// Calls `see(sample, gap)` for such samples; returns how many.
template <class See>
int64_t each_gap(const Dataset& data, bool vectors, const See& see) {
  return each_chunk(data, [&](const std::vector<int64_t>& samples, const Batch& batch) {
    const std::vector<double> gaps = FramedModel::axis_gaps(std::get<Points>(batch.input), vectors);
    for (size_t b = 0; b < gaps.size(); ++b) {
      see(samples[b], gaps[b]);
    }
    return true;
  });
}

/// What the task refuses of a split, "sample 3: ..."; empty: nothing.
std::string refused_of(const Task& task, const Interface& interface, const Dataset& data) {
  std::string line;
  const auto takes = [&](Batch batch) {
    try {
      task.prepare(batch, interface);
    } catch (const ShapeError& error) {
      line = error.what();
      return false;
    }
    return true;
  };
  each_chunk(data, [&](const std::vector<int64_t>& samples, const Batch& batch) {
    if (takes(batch)) {
      return true;
    }
    for (const int64_t i : samples) {  // which one was it
      if (!takes(data.batch({&i, 1}))) {
        line = text(sample_name(data, i), ": ", line);
        break;
      }
    }
    return false;
  });
  return line;
}

}  // namespace

std::vector<std::string> warnings_about_held(const TaskOptions& task, const Dataset& train) {
  const auto* property = std::get_if<PropertyOptions>(&task.task);
  if (property == nullptr) {
    return {};
  }
  std::vector<std::string> lines;
  constexpr double rounding = 0.02;
  for (const HeldSum& held : property->held) {
    int64_t off = 0, worst = 0, whole = 0;
    double most = 0, sum_there = 0, total_there = 0;
    each_chunk(train, [&](const std::vector<int64_t>& samples, const Batch& batch) {
      const Tensor numbers = batch.labels.at(held.target).select(1, 0);
      const Segments& graphs = graphs_of(batch.input);
      const Tensor sums = segment_sum(numbers.unsqueeze(1), graphs).contiguous(),
                   squares = segment_sum(numbers.square().unsqueeze(1), graphs).contiguous(),
                   totals =
                       held.to.empty()
                           ? at::zeros_like(sums)
                           : std::get<Points>(batch.input).of_graphs.at(held.to).to(at::kDouble).contiguous();
      for (size_t b = 0; b < samples.size(); ++b) {
        const double sum = sums.const_data_ptr<double>()[b], total = totals.const_data_ptr<double>()[b],
                     wide = std::sqrt(squares.const_data_ptr<double>()[b]), far = std::abs(sum - total);
        whole += std::isnan(far) ? 0 : 1;
        off += far > rounding * wide ? 1 : 0;
        if (far > rounding * wide && far > most) {
          most = far;
          worst = samples[b];
          sum_there = sum;
          total_there = total;
        }
      }
      return true;
    });
    if (off > 0) {
      lines.push_back(text("task.property.held: the labels '", held.target, "' must have the sum ",
                           held.to.empty() ? "0" : text("'", held.to, "'"), ", but have not in ", off, " of ",
                           whole, " training samples, most in sample ", worst, ": ", sum_there, ", not ",
                           total_there, "; predictions are held to it, and cannot meet them"));
    }
  }
  return lines;
}

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

std::string check_measured(const SavedModel& saved, const Splits& data) {
  const Interface& interface = saved.model->interface;
  if (interface.types == 0) {  // elements are types
    return "";
  }
  const auto refused = [&](const std::shared_ptr<const Dataset>& split) {
    return split != nullptr ? refused_of(*saved.task, interface, *split) : "";
  };
  const std::string line = refused(data.valid);
  require<DataError>(line.empty(), "validation data: ", line);
  const std::string later = refused(data.test);
  return later.empty() ? "" : text("test data: ", later, "; `weyl eval` will refuse it");
}

namespace {

constexpr int64_t kChunk = 64;

template <class T>
std::vector<T> numbers(const Tensor& tensor, at::ScalarType type) {
  const Tensor t = tensor.detach().to(at::kCPU, type).contiguous();
  const auto* begin = t.const_data_ptr<T>();
  return {begin, begin + t.numel()};
}

/// Atomic numbers of types; 0 of a type that no element is known of.
std::vector<int64_t> elements_of(const Interface& interface) {
  std::vector<int64_t> numbers;
  for (const std::string& symbol : interface.elements) {
    numbers.push_back(std::max(0, atomic_number(symbol)));
  }
  numbers.resize(static_cast<size_t>(std::max<int64_t>(interface.types, std::ssize(numbers))));
  return numbers;
}

/// The frames of a batch, one after the other. What they have no label of, or a model does not learn, stays out, but for
/// the forces beside a stress that is learned, with which it is compared.
void add_frames(UnitDoubts& to, const Batch& batch, const std::vector<int64_t>& elements,
                const ForceFieldOptions& task) {
  const auto& points = std::get<Points>(batch.input);
  const auto label = [&](const char* name, bool learned) {
    const auto found = batch.labels.find(name);
    return learned && found != batch.labels.end() ? numbers<double>(found->second, at::kDouble)
                                                  : std::vector<double>();
  };
  const bool stress = learns_stress(task);
  const auto energies = label("energy", task.energy_weight > 0),
             forces = label("forces", learns_forces(task) || stress), stresses = label("stress", stress);
  const bool typed = points.types.defined() && points.types.dim() == 1;
  for (int64_t g = 0; g < points.count(); ++g) {
    const int64_t begin = points.graphs.offsets[g], end = points.graphs.offsets[g + 1];
    WorkFrame frame{.kinds = std::vector<int64_t>(static_cast<size_t>(end - begin)), .energy = NAN};
    if (typed) {
      frame.kinds = numbers<int64_t>(points.types.slice(0, begin, end), at::kLong);
      for (int64_t& kind : frame.kinds) {
        kind = kind < std::ssize(elements) ? elements[static_cast<size_t>(kind)] : 0;
      }
    }
    frame.positions = numbers<double>(points.positions.slice(0, begin, end), at::kDouble);
    if (!energies.empty()) {
      frame.energy = energies[static_cast<size_t>(g)];
    }
    if (!forces.empty()) {
      frame.forces = {forces.begin() + 3 * begin, forces.begin() + 3 * end};
    }
    if (points.cell.defined() && points.pbc.defined()) {
      const auto cell = numbers<double>(points.cell[g], at::kDouble);
      std::ranges::copy(cell, frame.cell.emplace().begin());
      for (int64_t d = 0; d < 3; ++d) {
        frame.pbc[static_cast<size_t>(d)] = points.pbc[g][d].item<bool>();
      }
    }
    if (!stresses.empty()) {
      std::copy_n(stresses.begin() + 9 * g, 9, frame.stress.emplace().begin());
    }
    to.add(std::move(frame));
  }
}

/// What a data set says of the units of its files: the table whose keys do (empty: none does), and the units that its
/// numbers come from.
struct ToldUnits {
  std::string table;
  std::string energy = "eV", stress = "eV/Angstrom^3";
};
ToldUnits told_units(const DataOptions& data) {
  ToldUnits units;
  if (const auto* molecules = std::get_if<MoleculesDataOptions>(&data.set)) {
    units.table = "data.molecules";
    units.energy = molecules->energy_unit.empty() ? units.energy : molecules->energy_unit;
    if (!is_virial_key(molecules->stress)) {
      const std::string& length = molecules->length_unit;
      const std::string stress = !molecules->stress_unit.empty()
                                     ? molecules->stress_unit
                                     : stress_unit_of({.energy = units.energy,
                                                       .length = length.empty() ? "Angstrom" : length,
                                                       .forces = {},
                                                       .stress = {}});
      units.stress = same_unit(stress, units.stress) ? units.stress : stress;
    }
  } else if (std::holds_alternative<Md17DataOptions>(data.set)) {
    units.table = "data.molecules, with data.set = \"molecules\"";
  }
  return units;
}

}  // namespace

std::string warning_about_order(const Model& model, const DataOptions& data) {
  const auto claims = model.symmetry().exact;
  const bool reads =
      std::ranges::none_of(claims, [](const Claim& claim) { return claim.of == Claim::Of::permutations; });
  return reads && std::holds_alternative<PoseSequencesDataOptions>(data.set)
             ? "the model reads the order of the tokens (model.lie.order), which is drawn anew in each sequence of data set "
               "pose_sequences and says nothing"
             : "";
}

std::vector<std::string> warnings_about_units(const Recipe& recipe, const Dataset& train) {
  const auto* task = std::get_if<ForceFieldOptions>(&recipe.task.task);
  const Interface& interface = train.schema().interface;
  if (task == nullptr || interface.grid || interface.group || interface.dimension != 3) {
    return {};
  }
  const auto* part = dynamic_cast<const Subset*>(&train);
  const Dataset& all = part != nullptr ? part->whole() : train;
  const at::NoGradGuard no_grad;
  const ToldUnits told = told_units(recipe.data);
  UnitDoubts doubts(told.energy, told.stress);
  const auto elements = elements_of(interface);
  for (int64_t begin = 0; begin < all.size() && !doubts.enough(); begin += kChunk) {
    std::vector<int64_t> samples(static_cast<size_t>(std::min(kChunk, all.size() - begin)));
    std::iota(samples.begin(), samples.end(), begin);
    add_frames(doubts, all.batch(samples), elements, *task);
  }
  std::vector<std::string> lines;
  for (const UnitDoubt& doubt : doubts.doubts(told.table)) {
    if (doubt.key.empty() && !learns_forces(*task)) {
      continue;  // energies beside forces that nobody learns
    }
    lines.push_back(text(path_of(recipe.data), ": ", doubt.line));
  }
  return lines;
}

}  // namespace weyl
