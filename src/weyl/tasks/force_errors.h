#pragma once

#include "weyl/tasks/task.h"

namespace weyl {

/// Errors of energies (B, 1), forces (N, 1, 3) and stress (B, 1, 3, 3) against the labels of those names;
/// labels that are NaN, or not there, are left out. Sums in float64.
///
///   energy_mae, energy_rmse                     over graphs
///   energy_mae_per_atom, energy_rmse_per_atom   of the error divided by the number of atoms
///   force_mae, force_rmse                       over components
///   force_norm_mae                              mean over atoms of the length of the error, as "norm" learns it
///   force_cosine                                mean over atoms of the cosine of the angle between force and
///                                               prediction, of those that have forces; 0 when none has
///   stress_mae, stress_rmse                     over the nine components
///
/// With `direct` the names of forces begin with direct_force. Breakdowns: by `element` (forces, with the
/// number of `atoms`), when more than one has labels; by `config_type`, the label of that name (with
/// `frames`).
class ForceErrors : public Meter {
 public:
  struct Options {
    std::string energy_unit, length_unit;  // of predictions and labels; empty: not known
    std::string report;                    // unit of energies in the metrics, when energy_unit is known
    bool direct = false;
    std::vector<std::string> elements;                  // names of types; of others their numbers
    bool energy = true, forces = true, stress = false;  // which are always in `values`, NaN without labels
    bool tells_forces = true, tells_stress = true;      // what predictions hold beside energies

    bool operator==(const Options&) const = default;
  };
  explicit ForceErrors(Options options);

  void add(const Batch& batch, const Named& predictions) override;
  void merge(const Meter& other) override;
  void tell(Message& message) override;
  Metrics values() const override;
  std::vector<MetricName> names(const Schema& data) const override;
  std::vector<Breakdown> breakdowns(const Schema& data) const override;

  /// The name of the metric of forces: "force_mae", "direct_force_mae".
  static std::string force_mae(bool direct);

 private:
  Metrics metrics(const Tensor& sums, const Options& always) const;

  Options options_;
  double factor_;          // from energy_unit to the unit of reports
  Tensor by_config_type_;  // (K, columns) sums over graphs and their nodes
  Tensor by_type_;         // (T, columns) over nodes
  bool config_types_ = false;
};

}  // namespace weyl
