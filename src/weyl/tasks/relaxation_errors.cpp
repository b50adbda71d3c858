#include "weyl/tasks/relaxation_errors.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/isfinite.h>
#include <ATen/ops/linalg_inv_ex.h>
#include <ATen/ops/matmul.h>

#include <cmath>

#include "weyl/carriers/node_feature.h"
#include "weyl/core/check.h"
#include "weyl/core/units.h"
#include "weyl/nn/pooling.h"
#include "weyl/ops/segment.h"

namespace weyl {
namespace {

constexpr double kEnergyWithin = 0.02;                            // eV
constexpr double kFirstThreshold = 0.01, kThresholdStep = 0.001;  // Angstrom
constexpr int64_t kThresholds = 490;

/// How a unit is converted into another; 0 where it cannot be.
double factor_or_none(const std::string& from, const char* to) {
  try {
    return unit_factor(from, to);
  } catch (const ConfigError&) {
    return 0;
  }
}

Tensor on_host(const Tensor& x) {
  return x.detach().to(at::kCPU, at::kDouble);
}

double total(const Tensor& x) {
  return x.sum().item<double>();
}

/// How many thresholds a mean distance is below.
int64_t thresholds_above(double distance) {
  int64_t passed = 0;
  for (int64_t k = 0; k < kThresholds; ++k) {
    passed += kFirstThreshold + static_cast<double>(k) * kThresholdStep > distance ? 1 : 0;
  }
  return passed;
}

}  // namespace

const Points& relaxing_points(const Input& input) {
  const auto* points = std::get_if<Points>(&input);
  require(points != nullptr, "relaxation: the input must be points");
  return *points;
}

RelaxationTarget relaxation_target(const Batch& batch, const Interface& interface) {
  const Points& points = relaxing_points(batch.input);
  const auto found = batch.labels.find(relaxed_label);
  require(found != batch.labels.end(), "relaxation: the batch has no label '", relaxed_label, "'");
  require(found->second.sizes() == at::IntArrayRef({points.nodes(), 1, 3}), "relaxation: the label '",
          relaxed_label, "' must be (", points.nodes(), ", 1, 3), got ", found->second.sizes());
  Tensor way = found->second.squeeze(1) - points.positions.to(at::kDouble);
  const Tensor known = at::isfinite(way).all(1);
  way = way.masked_fill(known.logical_not().unsqueeze(1), 0);
  if (const auto cell = batch.labels.find(cell_label); cell != batch.labels.end()) {
    way = shortest_difference(way, cell->second, points.graphs);
  }
  Tensor counted = known.to(at::kDouble);
  if (const Tensor free = node_feature(points, interface, "free"); free.defined()) {
    counted = counted * (free.select(1, 0) > 0).to(at::kDouble);
  }
  return {way, counted};
}

Tensor shortest_difference(const Tensor& x, const Tensor& cells, const Segments& graphs) {
  require(cells.sizes() == at::IntArrayRef({graphs.count(), 3, 3}), "relaxation: the label 'cell' must be (",
          graphs.count(), ", 3, 3), got ", cells.sizes());
  const Tensor rows = cells.to(at::kDouble);
  const Tensor inverse = std::get<0>(at::linalg_inv_ex(rows, /*check_errors=*/false));
  Tensor c = at::matmul(x.to(at::kDouble).unsqueeze(1), spread(inverse, graphs));
  c = c - c.floor();
  c = c - (c > 0.5).to(at::kDouble);
  return at::matmul(c, spread(rows, graphs)).squeeze(1);
}

RelaxationErrors::RelaxationErrors(Options options) : options_(std::move(options)) {
  energy_factor_ = factor_or_none(options_.unit, "eV");
  length_factor_ = factor_or_none(options_.inputs.length_unit, "Angstrom");
}

void RelaxationErrors::add(const Batch& batch, const Named& predictions) {
  if (!options_.target.empty()) {
    add_numbers(batch, predictions);
  }
  if (options_.displacements && batch.labels.contains(relaxed_label)) {
    add_displacements(batch, predictions);
  }
}

void RelaxationErrors::add_numbers(const Batch& batch, const Named& predictions) {
  const auto label = batch.labels.find(options_.target), found = predictions.find(options_.target);
  require(label != batch.labels.end(), "relaxation: the batch has no label '", options_.target, "'");
  require(found != predictions.end(), "relaxation: there is no prediction '", options_.target, "'");
  const Tensor truth = on_host(label->second), known = at::isfinite(truth).to(at::kDouble);
  const Tensor error = (on_host(found->second) - truth).abs().masked_fill(known == 0, 0);
  numbers_ += total(known);
  absolute_ += total(error);
  squares_ += total(error.square());
  within_ += total((error * energy_factor_ < kEnergyWithin).to(at::kDouble) * known);
}

void RelaxationErrors::add_displacements(const Batch& batch, const Named& predictions) {
  const auto found = predictions.find(displacement_name);
  require(found != predictions.end(), "relaxation: there is no prediction '", displacement_name, "'");
  const RelaxationTarget target = relaxation_target(batch, options_.inputs);
  const Segments graphs = std::get<Points>(batch.input).graphs.to(at::kCPU);
  const Tensor counted = on_host(target.counted);
  Tensor off = on_host(found->second).squeeze(1) - on_host(target.displacement);
  if (const auto cell = batch.labels.find(cell_label); cell != batch.labels.end()) {
    off = shortest_difference(off, on_host(cell->second), graphs);
  }
  off = off.masked_fill((counted == 0).unsqueeze(1), 0);
  components_ += 3 * total(counted);
  absolute_parts_ += total(off.abs());
  square_parts_ += total(off.square());
  const Tensor of_graphs = segment_sum(counted, graphs),
               mean =
                   segment_sum(off.square().sum(1).sqrt(), graphs) / of_graphs.clamp_min(1) * length_factor_;
  for (int64_t g = 0; g < graphs.count(); ++g) {
    if (of_graphs[g].item<double>() > 0) {
      ++structures_;
      thresholds_passed_ += static_cast<double>(thresholds_above(mean[g].item<double>()));
    }
  }
}

void RelaxationErrors::merge(const Meter& other) {
  const auto& more = same_kind<RelaxationErrors>(other, "relaxation");
  require(more.options_.target == options_.target && more.options_.unit == options_.unit &&
              more.options_.displacements == options_.displacements &&
              more.options_.inputs.length_unit == options_.inputs.length_unit,
          "relaxation: a meter must be merged with one of the same target and units, '", options_.target,
          "' in '", options_.unit, "', got '", more.options_.target, "' in '", more.options_.unit, "'");
  numbers_ += more.numbers_;
  absolute_ += more.absolute_;
  squares_ += more.squares_;
  within_ += more.within_;
  components_ += more.components_;
  absolute_parts_ += more.absolute_parts_;
  square_parts_ += more.square_parts_;
  structures_ += more.structures_;
  thresholds_passed_ += more.thresholds_passed_;
}

void RelaxationErrors::tell(Message& message) {
  message(numbers_, absolute_, squares_, within_, components_, absolute_parts_, square_parts_, structures_,
          thresholds_passed_);
}

Metrics RelaxationErrors::values() const {
  Metrics result;
  if (numbers_ > 0) {
    result["mae"] = {absolute_ / numbers_, options_.unit};
    result["rmse"] = {std::sqrt(squares_ / numbers_), options_.unit};
    if (energy_factor_ > 0) {
      result["ewt"] = {within_ / numbers_, ""};
    }
  }
  if (components_ > 0) {
    result["displacement_mae"] = {absolute_parts_ / components_, options_.inputs.length_unit};
    result["displacement_rmse"] = {std::sqrt(square_parts_ / components_), options_.inputs.length_unit};
    if (length_factor_ > 0) {
      result["adwt"] = {thresholds_passed_ / structures_ / static_cast<double>(kThresholds), ""};
    }
  }
  return result;
}

std::vector<MetricName> RelaxationErrors::names(const Schema& data) const {
  std::vector<MetricName> all;
  if (!options_.target.empty()) {
    all.insert(all.end(), {{"mae"}, {"rmse"}});
    if (energy_factor_ > 0) {
      all.push_back({"ewt", false});
    }
  }
  if (options_.displacements && find_quantity(data.labels, relaxed_label) != nullptr) {
    all.insert(all.end(), {{"displacement_mae"}, {"displacement_rmse"}});
    if (length_factor_ > 0) {
      all.push_back({"adwt", false});
    }
  }
  return all;
}

}  // namespace weyl
