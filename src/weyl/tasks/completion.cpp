#include "weyl/tasks/completion.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/bmm.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/logaddexp.h>
#include <ATen/ops/nonzero.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "weyl/carriers/loader.h"
#include "weyl/core/check.h"
#include "weyl/core/quantile.h"
#include "weyl/ops/lie/elements.h"
#include "weyl/ops/lie/log.h"
#include "weyl/ops/segment.h"

namespace weyl {
namespace {

constexpr const char* kElement = "element";
constexpr const char* kFlank = "flank";
constexpr const char* kFlankRows = "flank rows";  // made by `prepare`
constexpr const char* kGap = "gap";
constexpr const char* kCorrection = "correction";
constexpr const char* kCandidate = "candidate";
constexpr const char* kMissing = "missing";
constexpr int64_t kCompletionChunk = 2048;  // samples at a time when a whole set is read

const Poses& poses_of(const Input& input) {
  const auto* poses = std::get_if<Poses>(&input);
  require(poses != nullptr, "completion: the input must be poses, got ", name_of(carrier_of(input)));
  return *poses;
}

const Tensor& completion_label(const Batch& batch, const char* name) {
  const auto found = batch.labels.find(name);
  require(found != batch.labels.end(), "completion: the batch has no label '", name, "'");
  return found->second;
}

const Tensor& output_of(const Named& outputs, const char* name) {
  const auto found = outputs.find(name);
  require(found != outputs.end(), "completion: the model has no output '", name, "'");
  return found->second;
}

Tensor taken_rows(const Tensor& x, const Tensor& rows) {
  return at::index_select(x, 0, rows);
}

/// |log(a^-1 b)|^2 and the margin, of compact elements (N, c).
PoseDistances distances(LieGroup group, const Tensor& a, const Tensor& b) {
  const lie::Logs logs = lie::logs(a, b, group);
  Tensor squared = logs.w.square().sum(1);
  const Tensor outside = logs.margin <= 0;
  // On a device it costs less to work out both than to wait for the answer.
  if (!is_rigid(group) && (!outside.is_cpu() || outside.any().item<bool>())) {
    squared = at::where(outside, lie::frobenius_distances(a, b, group), squared);
  }
  return {squared, logs.margin};
}

/// What some rows take for the missing pose, in float64, compact.
Tensor answers(const Poses& poses, const Named& outputs, const Tensor& rows) {
  const auto candidate = outputs.find(kCandidate);
  if (candidate != outputs.end()) {
    return lie::compact_elements(taken_rows(candidate->second, rows).to(at::kDouble), poses.group);
  }
  const Tensor& correction = output_of(outputs, kCorrection);
  const Tensor g = lie::compact_elements(taken_rows(poses.elements, rows).to(at::kDouble), poses.group);
  const Tensor delta = taken_rows(correction, rows).to(at::kDouble);
  return lie::compose(g, lie::exp(lie::from_orthonormal(delta, poses.group), poses.group), poses.group);
}

constexpr const char* kAsWhole = " (task.completion.whole takes sequences of which nothing is missing)";

/// The rows (M) int64 of F, in the order of graphs, of `beside` (N, 1), of which each graph has `sizes` (B, 1).
/// ShapeError: a graph that has none, unless `whole`.
Tensor flank_rows(const Tensor& beside, const Tensor& sizes, bool whole) {
  require(whole || (sizes > 0).all().item<bool>(), "completion: each graph must have a token of flank 1",
          kAsWhole);
  return at::nonzero(beside.select(1, 0)).select(1, 0);
}

/// The row of the first token of flank 1 in each graph, -1 where none is: (N, 1) int64 -> (B).
std::vector<int64_t> first_flanking_rows(const Tensor& flank, const Segments& graphs) {
  const Tensor x = flank.to(at::kCPU, at::kLong).contiguous();
  const auto* beside = x.const_data_ptr<int64_t>();
  std::vector<int64_t> rows;
  for (int64_t s = 0; s < graphs.count(); ++s) {
    const auto *first = beside + graphs.offsets[s], *end = beside + graphs.offsets[s + 1];
    const auto* found = std::find(first, end, 1);
    rows.push_back(found == end ? -1 : found - beside);
  }
  return rows;
}

Named answer(const Poses& poses, const Named& outputs, bool whole) {
  const at::NoGradGuard no_grad;
  const Tensor& gap = output_of(outputs, kGap);
  const Tensor bases = at::tensor(largest_rows(gap, poses.graphs), at::kLong).to(gap.device());
  const Tensor g = answers(poses, outputs, bases);
  Named all = outputs;
  all[kElement] = lie::element_matrices(g, poses.group);
  if (whole) {
    all[kMissing] = segment_logsumexp(gap.to(at::kDouble), poses.graphs);
  }
  return all;
}

class PoseError : public Meter {
 public:
  explicit PoseError(bool whole) : whole_(whole) {}

