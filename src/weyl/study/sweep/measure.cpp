#include "weyl/study/sweep/measure.h"

#include <ATen/core/Tensor.h>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <span>

#include "weyl/config/toml.h"
#include "weyl/core/check.h"
#include "weyl/core/checksum.h"
#include "weyl/core/quote.h"
#include "weyl/data/open.h"
#include "weyl/data/options.h"
#include "weyl/predict/subject.h"
#include "weyl/study/samples/grid_samples.h"
#include "weyl/study/samples/random_samples.h"
#include "weyl/study/sweep/timing.h"
#include "weyl/tasks/task.h"
#include "weyl/train/loop/best_metric.h"
#include "weyl/train/loop/compute_settings.h"
#include "weyl/train/preflight/prepare.h"
#include "weyl/train/run/fingerprint.h"

namespace weyl {
namespace {

constexpr int64_t most_looked_at = 1024;

/// Sample by sample, as numbers: batches of grids, and the types of their labels, may be others than those of points.
std::string hash_of_labels(const Dataset& data) {
  uint64_t hash = 0;
  const int64_t looked = std::min(data.size(), most_looked_at);
  for (int64_t k = 0; k < looked; ++k) {
    const int64_t sample = looked == 1 ? 0 : k * (data.size() - 1) / (looked - 1);
    for (const auto& [name, label] : data.batch({&sample, 1}).labels) {
      const Tensor numbers = label.detach().to(at::kCPU, at::kDouble).contiguous();
      hash = checksum_number(std::as_bytes(std::span(name)), hash);
      hash =
          checksum_number(std::as_bytes(std::span(numbers.const_data_ptr<double>(), numbers.numel())), hash);
    }
  }
  return std::to_string(hash);
}

}  // namespace

Json evaluated_samples(const Splits& data) {
  Json all = fingerprint(Splits{nullptr, data.valid, data.test});
  for (const auto& [name, split] :
       {std::pair("train", data.train), {"valid", data.valid}, {"test", data.test}}) {
    if (split != nullptr) {
      const Json* known = all.find(name);
      Json one = known != nullptr ? *known : Json::object().set("samples", split->size());
      all.set(name, one.set("labels", hash_of_labels(*split)));
    }
  }
  return all;
}

namespace {

Trained trained_on(const Recipe& recipe, const Splits& data, at::Device device, const Systems& systems) {
  TrainRequest request;
  const int64_t enough = std::max<int64_t>(4096, 64 * recipe.train.batch);
  request.data = Splits{some_of(data.train, enough), some_of(data.valid, enough), nullptr};
  request.device = device;
  request.systems = &systems;
  Prepared p = prepare(recipe, request, {recipe.data, recipe.task, recipe.train.from}, nullptr);
  return {p.saved.model, std::move(p.saved.task), request.data->train, data.valid, data.test};
}

std::vector<std::string> names_of_metrics(const std::vector<MetricName>& metrics) {
  std::vector<std::string> names;
  for (const MetricName& metric : metrics) {
    names.push_back(metric.name);
  }
  std::ranges::sort(names);
  return names;
}

/// What the table's loss is, and what chooses: lower must be better of both. Returns the name of what chooses.
std::string require_loss(const Trained& t, const Recipe& recipe, const MeasureOptions& measure) {
  const bool valid = t.valid != nullptr && t.valid->size() > 0;
  require<ConfigError>(
      valid || !measure.choose,
      "rates: must be one where there are no validation data, as nothing chooses between them");
  const std::vector<MetricName> known =
      t.task->meter(t.model->interface)->names((valid ? t.valid : t.train)->schema());
  const BestMetric best(recipe.train.best, *t.task, known);
  const std::string instead = text(" (set = [\"train.best=", t.task->loss_metric(), "\"])");
  require<ConfigError>(
      !valid || best.lower_is_better(),
      "train.best: the metric that picks the best model must be one of which lower is better, ",
      "as the table's loss is, got ", printable(best.name()), instead);
  const std::string loss = measure.loss.empty() && valid ? best.name() : measure.loss;
  const auto found = std::ranges::find(known, loss, &MetricName::name);
  require<ConfigError>(found != known.end(), "loss: must be one of the metrics ",
                       joined_printable(names_of_metrics(known)), ", got ", quote(loss));
  require<ConfigError>(found->lower_is_better, "loss: must be a metric of which lower is better, got ",
                       quote(loss));
  // Models that fail on more samples would have the lower loss.
  require<ConfigError>(found->left_out.empty(), "loss: must be a metric that leaves no sample out, got ",
                       quote(loss), ", from which ", printable(found->left_out), " is left out", instead);
  return best.name();
}

/// Of random parts of samples (train.crop) the parts count, as training counts them.
double tokens_of_epoch(const Dataset& train, const TrainOptions& options, const Model& model) {
  return options.crop.empty() ? tokens_of(train)
                              : static_cast<double>(train.size()) * tokens_of_a_sample(model, options);
}

}  // namespace

SweepData::Opened* SweepData::open(const Recipe& recipe) {
  if (!std::filesystem::exists(path_of(recipe.data))) {
    return nullptr;
  }
  DataOptions options = recipe.data;
  const std::string key = write_toml([&](Fields& f) { fields(f, options); });
  const auto found = opened_.find(key);
  if (found != opened_.end()) {
    return &found->second;
  }
  Splits splits = open_splits(recipe.data, recipe.interface ? &*recipe.interface : nullptr);
  return &opened_.emplace(key, Opened{std::move(splits), {}}).first->second;
}

const Splits* SweepData::of(const Recipe& recipe) {
  const Opened* opened = open(recipe);
  return opened != nullptr ? &opened->splits : nullptr;
}

Json SweepData::evaluated(const Recipe& recipe) {
  Opened* opened = open(recipe);
  if (opened == nullptr || opened_.size() < 2) {
    return {};
  }
  if (!opened->evaluated.is_object()) {
    opened->evaluated = evaluated_samples(opened->splits);
  }
  return opened->evaluated;
}

ModelCost cost_of(const Recipe& recipe, const Splits* data, const MeasureOptions& measure,
                  const Systems& systems) {
  if (data == nullptr) {
    return cost_without_data(recipe, measure, systems);
  }
  ModelCost cost;
  const TrainOptions& options = recipe.train;
  const auto make = [&] { return trained_on(recipe, *data, measure.device, systems); };
  {
    const Trained t = make();
    cost.metric = require_loss(t, recipe, measure);
    fill_facts(t, options, cost);
    cost.facts.tokens = tokens_of_epoch(*data->train, options, *t.model);
    cost.threads = threads_of(t, options, measure);
  }
  if (measure.steps > 0) {
    cost.how = too_large_text(options, time(make, options, measure, 1, cost).bytes, measure);
  }
  return cost;
}

namespace {

Schema unlabelled(Schema schema) {
  schema.labels.clear();
  return schema;
}

std::shared_ptr<const Dataset> random_data(const Subject& subject, int64_t samples, int64_t nodes) {
  Schema asked = subject.schema;
  asked.labels = subject.model->interface.outputs;  // which say whether there are objects
  const Batch random = subject.schema.carrier() == Carrier::grid
                           ? random_grids(subject.schema, samples, shape_of_grids(subject), 0)
                           : random_tokens(asked, samples, nodes, 0);
  return std::make_shared<InMemory>(random, unlabelled(subject.schema));
}

/// A recipe's model and task, made for graphs of so many nodes; the recipe's own number where it is 0.
Subject random_subject(Recipe recipe, double nodes, at::Device device, const Systems& systems) {
  if (nodes > 0) {
    recipe.interface = build_subject(recipe, at::kMeta, {}, systems).model->interface;
    recipe.interface->typical_nodes = nodes;
  }
  return build_subject(recipe, device, {}, systems);
}

/// Random samples so short that a step on one takes seconds, not minutes; 0: as long as the recipe says.
double short_enough(const Recipe& recipe, const Systems& systems) {
  constexpr double most = 2e10;  // FLOPs, attention included
  double nodes = 0;
  for (auto subject = random_subject(recipe, 0, at::kMeta, systems);;) {
    const double typical = subject.model->interface.typical_nodes;
    if (training_flops(*subject.model, nullptr, typical) <= most || typical < 64) {
      return nodes;
    }
    nodes = std::floor(typical / 2);
    subject = random_subject(recipe, nodes, at::kMeta, systems);
  }
}

/// How many forward passes a prediction takes.
int64_t passes_of(const TaskOptions& task) {
  return std::visit(
      [](const auto& o) -> int64_t {
        if constexpr (requires { o.test_time_rotations; }) {
          return o.test_time_rotations.count;
        } else if constexpr (requires { o.rollout; }) {
          return o.rollout;
        } else {
          return 1;
        }
      },
      task.task);
}

/// What predictions take beside forward passes.
std::string not_counted_text(const TaskOptions& task) {
  const auto* forces = std::get_if<ForceFieldOptions>(&task.task);
  if (forces != nullptr && forces->forces == ForceSource::gradient) {
    return ", without the backward passes of forces";
  }
  const auto* segmentation = std::get_if<SegmentationOptions>(&task.task);
  return segmentation != nullptr && !segmentation->window.size.empty() ? ", without the overlap of windows"
                                                                       : "";
}

/// Validation and test cost the forward passes of the samples that the options say there are.
void estimate_evaluation(const Recipe& recipe, double forward_seconds, ModelCost& cost) {
  const PartCounts samples = declared_samples(recipe.data);
  const int64_t passes = passes_of(recipe.task);
  cost.valid_seconds = forward_seconds * static_cast<double>(samples.valid * passes);
  cost.test_seconds = forward_seconds * static_cast<double>(samples.test * passes);
  const auto of = [passes](const char* what, int64_t count) {
    return count > 0 ? text(what, " by ", count * passes, " forward passes") : text(what, " is not counted");
  };
  const bool all = samples.valid > 0 && samples.test > 0, any = samples.valid > 0 || samples.test > 0;
  cost.evaluation = text(of("validation", samples.valid), ", ", of("the test", samples.test),
                         any ? not_counted_text(recipe.task) : "",
                         all ? "" : " (the data's options, valid and test, do not say of how many samples)");
}

}  // namespace

ModelCost cost_without_data(const Recipe& recipe, const MeasureOptions& measure, const Systems& systems) {
  ModelCost cost;
  const TrainOptions& options = recipe.train;
  const auto subject_of = [&](double nodes, at::Device device) {
    return random_subject(recipe, nodes, device, systems);
  };
  double whole = 0, part = 0;  // FLOPs of a sample, and of what training takes of it (train.crop)
  double of_a_part = 0;        // tokens
  {
    Subject subject = subject_of(0, at::kMeta);
    const Trained t{subject.model, std::move(subject.task), nullptr, nullptr, nullptr};
    fill_facts(t, options, cost);
    cost.threads = threads_of(t, options, measure);
    cost.metric = !options.best.empty() ? options.best : t.task != nullptr ? t.task->headline() : "";
    whole = training_flops(*t.model, nullptr, t.model->interface.typical_nodes);
    of_a_part = tokens_of_a_sample(*t.model, options);
    part = training_flops(*t.model, nullptr, of_a_part);
  }
  cost.epoch_tokens = static_cast<double>(declared_samples(recipe.data).train) * of_a_part;
  if (measure.steps > 0) {
    const double nodes = short_enough(recipe, systems);
    // A few samples stand for a batch of them.
    TrainOptions few = options;
    few.batch = nodes > 0 ? 1 : std::min<int64_t>(options.batch, 64);
    few.batch_tokens.reset();
    double timed = 0, timed_part = 0, tokens_of_part = 0;  // the same of the samples made here
    const auto make = [&] {
      Subject subject = subject_of(nodes, measure.device);
      const auto n = std::max<int64_t>(1, std::llround(subject.model->interface.typical_nodes));
      tokens_of_part = std::min(static_cast<double>(n), of_a_part);
      timed = training_flops(*subject.model, nullptr, static_cast<double>(n));
      timed_part = training_flops(*subject.model, nullptr, tokens_of_part);
      return Trained{subject.model, nullptr, random_data(subject, few.batch, n), nullptr, nullptr};
    };
    make();
    const double samples = cost.tokens_a_step / static_cast<double>(options.accumulate) / of_a_part;
    const OfASample sample =
        time(make, few, measure, part / timed_part * samples / static_cast<double>(few.batch), cost);
    estimate_evaluation(recipe, sample.forward_seconds * whole / timed, cost);
    // What the short sample takes of memory, a whole one takes as often as it has its tokens.
    const double bytes = sample.bytes * of_a_part / tokens_of_part;
    cost.accumulate = batches_that_fit(options, bytes, measure);
    const std::string too_large = too_large_text(options, bytes, measure);
    cost.how = nodes > 0 ? text("timed on one random sample of ", nodes, " tokens, by FLOPs")
                         : "timed on random tokens";
    cost.how += too_large.empty() ? "" : "; " + too_large;
  }
  return cost;
}

}  // namespace weyl
