#include "weyl/train/preflight/prepare.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/Version.h>
#include <algorithm>
#include <array>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>

#include "weyl/carriers/dataset_facts.h"
#include "weyl/config/toml.h"
#include "weyl/core/check.h"
#include "weyl/core/input_file.h"
#include "weyl/core/instruction_set.h"
#include "weyl/core/prepared_tensors.h"
#include "weyl/core/random.h"
#include "weyl/data/base/outliers.h"
#include "weyl/data/open.h"
#include "weyl/train/loop/best_metric.h"
#include "weyl/train/loop/overflow.h"
#include "weyl/train/loop/start_from.h"
#include "weyl/train/preflight/data_checks.h"
#include "weyl/train/preflight/label_features.h"

namespace weyl {
namespace {

// The splits with the names that messages have for them.
std::array<std::pair<const char*, std::shared_ptr<const Dataset>>, 3> named_splits(const Splits& data) {
  return {{{"training data", data.train}, {"valid split", data.valid}, {"test split", data.test}}};
}

// What is known of the samples of each split that is there, in the order of `named_splits`.
using Facts = std::array<std::optional<SampleFacts>, 3>;

Facts facts_of_splits(const Splits& data) {
  Facts facts;
  const auto splits = named_splits(data);
  for (size_t i = 0; i < splits.size(); ++i) {
    if (splits[i].second != nullptr) {
      facts[i] = facts_of(*splits[i].second);
    }
  }
  return facts;
}

// What is known of all samples of a run, of every split. Validation and test samples count, so that evaluating the
// model on its own splits raises no question of whether it may be. States are those of the training samples alone,
// because the model has learned no others.
SampleFacts facts_of_all(const Facts& splits, const Resumed* resumed) {
  SampleFacts facts = *splits[0];
  for (size_t i = 1; i < splits.size(); ++i) {
    facts = splits[i] ? covering(facts, *splits[i]) : facts;
  }
  facts.states = splits[0]->states;
  return resumed != nullptr ? covering(facts, resumed->summary.trained_on) : facts;
}

/// Where validation or test samples are not what the training samples are.
std::vector<std::string> contradictions_of(const Splits& data, const Facts& facts) {
  std::vector<std::string> found;
  constexpr auto compared = FactsCompared::inputs_and_classes;
  const auto splits = named_splits(data);
  for (size_t i = 1; i < splits.size(); ++i) {
    const std::string units =
        facts[i] ? units_apart(splits[0].second->schema().interface, splits[i].second->schema().interface)
                 : "";
    if (!units.empty()) {
      found.push_back(text(splits[i].first, ": ", units));
    }
    if (facts[i] && !contradiction(*facts[0], *facts[i], compared).empty()) {  // then of which sample
      found.push_back(contradiction(*facts[0], *splits[i].second, splits[i].first, compared));
    }
  }
  return found;
}

// Of a new run: weights, and what gives them their meaning, from the model that train.from names.
void start_from(Prepared& p, const SavedModel& source, const std::string& where) {
  Model& model = *p.saved.model;
  const Taken taken = take_weights(model, source, p.recipe.model, where);
  p.taken = taken.line;
  p.notes.insert(p.notes.end(), taken.warnings.begin(), taken.warnings.end());
  for (std::string& line : refit(*p.saved.task, model, p.recipe, source, taken, p.data.train, where)) {
    p.notes.push_back(std::move(line));
  }
}

void freeze(Prepared& p) {
  const TrainOptions& options = p.recipe.train;
  freeze_parameters(*p.saved.model, options.freeze);
  const auto all = p.saved.model->parameters();
  if (const auto frozen =
          std::count_if(all.begin(), all.end(), [](const auto& parameter) { return parameter.frozen; });
      frozen > 0) {
    p.taken += text(p.taken.empty() ? "" : "; ", frozen, " of ", all.size(), " parameters are frozen");
  }
  if (!options.freeze.empty() && options.from.empty()) {
    p.notes.emplace_back(
        "train.freeze without train.from: what is frozen keeps the random values that it begins with");
  }
}

// To be raised by whoever changes what a task finds in the same samples: what was kept is then made anew.
constexpr int kFitVersion = 2;

// All that the statistics of a task depend on beside the samples: sums over many samples have other bits with other threads or
// instructions.
std::string what_is_fitted(const TaskOptions& options) {
  TaskOptions copy = options;
  std::string what =
      text("statistics of a task ", kFitVersion, ", ", at::get_num_threads(), " threads, ",
           at::get_cpu_capability(), ", kernels ", static_cast<int>(kernels::instruction_set()), "\n",
           write_toml([&](Fields& f) { fields(f, copy); }));
  std::visit(
      [&](const auto& o) {
        if constexpr (requires { o.references; }) {
          what += o.references.empty() ? "" : contents_of(o.references);
        }
      },
      options.task);
  return what;
}

// Fits a task, or loads the fit that was kept of the same samples. DataError: its own, with the label that spoils the
// statistics, if there is one.
void fit(Task& task, const TaskOptions& options, const Dataset& train) {
  try {
    const auto fits = [&](const NamedTensors& kept) {
      task.load(kept);
      return !kept.empty();
    };
    const auto make = [&] {
      task.fit(train);
      return task.state();
    };
    kept_or_made(train.streams() ? train.prepared(what_is_fitted(options)) : PreparedFile(), fits, make);
  } catch (const UnreadableError&) {
    throw;
  } catch (const DataError& error) {
    const std::string beyond = labels_beyond(train, task.labels());
    if (beyond.empty()) {
      throw;
    }
    throw DataError(text(error.what(), "; ", beyond));
  }
}

// Whether the best model can be chosen by a split that lacks labels: the task has fewer metrics of it, and the chosen
// one, which is refused by name elsewhere, is among them.
bool chooses_without(const Prepared& p, const std::string& best, const Dataset& split) {
  const Task& task = *p.saved.task;
  const Schema& train = p.data.train->schema();
  const Interface interface = task.interface(train);
  const auto meter = task.meter(interface);
  if (meter->names(split.schema()).size() == meter->names(train).size()) {
    return false;
  }
  best_metric_of(best, task, interface, &split);
  return true;
}

// Whether the splits of a set lack labels by design. Others who lack them likely forgot them.
bool keeps_labels_back(const DataOptions& data) {
  return std::holds_alternative<Pcqm4mv2DataOptions>(data.set);
}

// Refuses a validation split without labels. Nothing is chosen by the test split, whose labels many published sets keep back:
// of what it lacks there are no metrics, and a warning says so. So it is with what the choice of the best model does not look
// at in the validation split, of which a note is enough. Whether the test split can be measured at all.
bool count_labels_of_others(Prepared& p, const std::string& best, bool by_design) {
  for (const auto& [name, split] : named_splits(p.data)) {
    if (split == nullptr || split->size() == 0 || split == p.data.train) {  // which has been counted
      continue;
    }
    if (split != p.data.test && !chooses_without(p, best, *split)) {
      count_labels(*p.saved.task, *split, name);
      continue;
    }
    std::vector<std::string>& lines = split == p.data.test && !by_design ? p.likely_faults : p.notes;
    LabelsLacked lacked;
    if (split == p.data.test) {
      lacked = labels_lacked(*p.saved.task, *split, name);
    } else {
      lacked.others = labels_to_measure_without(*p.saved.task, *split, name);
    }
    if (lacked.needed) {
      lines.push_back(text(name, ": has no known label '", lacked.needed->name, "', and is not measured",
                           also_in_files(split->schema(), "; its files also have ")));
      return false;  // it is the last
    }
    for (const Quantity& label : lacked.others) {
      lines.push_back(measured_without(label, split->schema(), name));
    }
  }
  return true;
}

// Of a model that looks inside objects: how large they are, by a few samples from all over the training data.
void note_objects_of(Model& model, const Dataset& train) {
  if (!model.looks_inside_objects()) {
    return;
  }
  std::vector<int64_t> samples(static_cast<size_t>(std::min<int64_t>(16, train.size())));
  for (size_t i = 0; i < samples.size(); ++i) {
    samples[i] = static_cast<int64_t>(i) * train.size() / static_cast<int64_t>(samples.size());
  }
  note_objects(model, train.batch(samples).input);
}

}  // namespace

const Systems& systems_of(const TrainRequest& request) {
  return request.systems != nullptr ? *request.systems : built_in_systems();
}

Prepared prepare(const Recipe& recipe, const TrainRequest& request, const RecipeFiles& files,
                 const Resumed* resumed) {
  const std::string& from = files.from;
  Prepared p;
  std::optional<SavedModel> source;
  if (resumed == nullptr && !from.empty()) {
    source = load_model(from, at::kCPU, {}, systems_of(request));
    require_same_system(*source, recipe.model, from);
  }
  p.data =
      request.data ? *request.data : open_splits(files.data, recipe.interface ? &*recipe.interface : nullptr);
  require<ConfigError>(p.data.train != nullptr && p.data.train->size() > 0,
                       "train: data must have training samples, got none");
  for (const auto& [name, split] : named_splits(p.data)) {
    for (const std::string& note : split != nullptr ? split->notes() : std::vector<std::string>()) {
      if (std::ranges::find(p.notes, note) == p.notes.end()) {
        p.notes.push_back(note);
      }
    }
  }
  p.saved.task = make_task(files.task);
  p.labels = count_labels(*p.saved.task, *p.data.train);
  const bool measures_test = count_labels_of_others(p, recipe.train.best, keeps_labels_back(files.data));
  if (resumed == nullptr) {  // a run that was begun goes on
    require_features_are_no_labels(p.data.train->schema().interface.features, p.saved.task->labels(),
                                   p.saved.task->name());
  }
  if (resumed != nullptr) {
    p.saved.task->load(resumed->task);
    p.saved.interface = resumed->summary.interface;
  } else {
    fit(*p.saved.task, files.task, *p.data.train);
    p.saved.interface = p.saved.task->interface(p.data.train->schema());
    if (source) {
      p.saved.interface = interface_from(*source, p.saved.interface, from);
    }
    std::ranges::move(warnings_about_units(recipe, *p.data.train), std::back_inserter(p.likely_faults));
    std::ranges::move(warnings_about_held(files.task, *p.data.train), std::back_inserter(p.likely_faults));
  }
  p.recipe = recipe;
  for (const Quantity& label : p.data.train->schema().labels) {
    if (label.kind == Kind::category && (label.name == "class" || label.name == "mask")) {
      // The run's config says how many there were: nobody else can say it without the files.
      p.recipe.data = count_classes(p.recipe.data, label.name, label.categories);
    }
  }
  p.recipe.data = as_opened(std::move(p.recipe.data), *p.data.train);
  const Facts facts = facts_of_splits(p.data);
  p.saved.trained_on = facts_of_all(facts, resumed);
  p.recipe.model.system.resolve(p.saved.interface);
  if (request.data) {  // nobody else can open them: the record says so, and what they hold
    p.recipe.data.set = TensorsDataOptions{"(given by the program that trained)"};
    p.recipe.interface = p.saved.interface;
  }
  p.saved.recipe = saved_recipe(p.recipe);
  const BuildOn build_on(request.device,
                         recipe.train.precision == Precision::float64 ? at::kDouble : at::kFloat);
  at::manual_seed(Stream(static_cast<uint64_t>(recipe.train.seed), "weights").bits());
  p.saved.model = build(p.recipe.model, p.saved.interface, systems_of(request));
  note_objects_of(*p.saved.model, *p.data.train);
  for (const auto& [name, split] : named_splits(p.data)) {
    // The first has a cell where any has one; grids have none and would be read for nothing.
    if (carrier_of(p.saved.interface) == Carrier::points && split != nullptr && split->size() > 0) {
      const int64_t first = 0;
      require_no_cell(name, *p.saved.model, split->batch({&first, 1}).input);
    }
  }
  best_metric_of(recipe.train.best, *p.saved.task, p.saved.interface, p.data.valid.get());  // refused here
  if (source) {
    start_from(p, *source, from);
  }
  freeze(p);
  if (std::string line = warning_about_order(*p.saved.model, p.recipe.data); !line.empty()) {
    p.likely_faults.push_back(std::move(line));
  }
  std::ranges::move(contradictions_of(p.data, facts), std::back_inserter(p.likely_faults));
  p.data.test = measures_test ? p.data.test : nullptr;
  if (request.observer != nullptr) {
    request.observer->opened(p.data, *p.saved.task);
  }
  return p;
}

}  // namespace weyl