  void add(const Batch& batch, const Named& predictions) override {
    const Poses& poses = poses_of(batch.input);
    const Segments& graphs = poses.graphs;
    const Tensor flank = completion_label(batch, kFlank).to(at::kCPU, at::kLong).contiguous();
    const auto* beside = flank.const_data_ptr<int64_t>();
    const auto bases = largest_rows(output_of(predictions, kGap), graphs);
    const auto first = first_flanking_rows(flank, graphs);
    std::vector<int64_t> lacking, neighbours;  // the graphs with a gap, and a token beside it
    for (int64_t s = 0; s < graphs.count(); ++s) {
      if (first[s] >= 0) {
        lacking.push_back(s);
        neighbours.push_back(first[s]);
        hits_ += beside[bases[s]] == 1 ? 1 : 0;
      }
    }
    if (whole_) {
      const Tensor missing = output_of(predictions, kMissing).to(at::kCPU, at::kDouble).contiguous();
      for (int64_t s = 0; s < graphs.count(); ++s) {
        told_ += (missing.const_data_ptr<double>()[s] > 0) == (first[s] >= 0) ? 1 : 0;
      }
    } else {
      require(static_cast<int64_t>(lacking.size()) == graphs.count(),
              "completion: each graph must have a token of flank 1", kAsWhole);
    }
    sequences_ += graphs.count();
    const Tensor taken = at::tensor(lacking, at::kLong);
    const auto of_graphs = [&](const Tensor& x) {
      return taken_rows(x.detach().to(at::kCPU, at::kDouble), taken);
    };
    const Tensor truth = of_graphs(completion_label(batch, kElement));
    const PoseDistances error =
        pose_distances(poses.group, of_graphs(output_of(predictions, kElement)), truth);
    const Tensor from =
        taken_rows(poses.elements.to(at::kCPU, at::kDouble), at::tensor(neighbours, at::kLong));
    const Tensor step = pose_distances(poses.group, from, truth).squared;
    for (size_t s = 0; s < lacking.size(); ++s) {
      const double e = error.squared.const_data_ptr<double>()[s];
      errors_.push_back(e);
      relative_ += e / std::max(step.const_data_ptr<double>()[s], 1e-300);
      outside_ += error.margin.const_data_ptr<double>()[s] <= 0 ? 1 : 0;
    }
  }

  void merge(const Meter& other) override {
    const auto& more = same_kind<PoseError>(other, "completion");
    require(more.whole_ == whole_, "completion: a meter must be merged with one of the same option whole");
    const std::vector<double> errors = more.errors_;  // a copy: `other` may be this meter
    errors_.insert(errors_.end(), errors.begin(), errors.end());
    relative_ += more.relative_;
    hits_ += more.hits_;
    outside_ += more.outside_;
    sequences_ += more.sequences_;
    told_ += more.told_;
  }

  void tell(Message& message) override { message(errors_, relative_, hits_, outside_, sequences_, told_); }

  Metrics values() const override {
    Metrics metrics;
    if (whole_ && sequences_ > 0) {
      metrics["missing_accuracy"] = {static_cast<double>(told_) / static_cast<double>(sequences_), ""};
    }
    if (!errors_.empty()) {
      const auto n = static_cast<double>(errors_.size());
      metrics.insert({{"pose_error", {std::accumulate(errors_.begin(), errors_.end(), 0.0) / n, ""}},
                      {"pose_error_median", {median(errors_), ""}},
                      {"relative_error", {relative_ / n, ""}},
                      {"flanking_accuracy", {static_cast<double>(hits_) / n, ""}},
                      {"outside_chart", {static_cast<double>(outside_) / n, ""}}});
    }
    return metrics;
  }

