#include "weyl/study/audit.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "weyl/core/check.h"
#include "weyl/core/random.h"
#include "weyl/study/transformations.h"

namespace weyl {
namespace {

constexpr double constant_below = 1e-8;

/// What the exact claims cover.
struct Covered {
  bool rotations = false, reflections = false, translations = false, permutations = false,
       left_motions = false;
};

Covered covered_by(const std::vector<Claim>& claims) {
  Covered covered;
  for (const Claim& claim : claims) {
    covered.rotations |= claim.of == Claim::Of::rotations || claim.of == Claim::Of::rotoreflections;
    covered.reflections |= claim.of == Claim::Of::rotoreflections;
    covered.translations |= claim.of == Claim::Of::translations;
    covered.permutations |= claim.of == Claim::Of::permutations;
    covered.left_motions |= claim.of == Claim::Of::left_motions;
  }
  return covered;
}

/// Keeps a model's parameters and puts them back, bit for bit, with dtype and mode.
class Restore {
 public:
  explicit Restore(Model& model) : model_(model), dtype_(model.dtype()), training_(model.training()) {
    for (const Parameter& p : model.parameters()) {
      kept_.push_back(p.tensor.detach().clone());
    }
  }
  ~Restore() {
    restore();
    model_.train(training_);
  }
  Restore(const Restore&) = delete;
  Restore& operator=(const Restore&) = delete;

  /// Always from the kept weights, so that float64 is not what float32 left over.
  void convert(at::ScalarType dtype) {
    restore();
    model_.to(dtype);
    model_.train(false);
  }

 private:
  void restore() {
    at::NoGradGuard no_grad;
    model_.to(dtype_);
    size_t i = 0;
    for (const Parameter& p : model_.parameters()) {
      p.tensor.detach().copy_(kept_[i++]);
    }
  }

  Model& model_;
  at::ScalarType dtype_;
  bool training_;
  std::vector<Tensor> kept_;
};

bool has_reflections(const Claim& claim) {
  return claim.of == Claim::Of::rotoreflections ||
         (claim.of == Claim::Of::finite && claim.finite->has_reflections());
}

/// Transformations of points that no system claims, or this one does not: they must show.
std::vector<Transformation> controls_of_points(const Symmetry& symmetry, const Schema& inputs) {
  const Covered covered = covered_by(symmetry.exact);
  const int64_t D = inputs.interface.dimension;
  std::vector<Transformation> controls{shears(inputs)};
  if (!covered.rotations && D > 1) {
    controls.push_back(rotations(inputs, false, "rotation"));
  }
  if (std::none_of(symmetry.exact.begin(), symmetry.exact.end(), has_reflections)) {
    controls.push_back(mirrors(inputs));
  }
  if (!covered.translations) {
    controls.push_back(translations(inputs));
    controls.back().name = "translation";
  }
  return controls;
}

std::vector<Transformation> controls_of_poses(const Symmetry& symmetry, const Schema& inputs) {
  std::vector<Transformation> controls{right_factors(inputs)};
  if (!covered_by(symmetry.exact).left_motions) {
    controls.push_back(left_motions(inputs, "left multiplication"));
  }
  return controls;
}

class Auditor {
 public:
  Auditor(Model& model, const Task* task, const Batch& samples, const Schema& schema,
          const AuditOptions& options, Restore& restore)
      : model_(model), task_(task), samples_(samples), schema_(schema), options_(options), restore_(restore) {
    samples_.labels.clear();
    schema_.labels.clear();
    for (const Quantity& q : model.interface.outputs) {
      raw_.push_back(q);
      labels_.push_back(q.name);
    }
    if (task != nullptr) {
      predicted_ = task->predictions(model.interface);
      for (const Quantity& q : predicted_) {
        labels_.push_back("prediction." + q.name);
      }
    }
  }

