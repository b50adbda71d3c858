#include "weyl/study/audit/auditor.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/isnan.h>
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "weyl/core/check.h"
#include "weyl/core/random.h"
#include "weyl/core/random_tensor.h"
#include "weyl/models/constant_weights.h"
#include "weyl/parallel/message.h"
#include "weyl/study/audit/audit.h"
#include "weyl/study/audit/own_image.h"

namespace weyl {
namespace {

constexpr double constant_below = 1e-8;

/// How often what an output is computed from is displaced by its rounding. The largest difference counts.
constexpr int64_t displacements = 2;

/// Graphs without a volume have no stress: every number of it is NaN.
bool may_be_absent(const Quantity& q) {
  return q.level == Level::graph && q.kind == Kind::symmetric_tensor;
}

/// The rows that have one number at least, int64.
Tensor rows_with_values(const Tensor& values) {
  return at::isnan(values).flatten(1).all(1).logical_not().nonzero().squeeze(1);
}

void append(const Named& values, const std::vector<Quantity>& quantities, std::vector<Tensor>& to) {
  for (const Quantity& q : quantities) {
    const auto found = values.find(q.name);
    require(found != values.end(), "audit: the model must give the output '", q.name, "' it declares");
    to.push_back(found->second.detach().to(at::kCPU, at::kDouble));
  }
}

double root_mean_square(const Tensor& values, const Quantity& q, bool cells) {
  if (values.numel() == 0) {
    return 0;
  }
  if (cells && q.kind == Kind::scalar) {  // (B, c, cells...): the rows are the cells
    const Tensor rows = values.flatten(2);
    return std::sqrt((rows - rows.mean(at::IntArrayRef({0, 2}), true)).square().mean().item<double>());
  }
  const bool place = q.kind == Kind::element || has_place(q);
  const bool centred = place || q.kind == Kind::scalar || q.kind == Kind::pseudoscalar;
  const bool alone = values.size(0) == 1;  // a row that is its own mean
  const Tensor v = centred && !alone ? values - values.mean(0, true) : values;
  return std::sqrt(v.square().mean().item<double>());
}

/// Among thousands of cells the largest difference is that of the one where rounding happened to add up: the
/// answer for a grid is all its cells.
double audited_difference(const Tensor& a, const Tensor& b, bool cells) {
  if (a.numel() == 0) {
    return 0;
  }
  const Tensor off = (a - b).abs();
  return cells ? std::sqrt(off.flatten(1).square().mean(1).max().item<double>()) : off.max().item<double>();
}

/// Moves each row (the last axis) of a tensor by up to `size` of its largest number, in directions of its own.
void displace_rows(Tensor& x, double size, Stream& stream) {
  if (x.defined() && x.numel() > 0) {
    const Tensor largest = std::get<0>(x.abs().max(-1, true));
    x = x + size * largest * uniform_tensor(x.sizes().vec(), -1, 1, stream);
  }
}

/// The samples in float64, their places, vectors and multivectors displaced by up to `size` of themselves: moving them
/// rounds each number a few times, by half of that.
Batch displaced(const Batch& samples, double size, Stream& stream) {
  Batch batch = to(samples, at::kCPU, at::kDouble);
  if (auto* points = std::get_if<Points>(&batch.input)) {
    for (Tensor* x : {&points->positions, &points->vectors, &points->multivectors}) {
      displace_rows(*x, size, stream);
    }
  }
  return batch;
}

}  // namespace

Auditor::Auditor(Model& model, const Task* task, const Batch& samples, int64_t elements, uint64_t seed,
                 std::shared_ptr<Ranks> ranks)
    : model_(model),
      task_(task),
      samples_(samples),
      elements_(elements),
      seed_(seed),
      ranks_(std::move(ranks)),
      kept_dtype_(model.dtype()),
      kept_training_(model.training()) {
  samples_.labels.clear();
  for (const Parameter& p : model.parameters()) {
    kept_.push_back(p.tensor.detach().clone());
  }
  // The likeliest of classes jumps where two are equally likely: what it is taken from is audited.
  for (const Quantity& q : model.interface.outputs) {
    if (q.kind != Kind::category) {
      raw_.push_back(q);
      labels_.push_back(q.name);
    }
  }
  if (task != nullptr) {
    for (const Quantity& q : task->predictions(model.interface)) {
      if (q.kind != Kind::category) {
        predicted_.push_back(q);
        labels_.push_back("prediction." + q.name);
      }
    }
  }
}

Auditor::~Auditor() {
  restore();
  model_.train(kept_training_);
}

void Auditor::restore() {
  at::NoGradGuard no_grad;
  model_.to(kept_dtype_);
  size_t i = 0;
  for (const Parameter& p : model_.parameters()) {
    p.tensor.detach().copy_(kept_[i++]);
  }
}

/// Always from the kept weights, so that float64 is not what float32 left over.
void Auditor::convert(at::ScalarType dtype) {
  restore();
  model_.to(dtype);
  model_.train(false);
}

/// In float32 an output that does not change is never quite constant: rounding differs from sample to sample.
void Auditor::find_constants() {
  dtype_ = at::kDouble;
  convert(dtype_);
  const std::vector<Tensor> values = evaluate(to(samples_, at::kCPU, dtype_));
  for (size_t i = 0; i < values.size(); ++i) {
    const Tensor rows =
        may_be_absent(quantity(i)) ? at::index_select(values[i], 0, rows_with_values(values[i])) : values[i];
    constant_.push_back(root_mean_square(rows, quantity(i), of_cells(i)) < constant_below);
  }
}

void Auditor::set_dtype(at::ScalarType dtype) {
  if (constant_.empty()) {
    find_constants();
  }
  dtype_ = dtype;
  convert(dtype);
  // The samples as the model sees them are the truth that is moved: rounding them is not the model's error.
  rounded_ = to(samples_, at::kCPU, dtype);
  base_ = evaluate(rounded_);
  base_float64_.clear();
  scales_.clear();
  present_.clear();
  for (size_t i = 0; i < labels_.size(); ++i) {
    present_.push_back(may_be_absent(quantity(i)) ? rows_with_values(base_.at(i)) : Tensor());
    scales_.push_back(root_mean_square(those_present(base_[i], i), quantity(i), of_cells(i)));
  }
  find_resolved();
}

/// An output that is a small difference of large numbers, the slow turn of a body that flies fast or energies that hardly
/// differ, has lost its last digits whatever a model does: relative to its own spread alone none could be exact. How
/// many is found in float64, so that no error of the dtype's own kernels makes its limit wider; in float64 itself the
/// displacements are magnified, and count to first order.
void Auditor::find_resolved() {
  const bool wide = dtype_ == at::kDouble;
  const double step = wide ? 0x1p-52 : 0x1p-23, times = wide ? 0x1p20 : 1;
  const double limit = wide ? AuditOptions().tolerance_float64 : widest_float32;
  const std::vector<Tensor>& base = wide ? base_ : base_in_float64();
  resolved_.assign(labels_.size(), 0);
  for (size_t i = 0; wide && i < labels_.size(); ++i) {  // the output's own last place
    const Tensor values = those_present(base[i], i);
    const double largest = values.numel() > 0 ? values.abs().max().item<double>() : 0;
    resolved_[i] = std::isfinite(largest) ? rounding_allowed * step * largest / limit : 0;
  }
  const at::ScalarType dtype = std::exchange(dtype_, at::kDouble);
  for (int64_t k = 0; k < displacements; ++k) {
    Stream stream(seed_, "audit rounding", {static_cast<uint64_t>(k)});
    convert(dtype_);
    for (const Parameter& p : model_.parameters()) {
      const Tensor weight = p.tensor.detach();
      if (weight.is_floating_point()) {
        const Tensor share = times * step * uniform_tensor(weight.sizes().vec(), -1, 1, stream);
        weight.add_(weight * share.to(weight.device()));
      }
    }
    model_.train(false);  // what was made of the weights before is made anew
    const std::vector<Tensor> values = evaluate(displaced(rounded_, times * step, stream));
    for (size_t i = 0; i < labels_.size(); ++i) {
      const double moved =
          audited_difference(those_present(values[i], i), those_present(base[i], i), of_cells(i)) / times;
      if (std::isfinite(moved)) {
        resolved_[i] = std::max(resolved_[i], rounding_allowed * moved / limit);
      }
    }
  }
  for (size_t i = 0; !wide && i < resolved_.size(); ++i) {
    resolved_[i] = std::min(resolved_[i], most_of_spread * scales_[i]);
  }
  dtype_ = dtype;
  convert(dtype_);
}

Tensor Auditor::those_present(const Tensor& values, size_t output) const {
  const Tensor& rows = present_[output];
  return rows.defined() ? at::index_select(values, 0, rows) : values;
}

bool Auditor::absent(size_t output) const {
  return present_[output].defined() && present_[output].numel() == 0 && base_[output].numel() > 0;
}

bool Auditor::constant(size_t output) const {
  return constant_[output] || scales_[output] < constant_below;  // not a number is not constant
}

const std::vector<Tensor>& Auditor::base_in_float64() {
  if (base_float64_.empty()) {
    const at::ScalarType dtype = std::exchange(dtype_, at::kDouble);
    convert(dtype_);
    base_float64_ = evaluate(rounded_);
    dtype_ = dtype;
    convert(dtype_);
  }
  return base_float64_;
}

std::vector<double> Auditor::rounding() {
  std::vector<double> found(labels_.size(), 0);
  if (dtype_ == at::kDouble) {
    return found;
  }
  const std::vector<Tensor>& wide = base_in_float64();
  for (size_t i = 0; i < labels_.size(); ++i) {
    if (!constant(i)) {
      const double moved =
          audited_difference(those_present(base_[i], i), those_present(wide[i], i), of_cells(i)) / scale(i);
      found[i] = std::isfinite(moved) ? moved : 0;
    }
  }
  return found;
}

/// The rounds of elements, one a sample in each.
int64_t Auditor::rounds_of(const Transformation& transformation) const {
  const int64_t B = std::max<int64_t>(1, rounded_.count());
  return std::max<int64_t>(2, (std::max(elements_, transformation.order) + B - 1) / B);
}

Moved Auditor::moved_in(int64_t round, const Transformation& transformation) const {
  Stream stream(seed_, "audit " + transformation.name, {static_cast<uint64_t>(round)});
  return transformation.apply(rounded_, round, stream);
}

bool Auditor::changes_nothing(const Transformation& transformation, const Symmetry& symmetry,
                              const Schema& schema) {
  bool same = true;
  for (int64_t round = 0; same && round < rounds_of(transformation); ++round) {
    same = are_own_images(rounded_, moved_in(round, transformation).batch, symmetry, schema);
  }
  return same;
}

std::vector<std::vector<double>> Auditor::errors(std::span<const Transformation> transformations) {
  std::vector<std::vector<double>> worst(transformations.size(), std::vector<double>(labels_.size(), 0));
  int64_t turn = 0;  // of the ranks, which take rounds by turns
  for (size_t t = 0; t < transformations.size(); ++t) {
    for (int64_t round = 0; round < rounds_of(transformations[t]); ++round) {
      if (turn++ % count_of(ranks_) == (ranks_ != nullptr ? ranks_->rank() : 0)) {
        add_round(moved_in(round, transformations[t]), worst[t]);
      }
    }
  }
  if (ranks_ != nullptr) {
    for (const auto& of_rank : told_by_all(*ranks_, worst)) {
      for (size_t t = 0; t < worst.size(); ++t) {
        std::ranges::transform(worst[t], of_rank[t], worst[t].begin(),
                               [](double a, double b) { return std::max(a, b); });
      }
    }
  }
  return worst;
}

/// Of one round, into the largest so far.
void Auditor::add_round(const Moved& moved, std::vector<double>& worst) {
  const std::vector<Tensor> seen = evaluate(moved.batch);
  const std::vector<Tensor> expected = act(moved, outputs_before(moved));
  for (size_t i = 0; i < labels_.size(); ++i) {
    if (constant(i)) {
      worst[i] = std::numeric_limits<double>::infinity();
      continue;
    }
    const double difference =
        audited_difference(those_present(seen[i], i), those_present(expected[i], i), of_cells(i));
    const double error = difference / scale(i);
    worst[i] = std::isfinite(error) ? std::max(worst[i], error) : std::numeric_limits<double>::infinity();
  }
}

std::vector<Tensor> Auditor::evaluate(const Batch& batch) {
  at::NoGradGuard no_grad;
  const ConstantWeights constant(model_);
  const Batch placed = to(batch, model_.device(), dtype_);
  std::vector<Tensor> values;
  append(model_(placed.input), raw_, values);
  if (task_ != nullptr) {
    append(task_->predict(model_, placed), predicted_, values);
  }
  return values;
}

/// What rounding the moved input does to a sensitive model is no lack of symmetry: the output to move is
/// that of the input whose image the rounded one is, which takes float64; in float64 itself, and for turned
/// points, to first order.
std::vector<Tensor> Auditor::outputs_before(const Moved& moved) {
  if (!moved.before) {
    return base_;
  }
  if (moved.displaced) {
    base_in_float64();
  }
  const at::ScalarType dtype = std::exchange(dtype_, at::kDouble);
  convert(dtype_);
  std::vector<Tensor> values = evaluate(*moved.before);
  if (moved.displaced) {
    for (size_t i = 0; i < values.size(); ++i) {
      values[i] = base_[i] + (values[i] - base_float64_[i]);
    }
  }
  dtype_ = dtype;
  convert(dtype_);
  for (size_t i = 0; i < values.size() && moved.magnified != 1; ++i) {
    values[i] = base_[i] + (values[i] - base_[i]) / moved.magnified;
  }
  return values;
}

std::vector<Tensor> Auditor::act(const Moved& moved, const std::vector<Tensor>& base) const {
  std::vector<Tensor> values;
  size_t first = 0;
  for (const auto* quantities : {&raw_, &predicted_}) {
    Named named;
    for (size_t i = 0; i < quantities->size(); ++i) {
      named[(*quantities)[i].name] = base[first + i];
    }
    append(moved.act(named, *quantities), *quantities, values);
    first += quantities->size();
  }
  return values;
}

}  // namespace weyl