  std::vector<MetricName> names(const Schema&) const override {
    std::vector<MetricName> all{{"pose_error"},
                                {"pose_error_median"},
                                {"relative_error"},
                                {"flanking_accuracy", /*lower_is_better=*/false},
                                {"outside_chart"}};
    if (whole_) {
      all.push_back({"missing_accuracy", /*lower_is_better=*/false});
    }
    return all;
  }

 private:
  bool whole_;
  std::vector<double> errors_;
  double relative_ = 0;
  int64_t hits_ = 0, outside_ = 0, sequences_ = 0, told_ = 0;
};

}  // namespace

std::vector<int64_t> largest_rows(const Tensor& values, const Segments& graphs) {
  const Tensor x = values.detach().to(at::kCPU, at::kDouble).contiguous();
  const auto* numbers = x.const_data_ptr<double>();
  std::vector<int64_t> rows;
  for (int64_t s = 0; s < graphs.count(); ++s) {
    require(graphs.size(s) > 0, "completion: each graph must have tokens, graph ", s, " has none");
    rows.push_back(std::max_element(numbers + graphs.offsets[s], numbers + graphs.offsets[s + 1]) - numbers);
  }
  return rows;
}

Tensor seen_from_flank(const Poses& poses, const Tensor& flank, const Tensor& elements) {
  const at::NoGradGuard no_grad;
  const auto compact = [&](const Tensor& g) {
    return lie::compact_elements(g.to(at::kCPU, at::kDouble), poses.group);
  };
  const Tensor first = at::tensor(first_flanking_rows(flank, poses.graphs), at::kLong);
  const Tensor graphs = at::nonzero(first >= 0).select(1, 0);
  const Tensor from = taken_rows(poses.elements.to(at::kCPU), taken_rows(first, graphs)),
               to = taken_rows(elements.to(at::kCPU), graphs);
  return lie::element_matrices(lie::between(compact(from), compact(to), poses.group), poses.group);
}

PoseDistances pose_distances(LieGroup group, const Tensor& a, const Tensor& b) {
  const at::NoGradGuard no_grad;
  const auto compact = [&](const Tensor& g) {
    return lie::compact_elements(g.to(at::kCPU, at::kDouble), group);
  };
  PoseDistances found = distances(group, compact(a), compact(b));
  return {found.squared.contiguous(), found.margin.contiguous()};
}

std::vector<Quantity> Completion::labels() const {
  return {{.name = kElement, .level = Level::graph, .kind = Kind::element},
          {.name = kFlank, .kind = Kind::category}};
}

Interface Completion::interface(const Schema& data) const {
  require<ConfigError>(data.carrier() == Carrier::poses, "task completion: needs poses, the data set holds ",
                       name_of(data.carrier()));
  Interface result = data.interface;
  result.outputs = {{.name = kGap}};
  result.outputs.push_back(options_.answer == CompletionAnswer::element
                               ? Quantity{.name = kCandidate, .kind = Kind::element}
                               : Quantity{.name = kCorrection,
                                          .channels = degrees_of_freedom(*data.interface.group),
                                          .role = Role::offset});
  return result;
}

std::vector<Quantity> Completion::predictions(const Interface& model) const {
  std::vector<Quantity> all = model.outputs;
  all.insert(all.begin(), labels()[0]);
  if (options_.whole) {
    all.push_back({.name = kMissing, .level = Level::graph});
  }
  return all;
}

void Completion::fit(const Dataset& train) {
  if (!options_.whole) {
    return;
  }
  int64_t lacking = 0;
  for_each_chunk(train, kCompletionChunk, [&](const Batch& batch) {
    for (const int64_t row :
         first_flanking_rows(completion_label(batch, kFlank), poses_of(batch.input).graphs)) {
      lacking += row >= 0 ? 1 : 0;
    }
  });
  require<DataError>(
      lacking > 0 && lacking < train.size(),
      "task.completion.whole: the training set must have sequences with and without a token of "
      "flank 1, got ",
      lacking, " with one of ", train.size());
}

void Completion::prepare(Batch& batch, const Interface& /*model*/) const {
  const Tensor beside = completion_label(batch, kFlank) == 1;
  batch.labels[kFlankRows] =
      flank_rows(beside, segment_sum(beside.to(at::kDouble), poses_of(batch.input).graphs), options_.whole);
}

std::vector<Tensor> Completion::loss_weights(const Batch& batch, const Interface&) const {
  return {loss_weight(poses_of(batch.input).count())};
}

Step Completion::step(Model& model, const Batch& batch, const LossShares& shares) const {
  const Poses& poses = poses_of(batch.input);
  const Segments& graphs = poses.graphs;
  const Named outputs = model(batch.input);
  const Tensor gap = output_of(outputs, kGap).to(at::kDouble);
  const Tensor beside = completion_label(batch, kFlank).to(gap.device()) == 1;  // (N, 1)
  const Tensor sizes = segment_sum(beside.to(at::kDouble), graphs);             // (B, 1)
  const auto prepared = batch.labels.find(kFlankRows);
  const Tensor rows =
      prepared != batch.labels.end() ? prepared->second : flank_rows(beside, sizes, options_.whole);
  const Tensor graph = taken_rows(graphs.index, rows);

  constexpr double infinity = std::numeric_limits<double>::infinity();
  Tensor all = segment_logsumexp(gap, graphs), aside = beside.logical_not();
  const Tensor nothing = sizes == 0;  // (B, 1)
  if (options_.whole) {
    all = at::logaddexp(all, at::zeros_like(all));
    aside = aside.logical_and(taken_rows(nothing.logical_not(), graphs.index));  // finite everywhere
  }
  Tensor right = segment_logsumexp(gap.masked_fill(aside, -infinity), graphs);
  if (options_.whole) {
    right = right.masked_fill(nothing, 0);
  }
  const Tensor gap_loss = (all - right).mean();

  const Tensor truth =
      lie::compact_elements(completion_label(batch, kElement).to(gap.device(), at::kDouble), poses.group);
  const Tensor made = answers(poses, outputs, rows), wanted = taken_rows(truth, graph);
  const Tensor squared = options_.answer == CompletionAnswer::element
                             ? lie::frobenius_distances(made, wanted, poses.group)
                             : distances(poses.group, made, wanted).squared;
  const Tensor of_graphs = 1 / (taken_rows(sizes, graph).select(1, 0) * static_cast<double>(graphs.count()));
  const Tensor pose_loss = (squared * of_graphs).sum();
  return {shared(options_.gap_weight * gap_loss + options_.pose_weight * pose_loss, shares, 0),
          model.training() ? Named{} : answer(poses, outputs, options_.whole)};
}

Named Completion::predict(Model& model, const Batch& batch) const {
  return answer(poses_of(batch.input), model(batch.input), options_.whole);
}

std::unique_ptr<Meter> Completion::meter(const Interface&) const {
  return std::make_unique<PoseError>(options_.whole);
}

std::vector<std::pair<std::string, Metrics>> Completion::baselines(const Dataset& data) const {
  const at::NoGradGuard no_grad;
  PoseError flanking(options_.whole), random(options_.whole);
  const auto measure = [&](const Batch& batch) {
    const Poses& poses = poses_of(batch.input);
    // Tokens stand in any order: the first one is any.
    for (const auto& [meter, gap] : {std::pair{&flanking, completion_label(batch, kFlank).to(at::kDouble)},
                                     {&random, at::zeros({poses.nodes(), 1}, at::kDouble)}}) {
      const Tensor bases = at::tensor(largest_rows(gap, poses.graphs), at::kLong);
      meter->add(batch, {{kElement, taken_rows(poses.elements, bases)},
                         {kGap, gap},
                         {kMissing, at::ones({poses.graphs.count(), 1}, at::kDouble)}});
    }
  };
  try {
    for_each_chunk(data, kCompletionChunk, measure);
  } catch (const ShapeError& error) {  // of the set, whoever asks
    throw DataError(error.what());
  }
  return {{"flanking token", flanking.values()}, {"random token", random.values()}};
}

}  // namespace weyl