  void set_dtype(at::ScalarType dtype) {
    dtype_ = dtype;
    // The samples as the model sees them are the truth that is moved: rounding them is not the model's error.
    rounded_ = to(samples_, at::kCPU, dtype);
    base_ = evaluate(rounded_);
    scales_.clear();
    for (size_t i = 0; i < labels_.size(); ++i) {
      scales_.push_back(root_mean_square(base_.at(i), quantity(i)));
    }
  }

  const std::vector<std::string>& labels() const { return labels_; }
  bool constant(size_t output) const { return !(scales_[output] >= constant_below); }

  /// The error of each output under one transformation.
  std::vector<double> errors(const Transformation& transformation) {
    const int64_t B = std::max<int64_t>(1, rounded_.count());
    const int64_t rounds =
        std::max<int64_t>(2, (std::max(options_.elements, transformation.order) + B - 1) / B);
    std::vector<double> worst(labels_.size(), 0);
    for (int64_t round = 0; round < rounds; ++round) {
      Stream stream(options_.seed, "audit " + transformation.name, {static_cast<uint64_t>(round)});
      const Moved moved = transformation.apply(rounded_, round, stream);
      const std::vector<Tensor> seen = evaluate(moved.batch);
      const std::vector<Tensor> expected = act(moved, outputs_before(moved));
      for (size_t i = 0; i < labels_.size(); ++i) {
        if (constant(i)) {
          worst[i] = std::numeric_limits<double>::infinity();
          continue;
        }
        const double difference =
            seen[i].numel() > 0 ? (seen[i] - expected[i]).abs().max().item<double>() : 0;
        const double error = difference / scales_[i];
        worst[i] = std::isfinite(error) ? std::max(worst[i], error) : std::numeric_limits<double>::infinity();
      }
    }
    return worst;
  }

 private:
  const Quantity& quantity(size_t i) const { return i < raw_.size() ? raw_[i] : predicted_[i - raw_.size()]; }

  static void append(const Named& values, const std::vector<Quantity>& quantities, std::vector<Tensor>& to) {
    for (const Quantity& q : quantities) {
      const auto found = values.find(q.name);
      require(found != values.end(), "audit: the model must give the output '", q.name, "' it declares");
      to.push_back(found->second.detach().to(at::kCPU, at::kDouble));
    }
  }

  std::vector<Tensor> evaluate(const Batch& batch) {
    at::NoGradGuard no_grad;
    const Batch placed = to(batch, model_.device(), dtype_);
    std::vector<Tensor> values;
    append(model_(placed.input), raw_, values);
    if (task_ != nullptr) {
      append(task_->predict(model_, placed), predicted_, values);
    }
    return values;
  }

  /// What rounding the moved input does to a sensitive model is no lack of symmetry: the output to move is
  /// that of the input whose image the rounded one is, which takes float64; in float64 itself, to first
  /// order.
  std::vector<Tensor> outputs_before(const Moved& moved) {
    if (!moved.before) {
      return base_;
    }
    const at::ScalarType dtype = std::exchange(dtype_, at::kDouble);
    restore_.convert(dtype_);
    std::vector<Tensor> values = evaluate(*moved.before);
    dtype_ = dtype;
    restore_.convert(dtype_);
    for (size_t i = 0; i < values.size() && moved.magnified != 1; ++i) {
      values[i] = base_[i] + (values[i] - base_[i]) / moved.magnified;
    }
    return values;
  }

