#include "weyl/tasks/pose_correction.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/full.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "weyl/carriers/layout.h"
#include "weyl/core/check.h"
#include "weyl/ops/lie/elements.h"
#include "weyl/ops/lie/log.h"
#include "weyl/tasks/label_statistics.h"

namespace weyl {
namespace {

constexpr const char* kTask = PoseCorrectionOptions::name_in_config;
constexpr const char* kPose = "pose";
constexpr const char* kAsked = "asked";
constexpr const char* kTime = "time";
constexpr const char* kPoseCorrection = "correction";
constexpr int64_t kCorrectionChunk = 2048;  // samples at a time when a whole set is read
constexpr int64_t kMostAhead = 12;          // poses ahead that are measured one by one

const Poses& corrected_poses(const Input& input) {
  const auto* poses = std::get_if<Poses>(&input);
  require(poses != nullptr, kTask, ": the input must be poses, got ", name_of(carrier_of(input)));
  return *poses;
}

/// A feature of tokens (N); undefined where the data have none of the name.
Tensor feature_of(const Poses& poses, const Interface& interface, const char* name) {
  for (const Columns& c : scalar_columns(interface, Level::node)) {
    if (c.quantity->name == name && c.end == c.begin + 1 && poses.scalars.defined()) {
      return poses.scalars.select(1, c.begin);
    }
  }
  return {};
}

/// Which tokens are asked for, (N) bool.
Tensor asked_of(const Poses& poses, const Interface& interface) {
  const Tensor asked = feature_of(poses, interface, kAsked);
  return asked.defined() ? asked > 0.5 : at::ones({poses.nodes()}, poses.elements.options().dtype(at::kBool));
}

/// 1 on the coordinates of translations, 0 on all others: (dof) float64.
Tensor translation_coordinates(LieGroup group, at::Device device) {
  std::vector<double> mask(degrees_of_freedom(group), 0.0);
  for (const LieBlock& block : blocks_of(group)) {
    if (block.part == LiePart::translation) {
      std::fill_n(mask.begin() + block.begin, block.size, 1.0);
    }
  }
  return at::tensor(mask, at::kDouble).to(device);
}

/// Squares of log(a^-1 b), compact elements (N, c): of translations and of all other coordinates, (N) each.
struct PartSquares {
  Tensor translation, rest;
};

PartSquares part_squares(LieGroup group, const Tensor& a, const Tensor& b) {
  const lie::Logs logs = lie::logs(a, b, group);
  const Tensor mask = translation_coordinates(group, a.device()), squares = logs.w.square();
  PartSquares found{(squares * mask).sum(1), (squares * (1 - mask)).sum(1)};
  if (!is_rigid(group)) {
    found.rest = at::where(logs.margin <= 0, lie::frobenius_distances(a, b, group), found.rest);
  }
  return found;
}

Tensor compact64(const Tensor& matrices, LieGroup group) {
  return lie::compact_elements(matrices.to(at::kDouble), group);
}

const Tensor& true_poses(const Batch& batch) {
  const auto found = batch.labels.find(kPose);
  require(found != batch.labels.end(), kTask, ": the batch has no label '", kPose, "'");
  return found->second;
}

/// The tokens of each graph that lie ahead, by time: those that are asked for in graphs where others are not.
std::vector<std::vector<int64_t>> ahead_of(const Poses& poses, const Tensor& asked, const Tensor& time) {
  const Tensor is_asked = asked.cpu().contiguous(), times = time.to(at::kCPU, at::kDouble).contiguous();
  const auto* a = is_asked.const_data_ptr<bool>();
  const auto* t = times.const_data_ptr<double>();
  std::vector<std::vector<int64_t>> all;
  for (int64_t s = 0; s < poses.graphs.count(); ++s) {
    std::vector<int64_t> rows;
    for (int64_t i = poses.graphs.offsets[s]; i < poses.graphs.offsets[s + 1]; ++i) {
      if (a[i]) {
        rows.push_back(i);
      }
    }
    if (static_cast<int64_t>(rows.size()) == poses.graphs.size(s)) {
      rows.clear();
    }
    std::ranges::stable_sort(rows, {}, [&](int64_t i) { return t[i]; });
    all.push_back(std::move(rows));
  }
  return all;
}

class CorrectionErrors : public Meter {
 public:
  CorrectionErrors(Interface interface, double lengths, double angles)
      : interface_(std::move(interface)), lengths_(lengths), angles_(angles) {}

