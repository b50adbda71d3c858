#include "weyl/tasks/trajectory.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/full.h>

#include <algorithm>
#include <cmath>

#include "weyl/carriers/layout.h"
#include "weyl/core/check.h"
#include "weyl/tasks/label_statistics.h"

namespace weyl {
namespace {

constexpr const char* kDisplacementLabel = "displacement";
constexpr const char* kNextPosition = "position";
constexpr const char* kNodeVelocity = "velocity";
constexpr int64_t kTrajectoryChunk = 2048;  // samples at a time when a whole set is read

bool has_velocity(const Interface& interface) {
  const auto columns = vector_columns(interface, Level::node);
  return std::any_of(columns.begin(), columns.end(), [](const Columns& c) {
    return c.quantity->name == kNodeVelocity && c.quantity->kind == Kind::vector && c.quantity->channels == 1;
  });
}

/// The velocity feature (N, 1, D) in float64.
Tensor velocity(const Points& points, const Interface& interface) {
  for (const auto& c : vector_columns(interface, Level::node)) {
    if (c.quantity->name == kNodeVelocity) {
      return points.vectors.slice(1, c.begin, c.end).to(at::kDouble);
    }
  }
  throw ShapeError("trajectory: the input has no vector feature 'velocity'");
}

const Points& trajectory_points(const Input& input) {
  const auto* points = std::get_if<Points>(&input);
  require(points != nullptr, "trajectory: the input must be points");
  return *points;
}

const Tensor& displacement_label(const Batch& batch) {
  const auto found = batch.labels.find(kDisplacementLabel);
  require(found != batch.labels.end(), "trajectory: the batch has no label 'displacement'");
  return found->second;
}

class SquaredError : public Meter {
 public:
  explicit SquaredError(std::string unit) : unit_(std::move(unit)) {}

  void add(const Batch& batch, const Named& predictions) override {
    const auto found = predictions.find(kDisplacementLabel);
    require(found != predictions.end(), "trajectory: there is no prediction 'displacement'");
    const Tensor& label = displacement_label(batch);
    require(found->second.sizes() == label.sizes(), "trajectory: predictions and labels differ in shape");
    const Tensor error = found->second.detach().to(at::kDouble) - label;
    sum_ += error.square().sum().item<double>();
    count_ += error.numel();
  }

  void merge(const Meter& other) override {
    const auto& more = same_kind<SquaredError>(other, "trajectory");
    require(more.unit_ == unit_, "trajectory: a meter must be merged with one of the same unit, '", unit_,
            "', got '", more.unit_, "'");
    sum_ += more.sum_;
    count_ += more.count_;
  }

  void tell(Message& message) override { message(sum_, count_); }

  Metrics values() const override {
    if (count_ == 0) {
      return {};
    }
    const double mse = sum_ / static_cast<double>(count_);
    return {{"mse", {mse, unit_.empty() ? "" : unit_ + "^2"}}, {"rmse", {std::sqrt(mse), unit_}}};
  }

  std::vector<MetricName> names(const Schema&) const override { return {{"mse"}, {"rmse"}}; }

