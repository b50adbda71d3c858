#include "weyl/saved/predictor.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/isfinite.h>
#include <ATen/ops/zeros_like.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "weyl/carriers/coincident_atoms.h"
#include "weyl/carriers/consistency.h"
#include "weyl/carriers/layout.h"
#include "weyl/core/check.h"
#include "weyl/core/checksum.h"
#include "weyl/saved/each_batch.h"
#include "weyl/saved/ensemble.h"
#include "weyl/tasks/conformers.h"

namespace weyl {
namespace {

/// A place that is not finite would be a prediction that is none, or a fault of whatever part of a system meets it first.
void require_finite_places(const Input& input) {
  const auto* points = std::get_if<Points>(&input);
  if (points == nullptr || !points->positions.defined() || points->positions.dim() != 2 ||
      points->positions.size(1) == 0 || at::isfinite(points->positions).all().item<bool>()) {
    return;
  }
  const Tensor places = points->positions.detach().to(at::kCPU, at::kDouble).contiguous();
  const double* x = places.const_data_ptr<double>();
  const int64_t D = places.size(1);
  const int64_t bad = std::find_if(x, x + places.numel(), [](double v) { return !std::isfinite(v); }) - x;
  require(false, "model input: positions[", bad / D, "][", bad % D, "] must be finite, got ", x[bad]);
}

void require_apart(const Input& input, const Interface& interface) {
  if (const auto* points = std::get_if<Points>(&input)) {
    const std::string coincident = coincident_atoms(*points, interface);
    require(coincident.empty(), "model input: ", coincident);
  }
}

/// The places that nodes are moved to keep the digits of the data: what rounding to the model's dtype took off the input is no
/// motion. So an atom that stays, stays where it was.
void give_back_rounding(Named& values, std::span<const Quantity> outputs, const Input& input,
                        const Input& rounded, const Shift& shift) {
  const auto *given = std::get_if<Points>(&input), *seen = std::get_if<Points>(&rounded);
  if (seen == nullptr || !seen->placed || seen->positions.scalar_type() == at::kDouble) {
    return;
  }
  const auto wide = [](const Tensor& places) { return places.detach().to(at::kCPU, at::kDouble); };
  Tensor off = wide(given->positions) - wide(seen->positions);
  off = shift.none() ? off : off + shift.nodes;
  for (const Quantity& q : outputs) {
    if (const auto value = values.find(q.name);
        value != values.end() && q.level == Level::node && q.kind == Kind::vector && q.role == Role::point) {
      value->second = value->second.to(at::kDouble) + off.unsqueeze(1).to(value->second.device());
    }
  }
}

}  // namespace

Predictor::Predictor(const std::string& path, const PredictorOptions& options, const Systems& systems)
    : Predictor(load_model(path, options.device, options.dtype, systems), options) {}

Predictor::Predictor(SavedModel saved, const PredictorOptions& options)
    : saved_(std::move(saved)), options_(options) {
  model().train(false);
  for (const Parameter& p : model().parameters()) {  // only gradients by positions are ever asked for
    p.tensor.requires_grad_(false);
  }
  set_outputs();
  centre_ = centre_of(model());
  note_on_places_ = note_on_places(model());
}

void Predictor::set_outputs() {
  own_outputs_ = task() != nullptr ? task()->predictions(interface()) : interface().outputs;
  outputs_ = others_.empty() ? own_outputs_ : ensemble_outputs(own_outputs_);
}

void Predictor::join(Predictor other, const std::string& first, const std::string& name) {
  require_same_inputs_and_outputs(saved_, own_outputs_, first, other.saved_, other.own_outputs_, name);
  require_same_data(saved_.trained_on, first, other.saved_.trained_on, name);
  for (size_t i = 0; i < others_.size(); ++i) {  // the first may keep nothing
    require_same_data(others_[i].saved_.trained_on, names_of_others_[i], other.saved_.trained_on, name);
  }
  others_.push_back(std::move(other));
  names_of_others_.push_back(name);
  set_outputs();
}

std::vector<SampleFacts> Predictor::trained_on() const {
  std::vector<SampleFacts> facts{saved_.trained_on};
  for (const Predictor& other : others_) {
    facts.push_back(other.saved_.trained_on);
  }
  return facts;
}

std::vector<std::string> Predictor::notes(bool of_places) const {
  std::vector<std::string> notes = task() != nullptr ? task()->notes() : std::vector<std::string>{};
  if (const size_t count = task() != nullptr ? task()->placements(model().interface).size() : 0; count > 0) {
    notes.push_back(
        text("task ", task()->name(), ": measuring averages over ", count,
             " rotations of the shapes that volumes are made of; predictions of given volumes are of them as "
             "they are"));
  }
  if (of_places && !note_on_places_.empty()) {
    notes.push_back(note_on_places_);
  }
  for (const Predictor& other : others_) {
    for (std::string& note : other.notes(of_places)) {
      if (std::find(notes.begin(), notes.end(), note) == notes.end()) {
        notes.push_back(std::move(note));
      }
    }
  }
  return notes;
}

std::string Predictor::data_warning(const Input& input) const {
  for (const Predictor& other : others_) {
    if (std::string warning = other.data_warning(input); !warning.empty()) {
      return warning;
    }
  }
  constexpr double kFar = 1024;  // of the extent of their graph: ten of float32's 24 bits
  const bool rounds = !note_on_places_.empty() && model().dtype() == at::kFloat;
  const Shift shift = rounds ? to_origin(input) : Shift{};
  if (shift.none()) {
    return model().memory_note(input);
  }
  const Tensor extents = at::index_select(shift.extents, 0, graphs_of(input).index.to(at::kCPU));  // (N)
  const bool far = shift.nodes.abs().amax(1).gt(kFar * extents).any().item<bool>();
  return far ? note_on_places_ : model().memory_note(input);
}

std::vector<Quantity> Predictor::own_outputs(const Asked& asked) const {
  return task() != nullptr ? task()->predictions_asked(interface(), asked) : own_outputs_;
}

std::vector<Quantity> Predictor::outputs(const Asked& asked) const {
  return others_.empty() ? own_outputs(asked) : ensemble_outputs(own_outputs(asked));
}

uint64_t Predictor::checksum() const {
  uint64_t sum = 0;
  for (const Parameter& p : model().parameters()) {
    const Tensor weight = p.tensor.detach().to(at::kCPU).contiguous();
    sum = checksum_number({static_cast<const std::byte*>(weight.const_data_ptr()), weight.nbytes()}, sum);
  }
  for (const Predictor& other : others_) {
    const uint64_t more = other.checksum();
    sum = checksum_number(std::as_bytes(std::span(&more, 1)), sum);
  }
  return sum;
}

std::optional<double> Predictor::reach() const {
  std::optional<double> farthest = model().reach();
  for (const Quantity& q : interface().outputs) {
    farthest = q.level == Level::graph && !q.extensive ? std::nullopt : farthest;
  }
  for (const Predictor& other : others_) {
    const auto reach = other.reach();
    farthest = farthest && reach ? std::optional(std::max(*farthest, *reach)) : std::nullopt;
  }
  return farthest;
}

Named Predictor::operator()(const Input& input, const Asked& asked) const {
  return predicted(input, {}, asked);
}

Named Predictor::operator()(const Batch& batch) const {
  Named conformers;
  if (const auto found = batch.labels.find(conformers_label); found != batch.labels.end()) {
    conformers.insert(*found);
  }
  return predicted(batch.input, conformers, {});
}

Named Predictor::predicted(const Input& input, const Named& labels, const Asked& asked) const {
  if (others_.empty()) {
    return alone(input, labels, asked);
  }
  const at::NoGradGuard no_grad;
  EnsembleMean all(own_outputs(asked));
  all.add(alone(input, labels, asked));
  for (const Predictor& other : others_) {
    all.add(other.alone(input, labels, asked));
  }
  return all.done(task());
}

Named Predictor::as_far_as_labels(const Batch& batch) const {
  return alone(batch.input, batch.labels, {});
}

Named Predictor::alone(const Input& input, const Named& labels, const Asked& asked) const {
  const at::NoGradGuard no_grad;
  require_finite_places(input);
  require_apart(input, interface());
  const bool here = task() != nullptr && task()->moves_inputs();
  const Shift shift = shift_of(input);
  const Input ready = placed(input, shift, here ? at::Device(at::kCPU) : model().device());
  const Named values =
      task() != nullptr ? task()->predict_asked(model(), {ready, labels}, asked) : model()(ready);
  const std::vector<Quantity> outputs = own_outputs(asked);
  Named moved = shifted(values, outputs, shift.back(), ready);
  give_back_rounding(moved, outputs, input, ready, shift);
  return moved;
}

Shift Predictor::shift_of(const Input& input) const {
  if (centre_ == Centre::none) {
    return {};
  }
  require_input(input, interface(), Undeclared::ignored, "model input: ");
  return to_origin(input, centre_);
}

Input Predictor::placed(const Input& input, const Shift& shift, at::Device device) const {
  const Input near = shift.none() ? input : shifted({input, {}}, shift, schema_of(interface())).input;
  return to(near, device, model().dtype());
}

Tensor Predictor::gradient(const Input& input, std::string_view where) const {
  require<ConfigError>(others_.empty(), where, ": is given of one model, got ", others_.size() + 1);
  require<ConfigError>(std::holds_alternative<Points>(input), where, ": the data must be points");
  require_finite_places(input);
  require_apart(input, interface());
  Input ready = placed(input, shift_of(input), model().device());
  auto* points = std::get_if<Points>(&ready);
  const at::AutoGradMode mode(true);
  const Tensor positions = points->positions = points->positions.detach().clone().requires_grad_(true);
  const Named values = model()(ready);
  Tensor sum;
  for (const Quantity& q : interface().outputs) {
    if (q.level == Level::graph && (q.kind == Kind::scalar || q.kind == Kind::pseudoscalar)) {
      const Tensor part = values.at(q.name).sum();
      sum = sum.defined() ? sum + part : part;
    }
  }
  require<ConfigError>(sum.defined(), where,
                       ": the model must have a scalar output at graph level, but has none");
  require<ConfigError>(sum.requires_grad(), where,
                       ": the model's scalar outputs must depend on the positions, but do not");
  const auto gradients = torch::autograd::grad({sum}, {positions}, {}, false, false, /*allow_unused=*/true);
  return gradients[0].defined() ? gradients[0].detach().cpu() : at::zeros_like(positions).cpu();
}

void Predictor::roll_out(int64_t steps, std::string_view where) {
  auto more = task() != nullptr ? task()->with_rollout(steps, interface()) : nullptr;
  require<ConfigError>(
      more != nullptr, where,
      ": needs a model of task rigid_motion, which goes on from where it has left the bodies, got ",
      task() != nullptr ? "one of task " + task()->name() : "one without a task");
  saved_.task = std::move(more);
  for (Predictor& other : others_) {
    other.roll_out(steps, where);
  }
  set_outputs();
}

BatchOptions Predictor::bounds(const std::string& where, const PredictorCalls& calls) const {
  const bool grids = interface().grid;
  BatchOptions bounds;
  // Cells are many: of grids no more than training takes.
  bounds.batch = grids ? std::min(options_.batch, saved_.recipe.batch) : options_.batch;
  bounds.batch_tokens = options_.batch_tokens;
  bounds.batch_edges = options_.batch_edges;
  bounds.where = where;
  bounds.progress = calls.progress;
  bounds.stop = calls.stop;
  return bounds;
}

int64_t Predictor::each(std::shared_ptr<const Dataset> data, const std::string& where, const Use& use,
                        const PredictorCalls& calls) const {
  require(calls.ranks == nullptr, where, ": ranks must share what is predicted, not samples");
  const auto used = [&](const Batch& batch) {
    use(batch);
    return Named();
  };
  return each_predicted(std::move(data), where, used, [](const Named&) {}, calls);
}

int64_t Predictor::each_predicted(std::shared_ptr<const Dataset> data, const std::string& where,
                                  const std::function<Named(const Batch&)>& predict,
                                  const std::function<void(const Named&)>& use,
                                  const PredictorCalls& calls) const {
  const at::NoGradGuard no_grad;
  BatchOptions options = bounds(where, calls);
  options.ranks = calls.ranks;
  options.ahead = interface().grid ? 0 : options.ahead;  // predictions are kept beside the inputs
  SampleDoubts doubts{.axes = without_axes()};
  const auto predicted = [&](const Batch& batch, int64_t first) {
    if (calls.warn && doubts.said.empty()) {
      doubts.said = data_warning(batch.input);
      doubts.said_of = first;
      if (!doubts.said.empty() && calls.ranks == nullptr) {
        calls.warn(doubts.said);
      }
    }
    Named said = predict(batch);
    doubts.axes.add(batch.input, first, [&](int64_t i) { return text(where, ": sample ", i); });
    return said;
  };
  const int64_t used = weyl::each_predicted(model(), std::move(data), options, Form::as_read, predicted, use);
  if (calls.ranks != nullptr) {
    doubts.collect(*calls.ranks);
    if (calls.warn && !doubts.said.empty()) {
      calls.warn(doubts.said);
    }
  }
  if (const std::string said = doubts.axes.warning(); calls.warn && !said.empty()) {
    calls.warn(said);
  }
  return used;
}

SamplesWithoutAxes Predictor::without_axes() const {
  const auto of = [](const Predictor& p) { return SamplesWithoutAxes(p.model(), p.gradient_forces()); };
  SamplesWithoutAxes axes = of(*this);
  for (const Predictor& other : others_) {
    axes = axes.counts() ? axes : of(other);
  }
  return axes;
}

Evaluation Predictor::evaluate(std::shared_ptr<const Dataset> data, const std::string& where,
                               const PredictorCalls& calls) const {
  require<ConfigError>(others_.empty(), where, ": one model is measured at a time, got ", others_.size() + 1);
  require<ConfigError>(task() != nullptr, where, ": the model must have a task to be measured by");
  if (calls.warn &&
      without_axes().counts()) {  // each sample is looked at once more, which costs little beside it
    each_predicted(
        data, where, [](const Batch&) { return Named(); }, [](const Named&) {},
        {.stop = calls.stop, .warn = calls.warn, .ranks = calls.ranks});
  }
  BatchOptions options = bounds(where, calls);
  options.by_sample = calls.by_sample;
  options.ranks = calls.ranks;
  return weyl::evaluate(model(), *task(), std::move(data), options);
}

}  // namespace weyl
