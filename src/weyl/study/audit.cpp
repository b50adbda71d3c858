#include "weyl/study/audit.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/eye.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/round.h>
#include <ATen/ops/zeros.h>

#include <cmath>
#include <functional>
#include <limits>

#include "weyl/core/check.h"
#include "weyl/core/random.h"

namespace weyl {
namespace {

constexpr double constant_below = 1e-8;

std::string dtype_name(at::ScalarType dtype) {
  return dtype == at::kDouble ? "float64" : "float32";
}

/// An output under audit: where its values are found, and how it moves.
struct Output {
  std::string label;
  Quantity quantity;
};

/// A batch after a transformation, and what the transformation makes of the outputs.
struct Moved {
  Batch batch;
  std::function<Named(const Named&, std::span<const Quantity>)> act;
};

struct Transformation {
  std::string name;
  int64_t order = 0;  // of a finite group; 0: drawn at random
  std::function<Moved(const Batch&, int64_t round, Stream&)> apply;
};

const Points& points_of(const Batch& batch) {
  const auto* points = std::get_if<Points>(&batch.input);
  require(points != nullptr, "audit: the samples must be points, got another carrier");
  return *points;
}

Transformation moving(std::string name, int64_t order, Schema schema,
                      std::function<Motions(const Batch&, int64_t, Stream&)> draw) {
  return {std::move(name), order,
          [schema = std::move(schema), draw = std::move(draw)](const Batch& batch, int64_t round,
                                                               Stream& stream) {
            const Motions motions = draw(batch, round, stream);
            return Moved{
                transform(batch, motions, schema),
                [motions, like = batch.input](const Named& values, std::span<const Quantity> quantities) {
                  return transform(values, quantities, motions, like);
                }};
          }};
}

Transformation finite(const Schema& schema, const GroupPtr& group) {
  return moving(group->name(), group->order(), schema, [group](const Batch& batch, int64_t round, Stream&) {
    const int64_t B = batch.count(), D = group->dimension();
    Tensor linear = at::empty({B, D, D}, at::kDouble);
    for (int64_t b = 0; b < B; ++b) {
      const auto element = group->element((round * B + b) % group->order());
      std::copy(element.begin(), element.end(), linear.data_ptr<double>() + b * D * D);
    }
    return Motions{linear, {}};
  });
}

Transformation rotations(const Schema& schema, bool reflections, std::string name) {
  const int64_t D = schema.interface.dimension;
  return moving(std::move(name), 0, schema, [D, reflections](const Batch& batch, int64_t, Stream& stream) {
    return random_rotations(batch.count(), D, reflections, stream);
  });
}

/// Rotations after a mirror: determinant -1, all of them.
Transformation mirrors(const Schema& schema) {
  const int64_t D = schema.interface.dimension;
  return moving("reflection", 0, schema, [D](const Batch& batch, int64_t, Stream& stream) {
    Motions motions = random_rotations(batch.count(), D, false, stream);
    Tensor mirror = at::eye(D, at::kDouble);
    mirror.select(0, 0).select(0, 0).fill_(-1.0);
    motions.linear = at::matmul(motions.linear, mirror);
    return motions;
  });
}

/// x -> Q diag(0.6, 1, 1.5) Q^T x with a random rotation Q: no system claims it.
Transformation shears(const Schema& schema) {
  const int64_t D = schema.interface.dimension;
  return moving("shear", 0, schema, [D](const Batch& batch, int64_t, Stream& stream) {
    const Tensor turn = random_rotations(batch.count(), D, false, stream).linear;
    Tensor stretch = at::eye(D, at::kDouble);
    stretch.select(0, 0).select(0, 0).fill_(0.6);
    stretch.select(0, D - 1).select(0, D - 1).fill_(1.5);
    return Motions{at::matmul(at::matmul(turn, stretch), turn.transpose(1, 2)), {}};
  });
}

/// Edge of the box that holds all positions; 1 without any.
double extent_of(const Tensor& x) {
  return x.size(0) > 0 ? (std::get<0>(x.max(0)) - std::get<0>(x.min(0))).max().item<double>() : 1;
}

/// Rounds positions or shifts to a grid so coarse (2^-23 of their reach) that position + shift is exact in
/// float32 too. A rounded sum would be another input: its rounding times the slope of the model, which is
/// large at a close encounter, is not an error of symmetry.
Tensor on_grid(const Tensor& values, const Tensor& positions) {
  const double largest = positions.numel() > 0 ? positions.abs().max().item<double>() : 0;
  const double reach = largest + extent_of(positions);
  if (!std::isfinite(reach) || reach == 0) {
    return values;
  }
  const double step = std::exp2(std::ceil(std::log2(reach)) - 23);
  return at::round(values / step) * step;
}

Batch on_grid(Batch batch) {
  Tensor& x = std::get<Points>(batch.input).positions;
  x = on_grid(x.to(at::kDouble), x);
  return batch;
}

Transformation translations(const Schema& schema) {
  const int64_t D = schema.interface.dimension;
  return moving("translations", 0, schema, [D](const Batch& batch, int64_t, Stream& stream) {
    const Tensor& x = points_of(batch).positions;
    const double extent = extent_of(x);
    const int64_t B = batch.count();
    Tensor shift = at::empty({B, D}, at::kDouble);
    for (int64_t i = 0; i < B * D; ++i) {
      shift.data_ptr<double>()[i] = extent * (2 * stream.uniform() - 1);
    }
    return Motions{at::eye(D, at::kDouble).expand({B, D, D}), on_grid(shift, x)};
  });
}

Transformation permutations(const Schema& schema) {
  return {"permutations", 0, [schema](const Batch& batch, int64_t, Stream& stream) {
            const Segments& graphs = points_of(batch).graphs;
            const Tensor order = at::empty({graphs.rows()}, at::kLong);
            for (int64_t s = 0; s < graphs.count(); ++s) {
              const auto shuffled = stream.permutation(graphs.size(s));
              for (int64_t i = 0; i < graphs.size(s); ++i) {
                order.data_ptr<int64_t>()[graphs.offsets[s] + i] = graphs.offsets[s] + shuffled[i];
              }
            }
            return Moved{permute_nodes(batch, order, schema),
                         [order](const Named& values, std::span<const Quantity> quantities) {
                           return permute_nodes(values, quantities, order);
                         }};
          }};
}

Transformation transformation_of(const Claim& claim, const Schema& schema) {
  switch (claim.of) {
    case Claim::Of::finite:
      require(claim.finite != nullptr, "audit: a claim of a finite group must name it, got '", claim.group,
              "'");
      return finite(schema, claim.finite);
    case Claim::Of::rotations:
      return rotations(schema, false, claim.group);
    case Claim::Of::rotoreflections:
      return rotations(schema, true, claim.group);
    case Claim::Of::translations:
      return translations(schema);
    case Claim::Of::permutations:
      return permutations(schema);
  }
  throw ShapeError("audit: a claim of an unknown kind");
}

/// What the exact claims cover.
struct Covered {
  bool rotations = false, reflections = false, translations = false, permutations = false;
};

Covered covered_by(const std::vector<Claim>& claims) {
  Covered covered;
  for (const Claim& claim : claims) {
    covered.rotations |= claim.of == Claim::Of::rotations || claim.of == Claim::Of::rotoreflections;
    covered.reflections |= claim.of == Claim::Of::rotoreflections;
    covered.translations |= claim.of == Claim::Of::translations;
    covered.permutations |= claim.of == Claim::Of::permutations;
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

class Auditor {
 public:
  Auditor(Model& model, const Task* task, const Batch& samples, const Schema& schema,
          const AuditOptions& options)
      : model_(model), task_(task), samples_(samples), schema_(schema), options_(options) {
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
      const std::vector<Tensor> expected = act(moved);
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

  std::vector<Tensor> act(const Moved& moved) const {
    std::vector<Tensor> values;
    size_t first = 0;
    for (const auto* quantities : {&raw_, &predicted_}) {
      Named named;
      for (size_t i = 0; i < quantities->size(); ++i) {
        named[(*quantities)[i].name] = base_[first + i];
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
    const bool centred =
        q.kind != Kind::vector && q.kind != Kind::axial_vector && q.kind != Kind::symmetric_tensor;
    const bool place = q.kind == Kind::vector && q.role == Role::point;
    const Tensor v = centred || place ? values - values.mean(0, true) : values;
    return std::sqrt(v.square().mean().item<double>());
  }

  Model& model_;
  const Task* task_;
  Batch samples_, rounded_;
  Schema schema_;
  AuditOptions options_;
  std::vector<Quantity> raw_, predicted_;
  std::vector<std::string> labels_;
  std::vector<Tensor> base_;
  std::vector<double> scales_;
  at::ScalarType dtype_ = at::kFloat;
};

}  // namespace

AuditReport audit(Model& model, const Task* task, const Batch& samples, const Schema& schema,
                  const AuditOptions& options) {
  const AuditOptions limits;
  require<ConfigError>(options.tolerance_float32 <= limits.tolerance_float32 &&
                           options.tolerance_float64 <= limits.tolerance_float64,
                       "audit: tolerances may only be tightened below ", limits.tolerance_float32,
                       " (float32) and ", limits.tolerance_float64, " (float64), got ",
                       options.tolerance_float32, " and ", options.tolerance_float64);
  require<ConfigError>(!options.dtypes.empty(), "audit: must have a dtype to check in, got none");
  points_of(samples);
  Schema inputs = schema;
  inputs.labels.clear();
  const int64_t D = schema.interface.dimension;
  const std::string dimension = std::to_string(D);

  const Symmetry symmetry = model.symmetry();
  const Covered covered = covered_by(symmetry.exact);
  std::vector<Transformation> claims;
  for (const Claim& claim : symmetry.exact) {
    claims.push_back(transformation_of(claim, inputs));
  }
  // What is not claimed must show: as controls, judged, and as measures, told output by output.
  std::vector<Transformation> controls{shears(inputs)};
  if (!covered.rotations && D > 1) {
    controls.push_back(rotations(inputs, false, "rotation"));
  }
  bool reflections = covered.reflections;
  for (const Claim& claim : symmetry.exact) {
    reflections |= claim.of == Claim::Of::finite && claim.finite->has_reflections();
  }
  if (!reflections) {
    controls.push_back(mirrors(inputs));
  }
  if (!covered.translations) {
    controls.push_back(translations(inputs));
    controls.back().name = "translation";
  }
  if (!covered.permutations) {
    controls.push_back(permutations(inputs));
    controls.back().name = "permutation";
  }

  AuditReport report;
  Restore restore(model);
  Auditor auditor(model, task, on_grid(samples), inputs, options);
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
  for (const Transformation& control : controls) {
    // Rotations have been measured already where they are claimed to hold approximately.
    const bool rotation = control.name == "rotation";
    const bool told = rotation && covered_by(symmetry.approximate).rotations;
    const double error = measure(control, told ? "" : rotation ? "SO(" + dimension + ")" : control.name);
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