  std::vector<Tensor> act(const Moved& moved, const std::vector<Tensor>& base) const {
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

  static double root_mean_square(const Tensor& values, const Quantity& q) {
    if (values.numel() == 0) {
      return 0;
    }
    const bool place = q.kind == Kind::element || (q.kind == Kind::vector && q.role == Role::point);
    const bool centred = place || q.kind == Kind::scalar || q.kind == Kind::pseudoscalar;
    const bool alone = values.size(0) == 1;  // a row that is its own mean
    const Tensor v = centred && !alone ? values - values.mean(0, true) : values;
    return std::sqrt(v.square().mean().item<double>());
  }

  Model& model_;
  const Task* task_;
  Batch samples_, rounded_;
  Schema schema_;
  AuditOptions options_;
  Restore& restore_;
  std::vector<Quantity> raw_, predicted_;
  std::vector<std::string> labels_;
  std::vector<Tensor> base_;
  std::vector<double> scales_;
  at::ScalarType dtype_ = at::kFloat;
};

}  // namespace

std::string dtype_name(at::ScalarType dtype) {
  return dtype == at::kDouble ? "float64" : "float32";
}

AuditReport audit(Model& model, const Task* task, const Batch& samples, const Schema& schema,
                  const AuditOptions& options) {
  const AuditOptions limits;
  require<ConfigError>(options.tolerance_float32 <= limits.tolerance_float32 &&
                           options.tolerance_float64 <= limits.tolerance_float64,
                       "audit: tolerances may only be tightened below ", limits.tolerance_float32,
                       " (float32) and ", limits.tolerance_float64, " (float64), got ",
                       options.tolerance_float32, " and ", options.tolerance_float64);
  require<ConfigError>(!options.dtypes.empty(), "audit: must have a dtype to check in, got none");
  const Batch exact = on_grid(samples);
  Schema inputs = schema;
  inputs.labels.clear();
  const int64_t D = schema.interface.dimension;

  const Symmetry symmetry = model.symmetry();
  const Covered covered = covered_by(symmetry.exact);
  std::vector<Transformation> claims;
  for (const Claim& claim : symmetry.exact) {
    claims.push_back(transformation_of(claim, inputs));
  }
  // What is not claimed must show.
  const bool points = std::holds_alternative<Points>(samples.input);
  std::vector<Transformation> controls =
      points ? controls_of_points(symmetry, inputs) : controls_of_poses(symmetry, inputs);
  if (!covered.permutations) {
    controls.push_back(permutations(inputs));
    controls.back().name = "permutation";
  }

  AuditReport report;
  Restore restore(model);
  Auditor auditor(model, task, exact, inputs, options, restore);
  for (const at::ScalarType dtype : options.dtypes) {
    restore.convert(dtype);
    auditor.set_dtype(dtype);
    const double tolerance = dtype == at::kDouble ? options.tolerance_float64 : options.tolerance_float32;
    for (const Transformation& claim : claims) {
      const std::vector<double> errors = auditor.errors(claim);
      for (size_t i = 0; i < errors.size(); ++i) {
        report.claims.push_back({claim.name, auditor.labels()[i], dtype_name(dtype), errors[i], tolerance,
                                 errors[i] <= tolerance});
      }
    }
  }
  // In the last dtype, the finest by default.
  const std::string dtype = dtype_name(options.dtypes.back());
  const auto measure = [&](const Transformation& transformation, const std::string& group) {
    const std::vector<double> errors = auditor.errors(transformation);
    double worst = 0;
    for (size_t i = 0; i < errors.size(); ++i) {
      if (!group.empty()) {
        report.measures.push_back({group, auditor.labels()[i], dtype, errors[i]});
      }
      worst = auditor.constant(i) ? worst : std::max(worst, errors[i]);
    }
    return worst;
  };
  for (const Claim& claim : symmetry.approximate) {
    measure(transformation_of(claim, inputs), claim.group);
  }
  if (!points && inputs.interface.group != LieGroup::so2) {  // left and right are one there
    measure(right_motions(inputs), "right multiplication");
  }
  // A control tells its worst output; of rotations every output is told, unless that was done just now.
  const std::string rotations_as =
      covered_by(symmetry.approximate).rotations ? "" : "SO(" + std::to_string(D) + ")";
  for (const Transformation& control : controls) {
    const double error = measure(control, control.name == "rotation" ? rotations_as : "");
    report.controls.push_back({control.name, error, control_at_least, error >= control_at_least});
  }

  report.passed = !report.claims.empty();
  for (const AuditClaim& claim : report.claims) {
    report.passed &= claim.passed;
  }
  for (const AuditControl& control : report.controls) {
    report.passed &= control.passed;
  }
  return report;
}

}  // namespace weyl