  void add(const Batch& batch, const Named& predictions) override {
    const at::NoGradGuard no_grad;
    const Poses& poses = corrected_poses(batch.input);
    const auto found = predictions.find(kPose);
    require(found != predictions.end(), kTask, ": there is no prediction '", kPose, "'");
    const auto compact = [&](const Tensor& g) { return compact64(g.detach().cpu(), poses.group); };
    const PartSquares e = part_squares(poses.group, compact(found->second), compact(true_poses(batch)));
    const Tensor asked = asked_of(poses, interface_).cpu(), time = feature_of(poses, interface_, kTime);
    all_.add(e, asked.nonzero().select(1, 0));
    if (!time.defined()) {
      return;
    }
    for (const auto& rows : ahead_of(poses, asked, time)) {
      for (size_t k = 0; k < rows.size() && k < static_cast<size_t>(kMostAhead); ++k) {
        steps_.resize(std::max(steps_.size(), k + 1));
        steps_[k].add(e, at::full({1}, rows[k], at::kLong));
      }
    }
  }

  void merge(const Meter& other) override {
    const auto& more = same_kind<CorrectionErrors>(other, kTask);
    require(more.interface_ == interface_ && more.lengths_ == lengths_ && more.angles_ == angles_, kTask,
            ": a meter must be merged with one of the same data and units");
    const std::vector<Sums> steps = more.steps_;  // a copy: `other` may be this meter
    all_.add(Sums(more.all_));
    steps_.resize(std::max(steps_.size(), steps.size()));
    for (size_t k = 0; k < steps.size(); ++k) {
      steps_[k].add(steps[k]);
    }
  }

  void tell(Message& message) override {
    int64_t steps = std::ssize(steps_);
    message(all_.translation, all_.rest, all_.count, steps);
    steps_.resize(static_cast<size_t>(steps));
    for (Sums& step : steps_) {
      message(step.translation, step.rest, step.count);
    }
  }

  Metrics values() const override { return all_.count > 0 ? values_of(all_) : Metrics{}; }

  std::vector<MetricName> names(const Schema&) const override {
    std::vector<MetricName> all{{"relative_error"}, {angle_name()}};
    if (moves()) {
      all.push_back({"translation_rmse"});
    }
    return all;
  }

  std::vector<Breakdown> breakdowns(const Schema&) const override {
    Breakdown ahead{"pose ahead", {}};
    for (size_t k = 0; k < steps_.size(); ++k) {
      ahead.rows.emplace_back(std::to_string(k + 1), values_of(steps_[k]));
    }
    return steps_.size() > 1 ? std::vector{ahead} : std::vector<Breakdown>{};
  }

 private:
  struct Sums {
    double translation = 0, rest = 0;
    int64_t count = 0;

    void add(const PartSquares& e, const Tensor& rows) {
      translation += at::index_select(e.translation, 0, rows).sum().item<double>();
      rest += at::index_select(e.rest, 0, rows).sum().item<double>();
      count += rows.size(0);
    }
    void add(const Sums& more) {
      translation += more.translation;
      rest += more.rest;
      count += more.count;
    }
  };

  LieGroup group() const { return *interface_.group; }
  bool moves() const { return matrix_size(group()) > dimension_of(group()); }
  std::string angle_name() const { return is_rigid(group()) ? "angle_rmse" : "linear_rmse"; }