 private:
  std::string unit_;
  double sum_ = 0;
  int64_t count_ = 0;
};

}  // namespace

std::vector<Quantity> Trajectory::labels() const {
  return {{kDisplacementLabel, Level::node, Kind::vector, 1, Role::offset}};
}

Interface Trajectory::interface(const Schema& data) const {
  require<ConfigError>(data.carrier() == Carrier::points,
                       "task trajectory: needs points, the data set holds ", name_of(data.carrier()));
  require<ConfigError>(
      options_.baseline == Baseline::none || has_velocity(data.interface),
      "task trajectory: baseline needs a vector feature 'velocity', which the data set lacks");
  require<ConfigError>(
      options_.baseline != Baseline::straight_line || data.horizon > 0,
      "task trajectory: baseline = straight_line needs the time between input and target, which the data "
      "set does not tell; best_straight_line does without");
  Interface result = data.interface;
  Quantity output = labels()[0];
  if (options_.baseline != Baseline::none || options_.normalise) {
    output.role = Role::free;  // scaled, or a rest: not the way that the nodes go
  }
  if (const auto* label = find_quantity(data.labels, kDisplacementLabel)) {
    output.unit = label->unit;
  }
  result.outputs = {output};
  return result;
}

std::vector<Quantity> Trajectory::predictions(const Interface& model) const {
  Quantity displacement = labels()[0];
  if (const auto* output = find_quantity(model.outputs, kDisplacementLabel)) {
    displacement.unit = output->unit;
  }
  Quantity position = displacement;
  position.name = kNextPosition;
  position.role = Role::point;
  return {displacement, position};
}

void Trajectory::fit(const Dataset& train) {
  const Interface& features = train.schema().interface;
  require<DataError>(train.size() > 0, "task trajectory: the training set is empty");
  const bool moving = has_velocity(features);
  // sums of v.v, v.d and d.d give the best c, and the mean square of d - c v for any c
  double vv = 0, vd = 0, dd = 0, count = 0;
  for_each_chunk(train, kTrajectoryChunk, [&](const Batch& batch) {
    const Tensor& d = displacement_label(batch);
    dd += d.square().sum().item<double>();
    count += static_cast<double>(d.numel());
    if (moving) {
      const Tensor v = velocity(trajectory_points(batch.input), features);
      vv += v.square().sum().item<double>();
      vd += (v * d).sum().item<double>();
    }
  });
  horizon_ = train.schema().horizon;
  coefficient_ = vv > 0 ? vd / vv : 0;
  const double c = slope();
  const double square = (dd - 2 * c * vd + c * c * vv) / std::max(count, 1.0);
  require<DataError>(std::isfinite(square) && square > 0,
                     "task trajectory: the mean square of what is to be predicted on the training set must "
                     "be positive, got ",
                     square);
  scale_ = options_.normalise ? std::sqrt(square) : 1;
}

bool Trajectory::keep(const Task& before, const Interface& from, const Interface& to) {
  const auto* other = dynamic_cast<const Trajectory*>(&before);
  if (other == nullptr || other->options_.baseline != options_.baseline) {
    return false;
  }
  scale_ = other->scale_ * unit_factor_of(kDisplacementLabel, from, to);
  coefficient_ = other->coefficient_;
  return true;
}

NamedTensors Trajectory::state() const {
  const auto number = [](double x) { return at::full({1}, x, at::kDouble); };
  return {{"coefficient", number(coefficient_)}, {"horizon", number(horizon_)}, {"scale", number(scale_)}};
}

void Trajectory::load(const NamedTensors& state) {
  const auto number = [&](const char* name) {
    return saved_numbers(state, "trajectory", name, {1}).item<double>();
  };
  const double coefficient = number("coefficient"), horizon = number("horizon"), scale = number("scale");
  require<DataError>(scale > 0, "task trajectory: 'scale' must be positive, got ", scale);
  coefficient_ = coefficient;
  horizon_ = horizon;
  scale_ = scale;
}

double Trajectory::slope() const {
  switch (options_.baseline) {
    case Baseline::none:
      return 0;
    case Baseline::straight_line:
      return horizon_;
    case Baseline::best_straight_line:
      break;
  }
  return coefficient_;
}

Trajectory::Answer Trajectory::answer(Model& model, const Input& input) const {
  const Points& points = trajectory_points(input);
  const Named outputs = model(input);
  const auto found = outputs.find(kDisplacementLabel);
  require(found != outputs.end(), "trajectory: the model has no output 'displacement'");
  Tensor displacement = found->second.to(at::kDouble) * scale_;
  if (const double c = slope(); c != 0) {
    displacement = displacement + velocity(points, model.interface) * c;
  }
  const Tensor position = points.positions.to(at::kDouble).unsqueeze(1) + displacement;
  const auto term = outputs.find(term_of_loss);
  return {found->second,
          term == outputs.end() ? Tensor{} : term->second,
          {{kDisplacementLabel, displacement}, {kNextPosition, position}}};
}

std::vector<Tensor> Trajectory::loss_weights(const Batch& batch, const Interface&) const {
  return {loss_weight(displacement_label(batch).numel()),
          loss_weight(trajectory_points(batch.input).count())};  // of the model's own term
}

Step Trajectory::step(Model& model, const Batch& batch, const LossShares& shares) const {
  Answer found = answer(model, batch.input);
  Tensor target = displacement_label(batch);
  if (const double c = slope(); c != 0) {
    target = target - velocity(trajectory_points(batch.input), model.interface) * c;
  }
  const Tensor error = found.output - (target / scale_).to(found.output.scalar_type());
  Tensor loss =
      shared(error.square().sum() / static_cast<double>(std::max<int64_t>(error.numel(), 1)), shares, 0);
  if (found.term.defined()) {
    loss = loss + shared(found.term.sum(), shares, 1);
  }
  return {loss, std::move(found.predictions)};
}

Named Trajectory::predict(Model& model, const Batch& batch) const {
  return answer(model, batch.input).predictions;
}

std::unique_ptr<Meter> Trajectory::meter(const Interface& model) const {
  return std::make_unique<SquaredError>(predictions(model)[0].unit);
}

std::vector<std::pair<std::string, Metrics>> Trajectory::baselines(const Dataset& data) const {
  const Interface& features = data.schema().interface;
  std::vector<std::pair<std::string, double>> lines{{"no motion", 0}};
  if (has_velocity(features)) {
    if (data.schema().horizon > 0) {
      lines.emplace_back("straight line", data.schema().horizon);
    }
    if (coefficient_ != 0) {
      lines.emplace_back("best straight line", coefficient_);
    }
  }
  const auto* label = find_quantity(data.schema().labels, kDisplacementLabel);
  const std::string unit = label ? label->unit : "";
  std::vector<std::unique_ptr<Meter>> meters;
  for (size_t i = 0; i < lines.size(); ++i) {
    meters.push_back(std::make_unique<SquaredError>(unit));
  }
  for_each_chunk(data, kTrajectoryChunk, [&](const Batch& batch) {
    for (size_t i = 0; i < lines.size(); ++i) {
      const Tensor& d = displacement_label(batch);
      const double c = lines[i].second;
      const Tensor line = c == 0 ? d * 0 : velocity(trajectory_points(batch.input), features) * c;
      meters[i]->add(batch, {{kDisplacementLabel, line}});
    }
  });
  std::vector<std::pair<std::string, Metrics>> result;
  for (size_t i = 0; i < lines.size(); ++i) {
    result.emplace_back(lines[i].first, meters[i]->values());
  }
  return result;
}

}  // namespace weyl
