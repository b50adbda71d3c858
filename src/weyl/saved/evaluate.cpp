#include "weyl/saved/evaluate.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/isnan.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <utility>

#include "weyl/carriers/faulty_sample.h"
#include "weyl/carriers/loader.h"
#include "weyl/carriers/placed_samples.h"
#include "weyl/core/check.h"
#include "weyl/core/prepared_tensors.h"
#include "weyl/models/constant_weights.h"
#include "weyl/parallel/message.h"

namespace weyl {
namespace {

// Weights are constants meanwhile.
class EvaluationMode {
 public:
  explicit EvaluationMode(Model& model) : model_(model), training_(model.training()), constant_(model) {
    model_.train(false);
  }
  ~EvaluationMode() { model_.train(training_); }
  EvaluationMode(const EvaluationMode&) = delete;
  EvaluationMode& operator=(const EvaluationMode&) = delete;

 private:
  Model& model_;
  bool training_;
  ConstantWeights constant_;
};

/// Gives `use` each sample by itself, as it is first, with its predictions averaged over all placements. All placements of a
/// sample follow each other, so that nothing but a batch and one sample's predictions is held. Returns how many samples
/// were used.
int64_t each_placed_sample(Model& model, const Task& task, const std::shared_ptr<const Dataset>& data,
                           const std::vector<Placement>& placements, const BatchOptions& options, Form form,
                           const std::function<void(const Batch&, const Named&)>& use) {
  const auto copies = std::ssize(placements);
  const Schema schema = data->schema();
  BatchOptions rows = options;
  rows.ranks = nullptr;  // each has every so many-th sample
  // No two samples share a batch, so that with ranks each prediction has the bits of one process.
  const int64_t bound =
      std::min(options.batch, options.batch_tokens.value_or(options.batch * data->tokens(0)) /
                                  std::max<int64_t>(1, data->tokens(0)));
  rows.batch = std::max<int64_t>(1, std::min(bound, copies));
  while (copies % rows.batch != 0) {
    --rows.batch;
  }
  const int64_t apart = count_of(options.ranks);
  std::shared_ptr<const Dataset> own = data;
  std::vector<int64_t> numbers(static_cast<size_t>(data->size()));
  std::iota(numbers.begin(), numbers.end(), int64_t{0});
  if (options.ranks != nullptr) {
    std::erase_if(numbers, [&](int64_t i) { return i % apart != options.ranks->rank(); });
    own = std::make_shared<Subset>(data, numbers, schema);
  }
  if (options.progress) {
    rows.progress = [&, all = data->size()](int64_t done) {
      options.progress(std::min(all, done / copies * apart));
    };
  }
  const auto placed =
      std::make_shared<PlacedSamples>(own, [&](int64_t row) { return placements.at(row % copies); }, copies);
  const auto sample_of = [&](int64_t row) { return numbers[static_cast<size_t>(row / copies)]; };
  Batch first;
  std::vector<Named> of_placements;
  int64_t done = 0;  // rows
  int64_t used = 0;
  const auto add = [&](const Batch& batch, const Named& predictions, int64_t row) {
    if (of_placements.empty()) {
      first = take(batch, {&row, 1}, schema);
    }
    of_placements.emplace_back();
    for (const auto& [name, values] : predictions) {
      of_placements.back()[name] = values.narrow(0, row, 1);
    }
    if (std::ssize(of_placements) == copies) {
      use(first, task.averaged(of_placements));
      of_placements.clear();
      if (options.ranks != nullptr && ++used <= data->size() / apart) {  // each has as many
        meet(options);
      }
    }
  };
  // Errors name samples, not rows.
  const auto predicted = [&](const Batch& batch) {
    try {
      return task.predict(model, batch);
    } catch (const ShapeError& error) {
      std::vector<int64_t> samples;
      for (int64_t row = 0; row < batch.count(); ++row) {
        samples.push_back(sample_of(done + row));
      }
      blame_sample(options.where, error, samples, [&, row = int64_t{0}](int64_t) mutable {
        task.predict(model, take(batch, {&row, 1}, schema));
        ++row;
      });
    }
  };
  each_batch(model, placed, rows, form, [&](const Batch& batch) {
    const Named predictions = predicted(batch);
    for (int64_t row = 0; row < batch.count(); ++row, ++done) {
      try {
        add(batch, predictions, row);
      } catch (const ShapeError& error) {
        blame_sample(options.where, error, std::vector{sample_of(done)}, [&](int64_t) { throw error; });
      }
    }
  });
  return done / copies;
}

/// What a meter has seen, to be told to others.
std::string told_of(Meter& meter) {
  Message message;
  meter.tell(message);
  return message.bytes();
}

/// Calls `use` with what each meter of each rank has seen: with the first of all ranks in their order, then with the second ...
void each_meter(Ranks& ranks, std::vector<std::string> own, const Task& task, const Interface& model,
                const std::function<void(const Meter&)>& use) {
  const auto seen = told_by_all(ranks, std::move(own));
  for (size_t row = 0; row < seen.front().size(); ++row) {  // no rank has more than the first
    for (const std::vector<std::string>& of_rank : seen) {
      if (row < of_rank.size()) {
        Message told(of_rank[row]);
        const auto meter = task.meter(model);
        meter->tell(told);
        use(*meter);
      }
    }
  }
}

}  // namespace

std::unique_ptr<Meter> of_all_ranks(Ranks& ranks, const Task& task, const Interface& model, Meter& own) {
  std::unique_ptr<Meter> all = task.meter(model);
  each_meter(ranks, {told_of(own)}, task, model, [&](const Meter& meter) { all->merge(meter); });
  return all;
}

Evaluation evaluate(Model& model, const Task& task, std::shared_ptr<const Dataset> data,
                    const BatchOptions& options) {
  require<DataError>(data->size() > 0, "evaluate: data set must have samples, got none");
  const auto start = std::chrono::steady_clock::now();
  const EvaluationMode mode(model);
  const at::NoGradGuard no_grad;
  const Schema schema = data->schema();
  const int64_t size = data->size();
  std::shared_ptr<Meter> meter = task.meter(model.interface);
  std::vector<std::string>
      seen;  // of this rank's samples since the last meeting by each, where there are several ranks
  Evaluation result;
  const auto placements = task.placements(model.interface);
  BatchOptions bounds = options;
  bounds.batch = options.by_sample && placements.empty() ? 1 : options.batch;
  const auto add_one = [&](const Meter& alone) {
    result.by_sample.push_back(alone.values());
    meter->merge(alone);
  };
  const auto use = [&](const Batch& batch, const Named& predictions) {
    if (!options.by_sample) {
      meter->add(batch, predictions);
      return;
    }
    const auto alone = task.meter(model.interface);
    alone->add(batch, predictions);
    if (options.ranks != nullptr) {
      seen.push_back(told_of(*alone));
    } else {
      add_one(*alone);
    }
  };
  const auto merge_samples = [&] {
    each_meter(*options.ranks, std::exchange(seen, {}), task, model.interface, add_one);
  };
  if (options.by_sample && options.ranks != nullptr) {
    bounds.at_meetings = merge_samples;
  }
  const Form form = task.moves_inputs() ? Form::ready_on_cpu : Form::ready;
  if (!placements.empty()) {
    result.samples = each_placed_sample(model, task, data, placements, bounds, form, use);
  } else {
    result.samples = each_batch(model, std::move(data), bounds, form,
                                [&](const Batch& batch) { use(batch, task.predict(model, batch)); });
  }
  if (options.ranks != nullptr) {
    result.samples = options.ranks->total(result.samples);
    if (options.by_sample) {
      merge_samples();
    } else {
      meter = of_all_ranks(*options.ranks, task, model.interface, *meter);
    }
  }
  result.stopped = result.samples < size;
  result.metrics = meter->values();
  result.confusion = meter->confusion();
  result.breakdowns = meter->breakdowns(schema);
  result.meter = meter;
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

namespace {

constexpr const char* kCounts = "counts";
constexpr int kCountsVersion = 1;  // to be raised by whoever changes how labels are counted

/// The counts of these labels, all of which the data have.
std::vector<LabelCount> counted(const std::vector<Quantity>& wanted, const Dataset& data) {
  constexpr int64_t at_a_time = 1024;
  std::vector<LabelCount> counts;
  for (const auto& label : wanted) {
    counts.push_back({*find_quantity(data.schema().labels, label.name)});
  }
  // A category cannot be missing: no need to read every image to know that it has a class.
  const bool grids = data.schema().carrier() == Carrier::grid;
  if (std::all_of(wanted.begin(), wanted.end(), [&](const auto& q) {
        return q.kind == Kind::category && (q.level == Level::graph || (q.level == Level::node && grids));
      })) {
    for (auto& count : counts) {
      count.known = count.all = data.size();
    }
    return counts;
  }
  const auto count_all = [&] {
    Tensor numbers = at::zeros({std::ssize(counts), 2}, at::kLong);  // known, all
    auto* number = numbers.mutable_data_ptr<int64_t>();
    for_each_chunk(data, at_a_time, [&](const Batch& batch) {
      for (size_t i = 0; i < counts.size(); ++i) {
        const Tensor& values = batch.labels.at(counts[i].label.name);
        const int64_t rows = values.dim() > 0 ? values.size(0) : 0;
        number[2 * i + 1] += rows;
        if (values.numel() > 0) {
          number[2 * i] +=
              rows - at::isnan(values).reshape({rows, values.numel() / rows}).any(1).sum().item<int64_t>();
        }
      }
    });
    return NamedTensors{{kCounts, numbers}};
  };
  std::string what = text("label counts ", kCountsVersion);
  for (const auto& count : counts) {
    what += " " + count.label.name;
  }
  const auto fits = [&](const NamedTensors& kept) {
    const auto found = kept.find(kCounts);
    return found != kept.end() && found->second.scalar_type() == at::kLong &&
           found->second.sizes() == at::IntArrayRef({std::ssize(counts), 2}) &&
           found->second.ge(0).all().item<bool>();
  };
  const Tensor numbers = kept_or_made(data.prepared(what), fits, count_all).at(kCounts).contiguous();
  for (size_t i = 0; i < counts.size(); ++i) {
    counts[i].known = numbers.const_data_ptr<int64_t>()[2 * i];
    counts[i].all = numbers.const_data_ptr<int64_t>()[2 * i + 1];
  }
  return counts;
}

void require_named(const Task& task, const Dataset& data, const std::string& what, bool only_measured) {
  try {
    require_labels(task, data.schema(), only_measured);
  } catch (const DataError& error) {
    throw DataError(text(what, ": ", error.what()));
  }
}

void require_known(const Task& task, const LabelCount& count, const std::string& what) {
  require<ConfigError>(count.known > 0, "task ", task.name(), ": ", what, " must have some label '",
                       count.label.name, "', got none that is not NaN");
}

}  // namespace

std::vector<LabelCount> count_labels(const Task& task, const Dataset& data, const std::string& what) {
  require_named(task, data, what, false);
  auto counts = counted(task.labels(), data);
  for (const auto& count : counts) {
    require_known(task, count, what);
  }
  return counts;
}

std::vector<Quantity> labels_without_metrics(const Metrics& metrics, const Task& task, const Dataset& data,
                                             const std::string& what) {
  const bool defined =
      std::ranges::none_of(metrics, [](const auto& metric) { return std::isnan(metric.second.value); });
  return defined ? std::vector<Quantity>() : labels_to_measure_without(task, data, what);
}

void leave_out(Metrics& metrics, const std::vector<Quantity>& labels) {
  for (const Quantity& label : labels) {
    std::string stem = label.name;
    if (stem.ends_with('s') && !stem.ends_with("ss")) {
      stem.pop_back();
    }
    std::erase_if(metrics, [&](const auto& metric) {
      return std::isnan(metric.second.value) && metric.first.find(stem + "_") != std::string::npos;
    });
  }
}

std::string measured_without(const Quantity& label, const Schema& data, const std::string& what) {
  return text(
      what, ": has no known label '", label.name, "', and is measured without it",
      find_quantity(data.labels, label.name) == nullptr ? also_in_files(data, "; its files also have ") : "");
}

LabelsLacked labels_lacked(const Task& task, const Dataset& data, const std::string& what) {
  const Schema& schema = data.schema();
  LabelsLacked lacked;
  std::vector<Quantity> there;
  for (const Quantity& label : task.labels()) {
    const bool left_out = schema.left_out.contains(label.name);
    if (find_quantity(schema.labels, label.name) != nullptr) {
      there.push_back(label);
    } else if (!task.measures_without(label) && !left_out) {
      lacked.needed = label;
      return lacked;
    } else {
      lacked.others.push_back(label);
    }
  }
  require_named(task, data, what, true);
  for (const LabelCount& count : counted(there, data)) {
    if (count.known > 0) {
      continue;
    }
    if (!task.measures_without(count.label)) {
      lacked.needed = count.label;
      return lacked;
    }
    lacked.others.push_back(count.label);
  }
  return lacked;
}

std::vector<Quantity> labels_to_measure_without(const Task& task, const Dataset& data,
                                                const std::string& what) {
  require_named(task, data, what, true);
  const LabelsLacked lacked = labels_lacked(task, data, what);
  if (lacked.needed) {
    require_known(task, {*lacked.needed}, what);
  }
  return lacked.others;
}

}  // namespace weyl