  Metrics values_of(const Sums& sums) const {
    const auto n = static_cast<double>(sums.count);
    const double translation = sums.translation / n, rest = sums.rest / n;
    const double relative = translation / (lengths_ * lengths_) + rest / (angles_ * angles_);
    Metrics metrics{{"relative_error", {std::sqrt(moves() ? relative / 2 : relative), ""}}};
    const double turn = is_rigid(group()) ? 180 / std::numbers::pi : 1;
    metrics[angle_name()] = {std::sqrt(rest) * turn, is_rigid(group()) ? "degrees" : ""};
    if (moves()) {
      metrics["translation_rmse"] = {std::sqrt(translation), interface_.length_unit};
    }
    return metrics;
  }

  Interface interface_;
  double lengths_, angles_;
  Sums all_;
  std::vector<Sums> steps_;
};

/// The last token that is given in the graph of each token, (N) int64: of one without any, the token itself.
Tensor last_given(const Poses& poses, const Tensor& asked, const Tensor& time) {
  const Tensor is_asked = asked.cpu().contiguous(), times = time.to(at::kCPU, at::kDouble).contiguous();
  const auto* a = is_asked.const_data_ptr<bool>();
  const auto* t = times.const_data_ptr<double>();
  std::vector<int64_t> last(poses.nodes());
  for (int64_t s = 0; s < poses.graphs.count(); ++s) {
    int64_t best = -1;
    for (int64_t i = poses.graphs.offsets[s]; i < poses.graphs.offsets[s + 1]; ++i) {
      best = !a[i] && (best < 0 || t[i] > t[best]) ? i : best;
    }
    for (int64_t i = poses.graphs.offsets[s]; i < poses.graphs.offsets[s + 1]; ++i) {
      last[i] = a[i] && best >= 0 ? best : i;
    }
  }
  return at::tensor(last, at::kLong);
}

}  // namespace

std::vector<Quantity> PoseCorrection::labels() const {
  return {{.name = kPose, .kind = Kind::element}};
}

Interface PoseCorrection::interface(const Schema& data) const {
  require<ConfigError>(data.carrier() == Carrier::poses, "task ", kTask, ": needs poses, the data set holds ",
                       name_of(data.carrier()));
  Interface result = data.interface;
  result.outputs = {
      {.name = kPoseCorrection, .channels = degrees_of_freedom(*data.interface.group), .role = Role::free}};
  return result;
}

std::vector<Quantity> PoseCorrection::predictions(const Interface& model) const {
  std::vector<Quantity> all = model.outputs;
  all.insert(all.begin(), labels()[0]);
  return all;
}

void PoseCorrection::fit(const Dataset& train) {
  double translation = 0, rest = 0, count = 0;
  for_each_chunk(train, kCorrectionChunk, [&](const Batch& batch) {
    const Poses& poses = corrected_poses(batch.input);
    const Tensor asked = asked_of(poses, train.schema().interface).to(at::kDouble);
    const PartSquares e = part_squares(poses.group, compact64(poses.elements, poses.group),
                                       compact64(true_poses(batch), poses.group));
    translation += (e.translation * asked).sum().item<double>();
    rest += (e.rest * asked).sum().item<double>();
    count += asked.sum().item<double>();
  });
  require<DataError>(count > 0, "task ", kTask, ": no pose of the training set is asked for");
  constexpr double kRounding = 1e-9;
  const double lengths = std::sqrt(translation / count), angles = std::sqrt(rest / count);
  require<DataError>(
      std::isfinite(lengths) && std::isfinite(angles) && (lengths > kRounding || angles > kRounding), "task ",
      kTask, ": the poses that are given must differ from those that are asked for, but are off by ", lengths,
      " and ", angles, " rad alone (ahead or noise of the data ask for others)");
  lengths_ = lengths > kRounding ? lengths : 1;
  angles_ = angles > kRounding ? angles : 1;
}

bool PoseCorrection::keep(const Task& before, const Interface& from, const Interface& to) {
  const auto* other = dynamic_cast<const PoseCorrection*>(&before);
  if (other == nullptr || from.length_unit != to.length_unit) {
    return false;
  }
  lengths_ = other->lengths_;
  angles_ = other->angles_;
  return true;
}

NamedTensors PoseCorrection::state() const {
  return {{"scales", at::tensor({lengths_, angles_}, at::kDouble)}};
}

void PoseCorrection::load(const NamedTensors& state) {
  const Tensor scales = saved_numbers(state, kTask, "scales", {2});
  require<DataError>((scales > 0).all().item<bool>(), "task ", kTask, ": 'scales' must be positive");
  lengths_ = scales[0].item<double>();
  angles_ = scales[1].item<double>();
}

std::vector<Tensor> PoseCorrection::loss_weights(const Batch& batch, const Interface& model) const {
  return {asked_of(corrected_poses(batch.input), model).sum().to(at::kDouble)};
}

Tensor PoseCorrection::corrected(const Poses& poses, const Named& outputs) const {
  const auto found = outputs.find(kPoseCorrection);
  require(found != outputs.end(), kTask, ": the model has no output '", kPoseCorrection, "'");
  const Tensor mask = translation_coordinates(poses.group, found->second.device());
  const Tensor delta = found->second.to(at::kDouble) * (lengths_ * mask + angles_ * (1 - mask));
  return lie::compose(compact64(poses.elements, poses.group),
                      lie::exp(lie::from_orthonormal(delta, poses.group), poses.group), poses.group);
}

Named PoseCorrection::answer(const Poses& poses, const Interface& model, const Named& outputs) const {
  const at::NoGradGuard no_grad;
  Named all = outputs;
  const Tensor g = lie::element_matrices(corrected(poses, outputs), poses.group);
  const Tensor asked = asked_of(poses, model).view({-1, 1, 1});
  all[kPose] = at::where(asked, g, poses.elements.to(at::kDouble));
  return all;
}

Step PoseCorrection::step(Model& model, const Batch& batch, const LossShares& shares) const {
  const Poses& poses = corrected_poses(batch.input);
  const Named outputs = model(batch.input);
  const Tensor made = corrected(poses, outputs),
               asked = asked_of(poses, model.interface).to(made.scalar_type());
  const PartSquares e =
      part_squares(poses.group, made, compact64(true_poses(batch).to(made.device()), poses.group));
  const Tensor cost =
      e.translation / (lengths_ * lengths_) + options_.angle_weight * e.rest / (angles_ * angles_);
  const Tensor loss = (cost * asked).sum() / asked.sum().clamp_min(1);
  return {shared(loss, shares, 0), model.training() ? Named{} : answer(poses, model.interface, outputs)};
}

Named PoseCorrection::predict(Model& model, const Batch& batch) const {
  return answer(corrected_poses(batch.input), model.interface, model(batch.input));
}

std::unique_ptr<Meter> PoseCorrection::meter(const Interface& model) const {
  return std::make_unique<CorrectionErrors>(model, lengths_, angles_);
}

std::vector<std::pair<std::string, Metrics>> PoseCorrection::baselines(const Dataset& data) const {
  const Interface& interface = data.schema().interface;
  CorrectionErrors given(interface, lengths_, angles_), last(interface, lengths_, angles_);
  bool ahead = false;
  for_each_chunk(data, kCorrectionChunk, [&](const Batch& batch) {
    const Poses& poses = corrected_poses(batch.input);
    given.add(batch, {{kPose, poses.elements}});
    const Tensor asked = asked_of(poses, interface), time = feature_of(poses, interface, kTime);
    if (time.defined() && !asked.all().item<bool>()) {
      ahead = true;
      last.add(batch, {{kPose, at::index_select(poses.elements, 0, last_given(poses, asked, time))}});
    }
  });
  std::vector<std::pair<std::string, Metrics>> all{{"as given", given.values()}};
  if (ahead) {
    all.emplace_back("last pose", last.values());
  }
  return all;
}

}  // namespace weyl
