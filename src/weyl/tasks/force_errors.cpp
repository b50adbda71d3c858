#include "weyl/tasks/force_errors.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/isnan.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cmath>

#include "weyl/core/check.h"
#include "weyl/core/units.h"
#include "weyl/nn/pooling.h"
#include "weyl/ops/segment.h"

namespace weyl {
namespace {

// Columns of sums: how many, sum of |error|, sum of its square.
enum Column : int64_t {
  kFrames,
  kEnergies,
  kEnergyAbs,
  kEnergySquare,
  kPerAtomAbs,
  kPerAtomSquare,
  kStresses,
  kStressAbs,
  kStressSquare,
  kAtoms,  // from here on of nodes
  kComponents,
  kForceAbs,
  kForceSquare,
  kVectors,
  kForceLength,
  kCosines,
  kCosine,
  kColumns
};

/// Error where the label is there, else 0, and how many entries of each row are there: (L, c).
struct Rows {
  Tensor error, known;
  Tensor count() const { return known.sum(1); }
  Tensor whole() const { return known.amin(1); }  // 1 where all entries are there
  Tensor length() const { return error.square().sum(1).sqrt() * whole(); }
  Tensor absolute() const { return error.abs().sum(1); }
  Tensor square() const { return error.square().sum(1); }
};

Rows error_rows(const Batch& batch, const Named& predictions, const char* name, int64_t rows, int64_t width) {
  const auto label = batch.labels.find(name), prediction = predictions.find(name);
  const Tensor none = at::zeros({rows, width}, at::kDouble);
  if (label == batch.labels.end() || prediction == predictions.end()) {
    return {none, none};
  }
  require(label->second.numel() == rows * width && prediction->second.sizes() == label->second.sizes(),
          "force_field: predictions and labels of '", name, "' differ in shape: ", prediction->second.sizes(),
          " and ", label->second.sizes());
  const Tensor truth = label->second.to(at::kCPU).reshape({rows, width});
  const Tensor said = prediction->second.detach().to(at::kCPU, at::kDouble).reshape({rows, width});
  const Tensor missing = at::isnan(truth);
  return {(said - truth).masked_fill(missing, 0), missing.logical_not().to(at::kDouble)};
}

Tensor grown(const Tensor& sums, int64_t rows) {
  return sums.size(0) >= rows ? sums
                              : at::cat({sums, at::zeros({rows - sums.size(0), sums.size(1)}, at::kDouble)});
}

double summed(const Tensor& sums, int64_t column) {
  return sums.const_data_ptr<double>()[column];
}

double mean(const Tensor& sums, int64_t sum, int64_t count) {
  return summed(sums, count) > 0 ? summed(sums, sum) / summed(sums, count) : NAN;
}

}  // namespace

ForceErrors::ForceErrors(Options options)
    : options_(std::move(options)),
      factor_(options_.energy_unit.empty() ? 1 : unit_factor(options_.energy_unit, options_.report)),
      by_config_type_(at::zeros({0, kColumns}, at::kDouble)),
      by_type_(at::zeros({0, kColumns}, at::kDouble)) {
  if (options_.energy_unit.empty()) {
    options_.report.clear();
  }
}

std::string ForceErrors::force_mae(bool direct) {
  return direct ? "direct_force_mae" : "force_mae";
}

void ForceErrors::add(const Batch& batch, const Named& predictions) {
  const auto* points = std::get_if<Points>(&batch.input);
  require(points != nullptr, "force_field: the input must be points");
  const int64_t n = points->nodes(), b = points->count();
  const Rows energy = error_rows(batch, predictions, "energy", b, 1);
  const Rows forces = error_rows(batch, predictions, "forces", n, 3);
  const Rows stress = error_rows(batch, predictions, "stress", b, 9);
  const Segments graphs = points->graphs.to(at::kCPU);
  const Tensor sizes = counts_of(graphs, energy.error).unsqueeze(1);
  const Rows per_atom{energy.error / sizes, energy.known};
  Tensor cosine = at::zeros({n}, at::kDouble), cosines = at::zeros({n}, at::kDouble);
  if (const auto label = batch.labels.find("forces"), said = predictions.find("forces");
      label != batch.labels.end() && said != predictions.end()) {
    const Tensor f = label->second.to(at::kCPU).reshape({n, 3}),
                 p = said->second.detach().to(at::kCPU, at::kDouble).reshape({n, 3});
    const Tensor lengths = (f.square().sum(1) * p.square().sum(1)).sqrt();
    const Tensor both = lengths > 0;  // false where the label is NaN
    cosine = ((f * p).sum(1) / lengths).masked_fill(both.logical_not(), 0);
    cosines = both.to(at::kDouble);
  }
  const Tensor of_nodes = at::stack({at::ones({n}, at::kDouble), forces.count(), forces.absolute(),
                                     forces.square(), forces.whole(), forces.length(), cosines, cosine},
                                    1);
  const Tensor of_graphs = at::cat(
      {at::stack({at::ones({b}, at::kDouble), energy.count(), energy.absolute(), energy.square(),
                  per_atom.absolute(), per_atom.square(), stress.count(), stress.absolute(), stress.square()},
                 1),
       segment_sum(of_nodes, graphs)},
      1);
  Tensor config = at::zeros({b}, at::kLong);
  if (const auto label = batch.labels.find("config_type"); label != batch.labels.end()) {
    config = label->second.to(at::kCPU).reshape({b});
    config_types_ = true;
  }
  if (b > 0) {
    by_config_type_ = grown(by_config_type_, config.max().item<int64_t>() + 1);
    by_config_type_.index_add_(0, config, of_graphs);
  }
  if (points->types.defined() && n > 0) {
    const Tensor types = points->types.to(at::kCPU);
    by_type_ = grown(by_type_, types.max().item<int64_t>() + 1);
    by_type_.index_add_(0, types, at::cat({at::zeros({n, kAtoms}, at::kDouble), of_nodes}, 1));
  }
}

void ForceErrors::merge(const Meter& other) {
  const auto& more = same_kind<ForceErrors>(other, "force_field");
  require(more.options_ == options_,
          "force_field: a meter must be merged with one of the same elements, units and labels");
  const auto sum = [](const Tensor& a, const Tensor& b) {
    const int64_t rows = std::max(a.size(0), b.size(0));
    return grown(a, rows) + grown(b, rows);
  };
  by_config_type_ = sum(by_config_type_, more.by_config_type_);
  by_type_ = sum(by_type_, more.by_type_);
  config_types_ = config_types_ || more.config_types_;
}

void ForceErrors::tell(Message& message) {
  message(by_config_type_, by_type_, config_types_);
}

Metrics ForceErrors::metrics(const Tensor& sums, const Options& always) const {
  const std::string& e = options_.report;
  const std::string per_length =
      e.empty() || options_.length_unit.empty() ? "" : e + "/" + options_.length_unit;
  const std::string per_atom = e.empty() ? "" : e + "/atom";
  Metrics result;
  const auto put = [&](const std::string& name, const std::string& unit, double square_or_abs, bool root) {
    result[name] = {factor_ * (root ? std::sqrt(square_or_abs) : square_or_abs), unit};
  };
  if (always.energy || summed(sums, kEnergies) > 0) {
    put("energy_mae", e, mean(sums, kEnergyAbs, kEnergies), false);
    put("energy_rmse", e, mean(sums, kEnergySquare, kEnergies), true);
    put("energy_mae_per_atom", per_atom, mean(sums, kPerAtomAbs, kEnergies), false);
    put("energy_rmse_per_atom", per_atom, mean(sums, kPerAtomSquare, kEnergies), true);
  }
  if (always.forces || summed(sums, kComponents) > 0) {
    const std::string force = options_.direct ? "direct_force" : "force";
    put(force_mae(options_.direct), per_length, mean(sums, kForceAbs, kComponents), false);
    put(force + "_rmse", per_length, mean(sums, kForceSquare, kComponents), true);
    put(force + "_norm_mae", per_length, mean(sums, kForceLength, kVectors), false);
    const bool still = summed(sums, kComponents) > 0 && summed(sums, kCosines) == 0;
    result[force + "_cosine"] = {still ? 0 : mean(sums, kCosine, kCosines), ""};
  }
  if (always.stress || summed(sums, kStresses) > 0) {
    const std::string unit = per_length.empty() ? "" : per_length + "^3";
    put("stress_mae", unit, mean(sums, kStressAbs, kStresses), false);
    put("stress_rmse", unit, mean(sums, kStressSquare, kStresses), true);
  }
  return result;
}

Metrics ForceErrors::values() const {
  return by_config_type_.size(0) == 0 ? Metrics{} : metrics(by_config_type_.sum(0), options_);
}

// What the options ask for, and what else the data have labels of.
std::vector<MetricName> ForceErrors::names(const Schema& data) const {
  const auto there = [&](const char* label) { return find_quantity(data.labels, label) != nullptr; };
  std::vector<MetricName> all;
  if (options_.energy || there("energy")) {
    for (const char* name : {"energy_mae", "energy_rmse", "energy_mae_per_atom", "energy_rmse_per_atom"}) {
      all.push_back({name});
    }
  }
  if (options_.forces || (options_.tells_forces && there("forces"))) {
    const std::string force = options_.direct ? "direct_force" : "force";
    all.push_back({force_mae(options_.direct)});
    all.push_back({force + "_rmse"});
    all.push_back({force + "_norm_mae"});
    all.push_back({force + "_cosine", /*lower_is_better=*/false});
  }
  if (options_.stress || (options_.tells_stress && there("stress"))) {
    all.push_back({"stress_mae"});
    all.push_back({"stress_rmse"});
  }
  return all;
}

std::vector<Breakdown> ForceErrors::breakdowns(const Schema& data) const {
  Options none = options_;
  none.energy = none.forces = none.stress = false;
  std::vector<Breakdown> result;
  Breakdown elements{"element", {}};
  for (int64_t t = 0; t < by_type_.size(0); ++t) {
    const Tensor sums = by_type_[t];
    if (summed(sums, kComponents) > 0) {
      const auto named = static_cast<size_t>(t) < options_.elements.size();
      Metrics m = metrics(sums, none);
      m["atoms"] = {summed(sums, kAtoms), ""};
      elements.rows.emplace_back(named ? options_.elements[t] : std::to_string(t), std::move(m));
    }
  }
  if (elements.rows.size() > 1) {
    result.push_back(std::move(elements));
  }
  if (config_types_) {
    const auto names = data.category_names.find("config_type");
    Breakdown configs{"config_type", {}};
    for (int64_t k = 0; k < by_config_type_.size(0); ++k) {
      const Tensor sums = by_config_type_[k];
      if (summed(sums, kFrames) > 0) {
        const bool named =
            names != data.category_names.end() && static_cast<size_t>(k) < names->second.size();
        Metrics m = metrics(sums, none);
        m["frames"] = {summed(sums, kFrames), ""};
        configs.rows.emplace_back(named ? names->second[k] : std::to_string(k), std::move(m));
      }
    }
    result.push_back(std::move(configs));
  }
  return result;
}

}  // namespace weyl
