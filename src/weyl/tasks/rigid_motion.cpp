#include "weyl/tasks/rigid_motion.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/full.h>
#include <ATen/ops/isfinite.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/nan_to_num.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <algorithm>
#include <cmath>

#include "weyl/carriers/layout.h"
#include "weyl/core/check.h"
#include "weyl/ops/segment.h"
#include "weyl/tasks/label_statistics.h"
#include "weyl/tasks/object_motion.h"

namespace weyl {
namespace {

const Points& batch_points(const Batch& batch) {
  const auto* points = std::get_if<Points>(&batch.input);
  require(points != nullptr, "rigid_motion: the input must be points");
  return *points;
}

/// A label of the objects as (L, ...), or (L) for one number each.
Tensor label(const Batch& batch, const char* name, at::IntArrayRef shape) {
  const auto found = batch.labels.find(name);
  require(found != batch.labels.end(), "rigid_motion: the batch has no label '", name, "'");
  const Tensor& x = found->second;
  bool fits = x.dim() == static_cast<int64_t>(shape.size());
  for (int64_t d = 0; fits && d < x.dim(); ++d) {
    fits = shape[static_cast<size_t>(d)] < 0 || x.size(d) == shape[static_cast<size_t>(d)];
  }
  require(fits, "rigid_motion: the label '", name, "' must be ", shape, " (-1: any), got ", x.sizes());
  return x;
}

/// Rows (L, ...) of which every number is known.
Tensor known(const Tensor& x) {
  return at::isfinite(x).flatten(1).all(1);
}

Tensor step_of(const Tensor& x, int64_t k) {
  return at::nan_to_num(x.detach().select(1, k).to(at::kDouble), 0, 0, 0);
}

double sum_of(const Tensor& x) {
  return x.sum().item<double>();
}

std::string step_suffix(size_t k) {
  return k == 0 ? "" : text("_step_", k + 1);
}

}  // namespace

MotionLabels motion_labels(const Batch& batch) {
  const Points& points = batch_points(batch);
  const int64_t L = points.objects.count();
  MotionLabels labels{label(batch, "displacement", {L, -1, 3}),
                      label(batch, "turn", {L, -1, 3}),
                      label(batch, "vertex_count", {L, 1}).squeeze(1),
                      label(batch, "contact", {L, 1}).squeeze(1),
                      label(batch, "vertex_mean", {L, 1, 3}).squeeze(1),
                      label(batch, "vertex_moment", {L, 1, 3, 3}).squeeze(1)};
  require(labels.steps() >= 1 && labels.turn.size(1) == labels.steps(),
          "rigid_motion: the labels 'displacement' and 'turn' must have as many steps, at least one, got ",
          labels.steps(), " and ", labels.turn.size(1));
  return labels;
}

ObjectMotions MotionLabels::motion(int64_t k) const {
  return motions_of_turns(step_of(turn, k), step_of(displacement, k));
}

Tensor MotionLabels::weights(int64_t k) const {
  const Tensor all = known(displacement.select(1, k))
                         .logical_and(known(turn.select(1, k)))
                         .logical_and(at::isfinite(count))
                         .logical_and(known(mean))
                         .logical_and(known(moment));
  return at::nan_to_num(count, 0, 0, 0) * all;
}

OverGraphs over_graphs(const Tensor& errors, const Tensor& weights, const Points& points) {
  const Segments graphs = objects_of_graphs(points);
  const Tensor whole = segment_sum(weights, graphs);
  const Tensor mean = segment_sum(errors * weights, graphs) / (whole + whole.eq(0));
  return {mean.sum(), whole.gt(0).sum()};
}

void MotionErrors::Sums::add(const Sums& other) {
  square += other.square;
  squares += other.squares;
  centre += other.centre;
  angle += other.angle;
  objects += other.objects;
}

void MotionErrors::add(const Batch& batch, const Named& predictions) {
  const auto shift = predictions.find("displacement"), turn = predictions.find("turn");
  require(shift != predictions.end() && turn != predictions.end(),
          "rigid_motion: there must be predictions 'displacement' and 'turn'");
  const Points& points = batch_points(batch);
  const MotionLabels labels = motion_labels(batch);
  require(shift->second.dim() == 3 && shift->second.size(0) == labels.displacement.size(0) &&
              shift->second.sizes() == turn->second.sizes(),
          "rigid_motion: predictions must be of ", labels.displacement.size(0), " objects, got ",
          shift->second.sizes(), " and ", turn->second.sizes());
  const int64_t steps = std::min(labels.steps(), shift->second.size(1));
  steps_.resize(std::max(steps_.size(), static_cast<size_t>(steps)));
  for (int64_t k = 0; k < steps; ++k) {
    const Tensor weights = labels.weights(k);
    const ObjectMotions truth = labels.motion(k);
    const ObjectMotions said =
        motions_of_turns(turn->second.detach().select(1, k), shift->second.detach().select(1, k));
    const Tensor squares = vertex_errors(said, truth, at::nan_to_num(labels.mean, 0, 0, 0),
                                         at::nan_to_num(labels.moment, 0, 0, 0));
    const Tensor centres = (said.shift - truth.shift).square().sum(1).sqrt(),
                 angles = angle_errors(said, truth), known_ones = weights.gt(0).to(at::kDouble);
    const OverGraphs mean = over_graphs(squares, weights, points);
    steps_[static_cast<size_t>(k)].add({sum_of(mean.sum), sum_of(mean.graphs), sum_of(centres * known_ones),
                                        sum_of(angles * known_ones), sum_of(known_ones)});
    if (k > 0) {
      continue;
    }
    for (const bool touches : {true, false}) {
      const Tensor these = labels.contact.eq(touches ? 1 : 0).to(at::kDouble), some = known_ones * these;
      (touches ? contact_ : free_)
          .add({sum_of(squares * weights * these), sum_of(weights * these), sum_of(centres * some),
                sum_of(angles * some), sum_of(some)});
    }
  }
}

void MotionErrors::merge(const Meter& other) {
  const auto& more = same_kind<MotionErrors>(other, "rigid_motion");
  require(more.unit_ == unit_, "rigid_motion: a meter must be merged with one of the same unit, '", unit_,
          "', got '", more.unit_, "'");
  steps_.resize(std::max(steps_.size(), more.steps_.size()));
  for (size_t k = 0; k < more.steps_.size(); ++k) {
    steps_[k].add(more.steps_[k]);
  }
  contact_.add(more.contact_);
  free_.add(more.free_);
}

void MotionErrors::tell(Message& message) {
  int64_t steps = std::ssize(steps_);
  message(steps);
  steps_.resize(static_cast<size_t>(steps));
  const auto add = [&](Sums& s) { message(s.square, s.squares, s.centre, s.angle, s.objects); };
  std::ranges::for_each(steps_, add);
  add(contact_);
  add(free_);
}

void MotionErrors::put(const Sums& sums, const std::string& suffix, Metrics& to) const {
  if (sums.squares > 0) {
    to["mse" + suffix] = {sums.square / sums.squares, unit_.empty() ? "" : unit_ + "^2"};
  }
  if (sums.objects > 0) {
    to["centre_error" + suffix] = {sums.centre / sums.objects, unit_};
    to["angle_error" + suffix] = {sums.angle / sums.objects, "rad"};
  }
}

Metrics MotionErrors::values() const {
  Metrics metrics;
  for (size_t k = 0; k < steps_.size(); ++k) {
    put(steps_[k], step_suffix(k), metrics);
  }
  if (metrics.contains("mse")) {
    metrics["rmse"] = {std::sqrt(metrics["mse"].value), unit_};
  }
  put(contact_, "_contact", metrics);
  put(free_, "_free", metrics);
  return metrics;
}

std::vector<MetricName> MotionErrors::names(const Schema& data) const {
  const Quantity* label = find_quantity(data.labels, "displacement");
  const auto steps = static_cast<size_t>(label == nullptr ? 1 : label->channels);
  std::vector<MetricName> names{{"rmse"}};
  const auto add = [&](const std::string& suffix) {
    for (const char* name : {"mse", "centre_error", "angle_error"}) {
      names.push_back({name + suffix});
    }
  };
  for (size_t k = 0; k < steps; ++k) {
    add(step_suffix(k));
  }
  add("_contact");
  add("_free");
  return names;
}

namespace {

constexpr const char *kDisplacement = "displacement", *kTurn = "turn", *kNodePosition = "position",
                     *kVertices = "vertices", *kCorners = "corners", *kVelocity = "velocity",
                     *kIdeal = "motor_ideal", *kMassCentre = "mass_centre";
constexpr int64_t kRigidMotionChunk = 16;  // samples at a time: scenes of thousands of tokens each
constexpr int64_t kFitted = 4096;          // samples that a fit reads, at most
constexpr double kLeastSquare = 1e-12;     // of an error, in units of the loss, where its root is taken
constexpr double kLeastTurn = 1e-3;        // of a set where hardly anything turns, its unit of turns

const Points& points_with_objects(const Input& input) {
  const auto* points = std::get_if<Points>(&input);
  require(points != nullptr, "rigid_motion: the input must be points");
  require(points->objects.rows() == points->nodes(), "rigid_motion: the input must have objects, got none");
  return *points;
}

/// What constant velocity says of `steps` steps, from the labels past_displacement and past_turn. With o the offset of the
/// centre of mass from the object's centre and R the past turn, the centre of mass has come by p = past_displacement +
/// o - R^-1 o, and after k steps the centre by k p + o - R^k o.
Named going_on(const Batch& batch, int64_t steps) {
  const auto past = [&](const char* name) { return batch.labels.at(name).to(at::kDouble).squeeze(1); };
  const Tensor turn = past("past_turn");
  Tensor come = past("past_displacement");
  const auto found = batch.labels.find(kMassCentre);
  const Tensor offset = found == batch.labels.end() ? at::zeros_like(come) : past(kMassCentre);
  const auto change = [&](int64_t k) {  // (R^k - 1) o
    const Tensor turns = static_cast<double>(k) * turn;
    return at::matmul(motions_of_turns(turns, come).change, offset.unsqueeze(2)).squeeze(2);
  };
  come = come - change(-1);
  std::vector<Tensor> shifts, turns;
  for (int64_t k = 1; k <= steps; ++k) {
    shifts.push_back(static_cast<double>(k) * come - change(k));
    turns.push_back(static_cast<double>(k) * turn);
  }
  return {{kDisplacement, at::stack(shifts, 1)}, {kTurn, at::stack(turns, 1)}};
}

/// The offsets of the corners of every node; null where there are none.
const Columns* vertices_of(const std::vector<Columns>& vectors) {
  for (const Columns& c : vectors) {
    if (c.quantity->name == kVertices && c.quantity->kind == Kind::vector &&
        c.quantity->role == Role::offset) {
      return &c;
    }
  }
  return nullptr;
}

/// The ways (N, 3) that nodes have come in a frame; undefined where no feature says it.
Tensor velocities_of(const Points& points, const Interface& interface) {
  for (const Columns& c : vector_columns(interface, Level::node)) {
    if (c.quantity->name == kVelocity && c.quantity->kind == Kind::vector && c.quantity->channels == 1) {
      return points.vectors.select(1, c.begin);
    }
  }
  return {};
}

Tensor output(const Named& outputs, const char* name) {
  const auto found = outputs.find(name);
  require(found != outputs.end(), "rigid_motion: the model has no output '", name, "'");
  return found->second.to(at::kDouble).squeeze(1);  // (L) or (L, 3)
}

Tensor wide_positions(const Points& points) {
  return points.positions.to(at::kDouble);
}

}  // namespace

std::vector<Quantity> RigidMotion::labels() const {
  return {{kDisplacement, Level::object, Kind::vector, 0},
          {kTurn, Level::object, Kind::axial_vector, 0},
          {"contact", Level::object, Kind::scalar},
          {"vertex_count", Level::object, Kind::scalar},
          {"vertex_mean", Level::object, Kind::vector},
          {"vertex_moment", Level::object, Kind::symmetric_tensor}};
}

Interface RigidMotion::interface(const Schema& data) const {
  require<ConfigError>(data.carrier() == Carrier::points && data.interface.dimension == 3,
                       "task rigid_motion: needs points in three dimensions, the data set holds ",
                       name_of(data.carrier()), " in ", data.interface.dimension);
  const Quantity* label = find_quantity(data.labels, kDisplacement);
  if (options_.rollout > 1 || (label != nullptr && label->channels > 1)) {
    require_movable(data.interface);
  }
  const Quantity* velocity = find_quantity(data.interface.features, kVelocity);
  const bool come = velocity != nullptr && velocity->level == Level::node && velocity->kind == Kind::vector &&
                    velocity->channels == 1;
  require<ConfigError>(
      options_.baseline == MotionBaseline::none || come,
      "task rigid_motion: baseline needs a vector feature 'velocity' of the nodes, which the data set lacks");
  const std::string unit = label != nullptr ? label->unit : data.interface.length_unit;
  Interface result = data.interface;
  result.outputs = {
      {.name = "motor_scalar", .level = Level::object},
      {.name = "motor_pseudoscalar", .level = Level::object, .kind = Kind::pseudoscalar, .unit = unit},
      {.name = kIdeal, .level = Level::object, .kind = Kind::vector, .unit = unit},
      {.name = "motor_bivector", .level = Level::object, .kind = Kind::axial_vector}};
  return result;
}

std::vector<Quantity> RigidMotion::predictions(const Interface& model) const {
  const std::string unit = unit_of(model.outputs, kIdeal);
  const int64_t steps = options_.rollout;
  std::vector<Quantity> result{
      {.name = kDisplacement, .level = Level::object, .kind = Kind::vector, .channels = steps, .unit = unit},
      {.name = kTurn, .level = Level::object, .kind = Kind::axial_vector, .channels = steps, .unit = "rad"},
      {.name = kNodePosition, .kind = Kind::vector, .channels = steps, .role = Role::point, .unit = unit}};
  const auto vectors = vector_columns(model, Level::node);
  if (const Columns* vertices = vertices_of(vectors)) {
    result.push_back({.name = kCorners,
                      .kind = Kind::vector,
                      .channels = steps * (vertices->end - vertices->begin),
                      .role = Role::point,
                      .unit = unit});
  }
  return result;
}

void RigidMotion::fit(const Dataset& train) {
  require<DataError>(train.size() > 0, "task rigid_motion: the training set is empty");
  const at::NoGradGuard no_grad;
  const int64_t samples = std::min(train.size(), kFitted);
  double square = 0, weight = 0, displacement = 0, turn = 0, objects = 0;
  for (int64_t begin = 0; begin < samples; begin += kRigidMotionChunk) {
    std::vector<int64_t> which;
    for (int64_t i = begin; i < std::min(begin + kRigidMotionChunk, samples); ++i) {
      which.push_back(i * train.size() / samples);
    }
    const Batch batch = train.batch(which);
    const MotionLabels labels = motion_labels(batch);
    const ObjectMotions known_by = baseline(points_with_objects(batch.input), train.schema().interface);
    const ObjectMotions truth = labels.motion(0), rest = rest_of(truth, known_by);
    const Tensor weights = labels.weights(0), some = weights.gt(0).to(at::kDouble);
    const Tensor known = some.unsqueeze(1);
    // Of unknown objects the labels are 0, those of their vertices may be NaN.
    const Tensor errors = vertex_errors(truth, known_by, labels.mean, labels.moment).nan_to_num(0, 0, 0);
    square += (errors * weights).sum().item<double>();
    weight += weights.sum().item<double>();
    displacement += (rest.shift.square() * known).sum().item<double>() / 3;
    turn += (rest.rotation.slice(1, 0, 3).square() * known).sum().item<double>() / 3;
    objects += some.sum().item<double>();
  }
  require<DataError>(weight > 0,
                     "task rigid_motion: some object of the training set must have all labels, got none");
  const double mean_square = square / weight;
  require<DataError>(
      std::isfinite(mean_square) && mean_square > 0,
      "task rigid_motion: the mean square of what the vertices of the training set move must be "
      "positive, got ",
      mean_square);
  if (options_.normalise) {
    mean_square_ = mean_square;
    // Of a set where nothing but turns, displacements are measured by what its vertices move.
    displacement_ = std::max(std::sqrt(displacement / objects) / 2, 1e-3 * std::sqrt(mean_square));
    turn_ = std::max(std::sqrt(turn / objects), kLeastTurn);
  }
}

bool RigidMotion::keep(const Task& before, const Interface& from, const Interface& to) {
  const auto* other = dynamic_cast<const RigidMotion*>(&before);
  if (other == nullptr || other->options_.baseline != options_.baseline) {
    return false;
  }
  displacement_ = other->displacement_ * unit_factor_of(kIdeal, from, to);
  turn_ = other->turn_;
  return true;
}

NamedTensors RigidMotion::state() const {
  const auto number = [](double x) { return at::full({1}, x, at::kDouble); };
  return {
      {kDisplacement, number(displacement_)}, {kTurn, number(turn_)}, {"mean_square", number(mean_square_)}};
}

void RigidMotion::load(const NamedTensors& state) {
  const auto number = [&](const char* name) {
    const double x = saved_numbers(state, "rigid_motion", name, {1}).item<double>();
    require<DataError>(x > 0, "task rigid_motion: '", name, "' must be positive, got ", x);
    return x;
  };
  const double displacement = number(kDisplacement), turn = number(kTurn),
               mean_square = number("mean_square");
  displacement_ = displacement;
  turn_ = turn;
  mean_square_ = mean_square;
}

std::unique_ptr<Task> RigidMotion::with_rollout(int64_t steps, const Interface& model) const {
  if (steps > 1) {
    require_movable(model);
  }
  auto more = std::make_unique<RigidMotion>(*this);
  more->options_.rollout = steps;
  return more;
}

ObjectMotions RigidMotion::baseline(const Points& points, const Interface& interface) const {
  if (options_.baseline == MotionBaseline::constant_velocity) {
    const Tensor velocities = velocities_of(points, interface);
    require(velocities.defined(), "rigid_motion: the input has no vector feature 'velocity' of its nodes");
    return motions_of_velocities(points, velocities);
  }
  const Tensor none = at::zeros({points.objects.count(), 3}, points.positions.options().dtype(at::kDouble));
  return motions_of_turns(none, none);
}

ObjectMotions RigidMotion::motions(const Named& outputs, const Points& points,
                                   const Interface& interface) const {
  const ObjectMotions said = motions_of_motors(
      1 + turn_ * output(outputs, "motor_scalar"), displacement_ * output(outputs, "motor_pseudoscalar"),
      displacement_ * output(outputs, kIdeal), turn_ * output(outputs, "motor_bivector"));
  return options_.baseline == MotionBaseline::none ? said : composed(baseline(points, interface), said);
}

Tensor RigidMotion::cost(const Tensor& squares) const {
  Tensor relative = squares / mean_square_;
  if (options_.norm_weight == 0) {
    return relative;
  }
  // The root has no slope at 0, and rounding takes squares of nothing below it.
  return relative + options_.norm_weight * relative.clamp_min(0).add(kLeastSquare).sqrt();
}

std::vector<Tensor> RigidMotion::loss_weights(const Batch& batch, const Interface&) const {
  const Points& points = points_with_objects(batch.input);
  const Tensor known = segment_sum(motion_labels(batch).weights(0), objects_of_graphs(points));
  return {known.gt(0).sum().to(at::kDouble)};
}

Step RigidMotion::step(Model& model, const Batch& batch, const LossShares& shares) const {
  const Points& points = points_with_objects(batch.input);
  const MotionLabels labels = motion_labels(batch);
  const Named outputs = model(batch.input);
  const ObjectMotions said = motions(outputs, points, model.interface);
  const Tensor errors = vertex_errors(said, labels.motion(0), labels.mean.nan_to_num(0, 0, 0),
                                      labels.moment.nan_to_num(0, 0, 0));
  const OverGraphs mean = over_graphs(cost(errors), labels.weights(0), points);
  const Tensor loss = shared(mean.sum / mean.graphs.clamp_min(1), shares, 0);
  const Named predictions{{kDisplacement, said.shift.detach().unsqueeze(1)},
                          {kTurn, turns_of({said.rotation.detach(), {}, {}}).unsqueeze(1)}};
  return {loss.to(outputs.at(kIdeal).scalar_type()), predictions};
}

Named RigidMotion::predict(Model& model, const Batch& batch) const {
  Points points = points_with_objects(batch.input);
  const Points first = points;
  const auto found = batch.labels.find(kDisplacement);
  const int64_t asked = options_.rollout,
                steps = std::max(asked, found == batch.labels.end() ? 0 : found->second.size(1));
  const auto vectors = vector_columns(model.interface, Level::node);
  const Columns* vertices = vertices_of(vectors);
  std::vector<Tensor> shifts, turns, positions, corners;
  ObjectMotions all;
  for (int64_t k = 0; k < steps; ++k) {
    ObjectMotions next = motions(model(points), points, model.interface);
    all = k == 0 ? next : composed(all, next);
    shifts.push_back(all.shift);
    turns.push_back(turns_of(all));
    if (k < asked) {
      const Tensor x = wide_positions(first).unsqueeze(1);
      positions.push_back(x + moved_places(first, at::zeros_like(x), all));
      if (vertices != nullptr) {
        corners.push_back(x +
                          moved_places(first, first.vectors.slice(1, vertices->begin, vertices->end), all));
      }
    }
    if (k + 1 < steps) {
      points = moved_objects(points, model.interface, next);
    }
  }
  Named result{{kDisplacement, at::stack(shifts, 1)},
               {kTurn, at::stack(turns, 1)},
               {kNodePosition, at::cat(positions, 1)}};
  if (vertices != nullptr) {
    result[kCorners] = at::cat(corners, 1);
  }
  return result;
}

std::unique_ptr<Meter> RigidMotion::meter(const Interface& model) const {
  return std::make_unique<MotionErrors>(unit_of(model.outputs, kIdeal));
}

std::vector<std::pair<std::string, Metrics>> RigidMotion::baselines(const Dataset& data) const {
  const std::vector<Quantity>& labels = data.schema().labels;
  const std::string unit = unit_of(labels, kDisplacement);
  const bool past =
      find_quantity(labels, "past_displacement") != nullptr && find_quantity(labels, "past_turn") != nullptr;
  MotionErrors still(unit), steady(unit);
  for_each_chunk(data, kRigidMotionChunk, [&](const Batch& batch) {
    const MotionLabels truth = motion_labels(batch);
    const Tensor nothing = at::zeros_like(truth.displacement);
    still.add(batch, {{kDisplacement, nothing}, {kTurn, nothing}});
    if (past) {
      steady.add(batch, going_on(batch, truth.steps()));
    }
  });
  std::vector<std::pair<std::string, Metrics>> result{{"no motion", still.values()}};
  if (past) {
    result.emplace_back("constant velocity", steady.values());
  }
  return result;
}

}  // namespace weyl
