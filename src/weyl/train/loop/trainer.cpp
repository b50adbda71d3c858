#include "weyl/train/loop/trainer.h"

#include <ATen/Context.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/full.h>
#include <ATen/ops/tensor.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "weyl/carriers/faulty_sample.h"
#include "weyl/core/check.h"
#include "weyl/core/checksum.h"
#include "weyl/core/random.h"
#include "weyl/parallel/shares.h"
#include "weyl/saved/evaluate.h"
#include "weyl/tasks/task.h"
#include "weyl/train/loop/accumulate.h"
#include "weyl/train/loop/changes_on_resume.h"
#include "weyl/train/loop/compute_settings.h"
#include "weyl/train/loop/loading.h"
#include "weyl/train/loop/overflow.h"

namespace weyl {
namespace {

using Clock = std::chrono::steady_clock;

double since(Clock::time_point then) {
  return std::chrono::duration<double>(Clock::now() - then).count();
}

std::shared_ptr<const Dataset> training_set(const Splits& data) {
  require<ConfigError>(data.train != nullptr && data.train->size() > 0,
                       "train: data must have training samples, got none");
  return data.train;
}

// Parameters that a step changes without the optimiser: running statistics.
NamedTensors statistics_of(const Model& model) {
  NamedTensors statistics;
  for (const Parameter& p : model.parameters()) {
    if (!p.trainable) {
      statistics[p.name] = p.tensor.detach().clone();
    }
  }
  return statistics;
}

// Running statistics, which a step changes without the optimiser, are called so (nn/norms.h, models/grids, models/steerable).
bool has_running_statistics(const Model& model) {
  return std::ranges::any_of(model.parameters(), [](const Parameter& p) {
    return !p.trainable && (p.name.ends_with("running_mean") || p.name.ends_with("running_var") ||
                            p.name.ends_with("mean_square"));
  });
}

/// Of each planned batch the part of this rank, by work.
LoaderOptions of_rank(LoaderOptions options, const std::shared_ptr<Ranks>& ranks,
                      const std::shared_ptr<const Dataset>& data, const std::shared_ptr<const Model>& model) {
  if (ranks != nullptr) {
    options.part = [rank = ranks->rank(), size = ranks->size(), data, model, cropped = !options.crop.empty()](
                       int64_t /*batch*/, std::span<const int64_t> samples) {
      std::vector<int64_t> own;
      const auto shares = shares_of(work_of(samples, *data, cropped ? nullptr : model.get()), size);
      for (const int64_t place : shares[static_cast<size_t>(rank)]) {
        own.push_back(samples[static_cast<size_t>(place)]);
      }
      return own;
    };
  }
  return options;
}

/// The first rank's, in place of that of the others.
void take_of_first(Ranks& ranks, const Tensor& values) {
  const at::NoGradGuard quiet;
  const Tensor dense = values.detach().contiguous();
  ranks.broadcast(dense);
  values.detach().copy_(dense);
}

// What ranks tell each other at each step, added up.
enum Told : size_t { told_stop, told_seconds, told_numbers };

}  // namespace

Trainer::Trainer(SavedModel saved, const TrainOptions& options, Splits data, std::string run,
                 TrainObserver* observer, std::function<bool()> stop, const Systems& systems,
                 std::shared_ptr<Ranks> ranks)
    : ranks_(std::move(ranks)),
      saved_(std::move(saved)),
      systems_(systems),
      data_(std::move(data)),
      run_(std::move(run)),
      observer_(observer),
      stop_(std::move(stop)),
      options_(options),
      schedule_(options_),
      loader_(training_set(data_),
              of_rank(loader_options(options_, *saved_.model, saved_.task.get()), ranks_, data_.train,
                      saved_.model),
              static_cast<uint64_t>(options_.seed)),
      optimiser_(saved_.model->parameters(), options_.optimiser),
      late_(!saved_.model->device().is_cpu() || ReadLate::active()) {
  static TrainObserver nobody;
  observer_ = observer_ != nullptr ? observer_ : &nobody;
  require<ConfigError>(options_.precision != Precision::bf16 || saved_.model->device().is_cuda(),
                       "train.precision: bf16 must run on a CUDA device, got ", saved_.model->device().str());
  if (options_.average) {
    average_.emplace(saved_.model->parameters(), *options_.average, options_.average_warmup);
  }
  best_ = best_metric_of(options_.best, *saved_.task, saved_.model->interface, data_.valid.get());
  if (best_) {
    for (const MetricName& metric :
         saved_.task->meter(saved_.model->interface)->names(data_.valid->schema())) {
      metrics_.push_back(metric.name);
    }
    std::sort(metrics_.begin(), metrics_.end());
  }
  if (ranks_ != nullptr) {
    shares_norms_ = has_running_statistics(*saved_.model);
    sums_ = std::make_unique<GradientSums>(ranks_, saved_.model->parameters(), GradientSums::bucket_bytes,
                                           !shares_norms_);
    sums_->told.resize(told_numbers);
  }
  nominal_ = saved_.model->work_of_token().nominal;
  require<ConfigError>(!options_.flops || nominal_ > 0,
                       "train.flops: the model must have nominal FLOPs, got one without weights");
  watch_.emplace(nullptr, nullptr);
}

void Trainer::set_on_stop_request(const OnStopRequest& on_stop_request) {
  if (ranks_ != nullptr) {
    return;  // a rank that leaves in the middle of a step would leave the others behind
  }
  watch_.emplace(stop_, [this, on_stop_request] { save_and(on_stop_request); });
}

void Trainer::load(const Resumed& resumed) {
  load_parameters(*saved_.model, resumed.weights, resumed.file);
  optimiser_.load(resumed.optimiser, resumed.file);
  require<DataError>(average_.has_value() == !resumed.average.empty(), resumed.file, ": average must be ",
                     average_ ? "there, as train.average asks" : "absent, as in the recipe");
  if (average_) {
    average_->load(resumed.average, resumed.file);
  }
  state_ = resumed.state;
  if (!state_.tokens) {
    state_.tokens = tokens_until(state_.epoch, state_.batch);
  }
  schedule_.load(state_.schedule);
  resumed_ = resumed.recipe.train;
  if (const auto batches = loader_.plan(state_.epoch).size(); state_.batch >= batches) {
    require<DataError>(resumed.data_changed, resumed.file, ": metadata 'state': 'batch' must be below ",
                       batches, ", the batches of an epoch, got ", state_.batch);
    ++state_.epoch;
    state_.batch = 0;
  }
}

int64_t Trainer::steps_per_epoch() const {
  const auto batches = loader_.plan(0).size();
  return (batches + options_.accumulate - 1) / options_.accumulate;
}

int64_t Trainer::tokens_of(int64_t sample) const {
  if (options_.crop.empty()) {
    return data_.train->tokens(sample);
  }
  int64_t cropped = 1;
  const auto axes = static_cast<size_t>(saved_.model->interface.dimension);
  for (size_t a = 0; a < axes; ++a) {  // one number: along all
    cropped *= options_.crop[std::min(a, options_.crop.size() - 1)];
  }
  return cropped;
}

int64_t Trainer::tokens_until(int64_t epoch, int64_t batch) const {
  int64_t tokens = 0;
  for (int64_t sample = 0; epoch > 0 && sample < data_.train->size(); ++sample) {
    tokens += epoch * tokens_of(sample);
  }
  const auto plan = loader_.plan(epoch);
  for (int64_t b = 0; b < std::min(plan.size(), batch); ++b) {
    for (const int64_t sample : plan[b]) {
      tokens += tokens_of(sample);
    }
  }
  return tokens;
}

Elapsed Trainer::elapsed() const {
  const double part = static_cast<double>(state_.batch) / static_cast<double>(loader_.batches());
  return {state_.step, static_cast<double>(state_.epoch) + part, seconds(),
          nominal_ * static_cast<double>(state_.tokens.value_or(0))};
}

// All ranks must have the same plan and moments, and begin with the weights, the averages and the task's statistics of the first.
void Trainer::start_alike() {
  uint64_t plan = 0, moments = 0;
  const EpochPlan first = loader_.plan(state_.epoch);
  for (int64_t b = 0; b < first.size(); ++b) {
    plan = checksum_number(std::as_bytes(std::span<const int64_t>(first[b])), plan);
  }
  for (const auto& [name, moment] : optimiser_.state()) {
    moments =
        checksum_number({static_cast<const std::byte*>(moment.const_data_ptr()), moment.nbytes()}, moments);
  }
  ranks_->require_same("training data", text(data_.train->size(), " samples, plan ", plan));
  ranks_->require_same("the optimiser's state", text("checksum ", moments));
  // What the task takes from the data depends in its last bits on threads, of which ranks may have other numbers.
  NamedTensors learned = saved_.task->state();
  std::string shapes;
  for (const auto& [name, tensor] : learned) {
    shapes += text(name, " ", tensor.numel(), " ");
  }
  ranks_->require_same("what the task takes from the training data", shapes);
  for (auto& [name, tensor] : learned) {
    tensor = tensor.contiguous();
    take_of_first(*ranks_, tensor);
  }
  saved_.task->load(learned);
  for (const Parameter& p : saved_.model->parameters()) {
    take_of_first(*ranks_, p.tensor);
  }
  for (const auto& [name, average] : average_ ? average_->averages() : NamedTensors()) {
    take_of_first(*ranks_, average);
  }
}

std::string Trainer::shares() const {
  if (ranks_ == nullptr) {
    return "";
  }
  constexpr int64_t most = 100;
  const EpochPlan plan = loader_.plan(state_.epoch);
  const int64_t batches = std::min(most, plan.size());
  double samples = 0, balance = 0;
  for (int64_t b = 0; b < batches; ++b) {
    const auto work = work_of(plan[b], *data_.train, options_.crop.empty() ? saved_.model.get() : nullptr);
    samples += static_cast<double>(work.size());
    balance += balance_of(work, shares_of(work, ranks_->size()));
  }
  const auto n = static_cast<double>(batches);
  const auto rounded = [](double x) { return std::round(1000 * x) / 1000; };
  return text("a batch is shared by ", ranks_->size(), " ranks: some ", rounded(samples / n / ranks_->size()),
              " samples a rank, whose mean work is ", rounded(balance / n), " of the largest");
}

double Trainer::seconds() const {
  return ranks_ != nullptr ? agreed_seconds_ : seconds_before_ + since(start_);
}

bool Trainer::stop_asked() const {
  return ranks_ != nullptr ? agreed_stop_ : stop_ && stop_();
}

// Opens the journal and, of a new run, saves the model as it starts.
void Trainer::begin() {
  start_ = saved_at_ = Clock::now();
  saved_.model->train(true);
  loader_.start(state_.epoch, state_.batch);
  if (best_) {
    // One sample, to fail before the first step if validation would.
    const auto one = std::make_shared<Subset>(data_.valid, std::vector<int64_t>{0}, data_.valid->schema());
    const StopRequestWatch::Section section(*watch_);
    evaluate(*saved_.model, *saved_.task, one, evaluate_options(options_, "validation data"));
  }
  if (leads()) {
    journal_.emplace(run_, metrics_, state_.step, state_.metrics_bytes);
    for (const std::string& line : journal_->damages()) {
      observer_->noted(line);
    }
    seconds_before_ = journal_->seconds_before();
  }
  if (ranks_ != nullptr) {
    start_alike();
    const Tensor before = at::full({1}, seconds_before_, at::kDouble);
    ranks_->broadcast(before);
    agreed_seconds_ = seconds_before_ = before.item<double>();
  }
  if (resumed_ && options_.max_seconds && state_.step > 0 && !(seconds_before_ > 0)) {
    observer_->noted(text(run_, "/timing.csv: has no seconds of the ", state_.step,
                          " steps before, so that train.max_seconds counts from here"));
  }
  const Elapsed now = elapsed();
  if (!resumed_) {
    save();
  } else if (!same_budget(*resumed_, options_)) {
    observer_->noted(change_of_budget(*resumed_, options_, state_.schedule, now));
  }
  if (state_.unvalidated) {
    const double mean = state_.loss_sum / static_cast<double>(std::max<int64_t>(state_.summed, 1));
    tick_ = {now, schedule_.fraction(now), mean, *state_.unvalidated, 0};
  }
}

TrainResult Trainer::run() {
  begin();
  const auto out_of_patience = [&] { return options_.patience && state_.waited >= *options_.patience; };
  bool done = schedule_.finished(elapsed()) || out_of_patience();
  if (done && resumed_ && !state_.unvalidated) {
    observer_->noted(finished_text(run_, options_, elapsed(), out_of_patience()));
  }
  while (!done || state_.unvalidated) {
    if (stop_asked()) {
      settle();
      if (unsaved_) {
        save();
      }
      return result(Ending::interrupted);
    }
    if (!state_.unvalidated) {
      const double before = elapsed().epoch;
      train_step();
      done = schedule_.finished(elapsed());
      const auto interval = [&](double epoch) { return std::floor(epoch / options_.evaluate_every); };
      const bool validates = done || interval(elapsed().epoch) > interval(before);
      if (validates || log_due() || save_due()) {
        settle();
      }
      if (validates) {
        state_.unvalidated = tick_.rate;
      }
    }
    std::optional<Metrics> valid;
    if (state_.unvalidated) {
      valid = validate();
      state_.unvalidated.reset();
      done = done || out_of_patience();
    }
    if (done || valid || log_due()) {
      log(valid);
    }
    if (done || save_due()) {
      settle();
      save();
    }
  }
  TrainResult end = result(out_of_patience() ? Ending::patience : Ending::finished);
  if (data_.test && data_.test->size() > 0) {
    if (ranks_ != nullptr) {
      ranks_->barrier();  // the first one has saved it
    }
    const SavedModel best = load_model(run_, saved_.model->device(), {}, systems_);
    for (const Parameter& p : ranks_ != nullptr ? best.model->parameters() : std::vector<Parameter>()) {
      take_of_first(*ranks_, p.tensor);  // a disk of several hosts may still show others an earlier one
    }
    const StopRequestWatch::Section section(*watch_);
    end.test = measured(*best.model, *best.task, data_.test, "test data");
    leave_out(end.test->metrics,
              labels_without_metrics(end.test->metrics, *best.task, *data_.test, "test data"));
  }
  return end;
}

void Trainer::train_step() {
  try {
    take_step();
  } catch (const ShapeError& error) {
    const std::vector<int64_t> samples = samples_of_step();
    settle();  // the step before, which may be what is at fault
    blame_sample("training data", error, samples, [&](int64_t sample) {
      saved_.task->step(*saved_.model, loader_.alone(state_.epoch, sample));
    });
  }
}

std::vector<int64_t> Trainer::samples_of_step() {
  std::vector<int64_t> samples;
  if (planned_epoch_ != state_.epoch) {  // a plan takes as long as all samples are many
    plan_ = loader_.plan(state_.epoch);
    planned_epoch_ = state_.epoch;
  }
  for (auto b = state_.batch; b < std::min(state_.batch + options_.accumulate, plan_.size()); ++b) {
    const std::vector<int64_t> batch = plan_[b];
    samples.insert(samples.end(), batch.begin(), batch.end());
  }
  return samples;
}

void Trainer::refuse_step(const StepNumbers& numbers) {
  if (!leads()) {
    throw RankLeaves("the first rank says which numbers were not finite");
  }
  const std::vector<int64_t> samples = samples_of_step();
  std::vector<int64_t> others;  // evenly spread over the set
  constexpr int64_t most = 8;
  const int64_t n = data_.train->size();
  for (int64_t k = 0; k < most && k < n; ++k) {
    const int64_t sample = k * n / std::min(most, n);
    if (std::ranges::find(samples, sample) == samples.end()) {
      others.push_back(sample);
    }
  }
  const FailedStep step{.data = data_.train.get(),
                        .samples = samples,
                        .others = others,
                        .alone = [&](int64_t sample) { return loader_.alone(state_.epoch, sample); },
                        .statistics = &statistics_before_,
                        .learned = state_.epoch > 0};  // an epoch has every sample
  const Overflow found = explain_overflow(*saved_.model, *saved_.task, step, options_);
  const std::string line = text("train: loss and gradient must be finite, got ", numbers.loss, " and norm ",
                                numbers.norm, " at step ", state_.step + 1, "; ", found.why,
                                "; the state before the step is saved in ", run_, "/last");
  if (found.of_samples) {
    throw DataError(line);
  }
  throw Error(line);
}

std::vector<Batch> Trainer::batches_of_step() {
  const Timed timed(times_.batch), waiting(waited_);
  std::vector<Batch> batches;
  while (static_cast<int64_t>(batches.size()) < options_.accumulate) {
    auto batch = loader_.next();
    if (!batch) {
      break;
    }
    batches.push_back(std::move(*batch));
  }
  return batches;
}

// Of these batches, or of those of all ranks, of which this one's may have no samples.
LateNumbers Trainer::gradients_of(std::vector<Batch> batches) {
  std::vector<bool> counted;
  if (shares_norms_) {
    for (size_t b = 0; b < batches.size(); ++b) {
      counted.push_back(batches[b].count() > 0);
      if (!counted.back()) {  // stands in, so that this rank computes the norms that the others do
        batches[b] = loader_.alone(state_.epoch, plan_[static_cast<size_t>(state_.batch) + b].front());
      }
    }
  }
  if (sums_ != nullptr) {
    std::erase_if(batches, [](const Batch& batch) { return batch.count() == 0; });
    sums_->told[told_stop] = stop_ && stop_() ? 1 : 0;
    sums_->told[told_seconds] = leads() ? seconds_before_ + since(start_) : 0;
  }
  const Tensor loss =
      accumulate_gradients(*saved_.model, *saved_.task, batches, options_, times_, sums_.get(), counted);
  if (sums_ != nullptr) {
    agreed_stop_ = sums_->told[told_stop] > 0;
    agreed_seconds_ = sums_->told[told_seconds];
  }
  const Timed timed(times_.optimiser);
  if (!late_) {
    return LateNumbers({loss.item<double>(), optimiser_.clip_gradients()});
  }
  const Tensor norm = optimiser_.clip_gradients_on_device();
  return {loss.to(norm.device()), norm};  // ranks know the sum of their losses on the CPU
}

void Trainer::take_step() {
  const double factor = schedule_.factor(elapsed());
  saved_.task->progress(schedule_.fraction(elapsed()));
  const auto seed = static_cast<uint64_t>(options_.seed), step = static_cast<uint64_t>(state_.step);
  const uint64_t draws = leads() ? Stream(seed, "step", {step}).bits()  // or all ranks would drop the same
                                 : Stream(seed, "step", {step, static_cast<uint64_t>(ranks_->rank())}).bits();
  statistics_before_ = statistics_of(*saved_.model);
  times_before_ = times_;
  int64_t tokens = 0;
  std::optional<LateNumbers> numbers;
  {
    const StopRequestWatch::Section section(*watch_);
    std::vector<Batch> batches = batches_of_step();
    for (const Batch& batch : batches) {
      tokens += ranks_ == nullptr ? batch.tokens() : 0;
    }
    for (const int64_t sample : ranks_ != nullptr ? samples_of_step() : std::vector<int64_t>()) {
      tokens += tokens_of(sample);
    }
    at::manual_seed(draws);
    numbers.emplace(gradients_of(std::move(batches)));
  }
  settle();  // the step before: the weights are still those that it has left
  {
    const Timed timed(times_.optimiser);
    if (numbers->may_be_finite()) {
      optimiser_.step(factor, numbers->found_inf());
    }
    optimiser_.clear_gradients();
  }
  {
    const Timed timed(times_.logging);
    queued_.emplace(Queued{state_.step,
                           state_.epoch,
                           state_.batch,
                           state_.tokens,
                           std::exchange(statistics_before_, {}),
                           times_before_,
                           {},
                           std::move(*numbers)});
    ++state_.step;
    state_.tokens = state_.tokens.value_or(0) + tokens;
    ++times_.steps;
    unsaved_ = true;
    state_.batch = loader_.position();
    if (state_.batch == loader_.batches()) {
      ++state_.epoch;
      state_.batch = 0;
      loader_.start(state_.epoch);
    }
    const Elapsed now = elapsed();
    queued_->tick = {now, schedule_.fraction(now), 0, options_.optimiser.rate * factor, 0};
  }
  times_before_ = times_;  // of the state that is saved where the run is left while the numbers are read
  if (!late_) {
    settle();
  }
}

// Reads the numbers of the queued step, which is then done, or refused.
void Trainer::settle() {
  if (!queued_) {
    return;
  }
  {
    const Timed timed(times_.optimiser);
    const StopRequestWatch::Section section(*watch_);
    queued_->numbers.read();  // for which the device may need as long as for a step
  }
  {
    const Timed timed(times_.optimiser);
    settle_state();
  }
  const Queued step = std::move(*queued_);
  queued_.reset();
  const StepNumbers numbers = step.numbers.read();
  if (!numbers.finite()) {
    times_ = step.times;
    save();
    refuse_step(numbers);
  }
  tick_ = step.tick;
  tick_.loss = numbers.loss;
  tick_.gradient_norm = numbers.norm;
  observer_->stepped(tick_);
}

// What is saved becomes that after the queued step; where its numbers are not finite, that before it: the optimiser has
// changed nothing then. The watch may have done so.
void Trainer::settle_state() {
  if (std::exchange(queued_->settled, true)) {
    return;
  }
  const StepNumbers numbers = queued_->numbers.read();
  if (!numbers.finite()) {
    state_.step = queued_->step;
    state_.epoch = queued_->epoch;
    state_.batch = queued_->batch;
    state_.tokens = queued_->tokens;
    statistics_before_ = queued_->statistics;
    times_before_ = queued_->times;
    return;
  }
  if (average_) {
    average_->update(statistics_before_);
  }
  state_.loss_sum += numbers.loss;
  state_.gradient_norm_sum += numbers.norm;
  ++state_.summed;
}

// By all ranks together.
Evaluation Trainer::measured(Model& model, const Task& task, const std::shared_ptr<const Dataset>& data,
                             const std::string& where) const {
  BatchOptions options = evaluate_options(options_, where);
  options.ranks = ranks_;
  return evaluate(model, task, data, options);
}

std::optional<Metrics> Trainer::validate() {
  if (!best_) {
    return {};
  }
  const Timed timed(times_.validation);
  times_before_ = times_;
  const WithAverage averaged(average_ ? &*average_ : nullptr, *saved_.model);
  Metrics metrics;
  {
    const StopRequestWatch::Section section(*watch_);
    metrics = measured(*saved_.model, *saved_.task, data_.valid, "validation data").metrics;
  }
  const MetricValue value = best_->of(metrics);
  const Score score = best_->score_of(metrics);
  const double loss = best_->loss_of(metrics);
  const bool lower = best_->lower_is_better(), defined = std::isfinite(value.value);
  const bool improved = is_better(score, state_.best, lower);
  // Of equal ones the model of the lower loss is better; for patience that is no improvement.
  const bool tie_won = defined && !improved && score == *state_.best && std::isfinite(loss) &&
                       state_.best_loss && loss < *state_.best_loss;
  const bool better = improved || tie_won;
  if (!defined && !told_undefined_) {
    told_undefined_ = true;
    observer_->noted(text(best_->name(), " is ", std::isnan(value.value) ? "not defined" : "not finite",
                          " on the validation data at step ", state_.step,
                          ": such a model is never the best"));
  }
  schedule_.observe(score, lower);
  state_.waited = improved ? 0 : state_.waited + 1;
  if (better) {
    state_.best = score;
    state_.best_loss = std::isfinite(loss) ? std::optional(loss) : std::nullopt;
    state_.best_step = state_.step;
    if (leads()) {
      save_best(run_, saved_, state_, elapsed().epoch, best_->name(), value);
    }
  }
  observer_->validated(tick_, metrics, better);
  return metrics;
}

void Trainer::log(const std::optional<Metrics>& metrics) {
  if (!leads()) {
    state_.loss_sum = state_.gradient_norm_sum = 0;
    state_.summed = 0;
    return;
  }
  {
    const Timed timed(times_.logging);
    const double n = static_cast<double>(std::max<int64_t>(state_.summed, 1));
    JournalRow row{
        state_.step, elapsed().epoch, tick_.rate, state_.loss_sum / n, state_.gradient_norm_sum / n, {}};
    for (const auto& [name, metric] : metrics.value_or(Metrics{})) {
      row.valid[name] = metric.value;
    }
    journal_->record(row);
    state_.loss_sum = state_.gradient_norm_sum = 0;
    state_.summed = 0;
  }
  journal_->record_times(state_.step, elapsed().seconds, times_);
  times_ = {};
}

bool Trainer::log_due() const {
  return state_.step % options_.log_every_steps == 0;
}

bool Trainer::save_due() const {
  return (options_.save_every_steps > 0 && state_.step % options_.save_every_steps == 0) ||
         (leads() && since(saved_at_) >= options_.save_every_seconds);
}

void Trainer::save() {
  if (!leads()) {
    unsaved_ = false;
    return;
  }
  {
    const Timed timed(times_.saving);
    save_state();
  }
  if (times_.steps > 0) {
    journal_->record_times(state_.step, elapsed().seconds, times_);
    times_ = {};
  }
  saved_at_ = Clock::now();
  unsaved_ = false;
  observer_->saved(run_ + "/last", state_.step);
}

void Trainer::save_state() {
  state_.schedule = schedule_.state();
  state_.metrics_bytes = journal_->sync_metrics();
  save_checkpoint(run_, saved_, state_, optimiser_, average_ ? &*average_ : nullptr, statistics_before_);
}

// On the watch's thread, while the training computes: reads what a Section keeps as it is, and settles the queued step,
// which the training does not again.
void Trainer::save_and(const OnStopRequest& on_stop_request) {
  TrainResult end;
  std::exception_ptr error;
  try {
    if (queued_) {
      settle_state();
    }
    if (unsaved_) {
      save_state();
      if (times_before_.steps > 0) {
        journal_->record_times(state_.step, elapsed().seconds, times_before_);
      }
    }
    end = result(Ending::interrupted);
  } catch (...) {
    error = std::current_exception();
  }
  on_stop_request(end, error);
}

TrainResult Trainer::result(Ending ending) const {
  const Elapsed now = elapsed();
  const int64_t tokens = state_.tokens.value_or(0);
  TrainResult r{.run = run_,
                .steps = state_.step,
                .seconds = now.seconds,
                .tokens = tokens,
                .flops = training_flops(*saved_.model, saved_.task.get(), static_cast<double>(tokens)),
                .nominal_flops = now.flops,
                .ending = ending};
  if (waited_ > 0 && ending != Ending::interrupted) {
    r.waited = waited_ / since(start_);
  }
  if (state_.best && leads()) {
    const auto file = SafetensorsFile(model_file(run_));
    r.best = Best{best_ ? best_->name() : saved_.task->headline(),
                  read_summary(file.header(), file.path()).unit, state_.best->value, state_.best_step};
  }
  return r;
}

}  // namespace weyl
