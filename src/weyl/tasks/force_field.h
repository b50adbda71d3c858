#pragma once

#include "weyl/tasks/force_errors.h"
#include "weyl/tasks/force_field_statistics.h"
#include "weyl/tasks/task.h"

namespace weyl {

/// A potential of atoms: labels `energy` (B, 1), `forces` (N, 1, 3) and `stress` (B, 1, 3, 3), those that the
/// options weigh. The model gives `energy` y (B, 1), extensive, and with forces = direct also `forces` (N, 1,
/// 3).
///
///   E = s y + c + sum over atoms of r[type]     s the scale, r the references, c the constant
///                                               (force_field_statistics.h)
///   F = -dE/dx                                  or s times the model's output; direct forces are not
///                                               conservative: the work along a closed path is not zero
///   sigma = (1 / V) dE/de                       x -> (1 + e) x, lattice vectors likewise, e symmetric, at
///                                               e = 0; V the cell's (points.h), NaN where that is 0
///   loss = w_E mean over graphs of l_E(dE / (s n))                 n atoms; 1: energy_per_atom = false
///        + w_F mean over components of l_F(dF / s)           or over atoms of |dF / s|: force_loss = "norm"
///        + w_S mean over components of l_S(V dsigma / (s n))
///
/// with the differences d to the labels and the laws l of ErrorLaw. With normalise = false errors are not divided by s,
/// which is then 1 unless the weights came with another. With `pooled` y is not extensive. Labels that are NaN are left out of sums
/// and counts. Energies of graphs, references and targets in float64: their difference alone is rounded to the
/// model's dtype, in which losses are.
///
///   predicts  energy, forces (unless none), stress (if asked for)
///   metrics   force_errors.h; the headline is the mean absolute error of forces, or of energies where no
///             forces are trained
///
/// An element that no training sample had is refused.
class ForceField : public Task {
 public:
  /// ConfigError: no weight above 0, stress without gradient forces, an unknown unit of reports.
  explicit ForceField(ForceFieldOptions options);

  std::string name() const override { return ForceFieldOptions::name_in_config; }
  std::vector<Quantity> labels() const override;
  /// ConfigError: no points of three dimensions; forces in another unit than energy per length.
  Interface interface(const Schema& data) const override;
  std::vector<Quantity> predictions(const Interface& model) const override;
  std::vector<Quantity> predictions_asked(const Interface& model, const Asked& asked) const override;

  void fit(const Dataset& train) override;
  bool adopt(const Schema& data, const OutputLaw& law) override;
  bool keep(const Task& before, const Interface& from,
            const Interface& to) override;  // of another force field
  void refer(const Dataset& train, const Named& outputs) override;
  NamedTensors state() const override;
  void load(const NamedTensors& state) override;

  void prepare(Batch& batch, const Interface& model) const override;
  std::vector<Tensor> loss_weights(const Batch& batch, const Interface& model) const override;
  Step step(Model& model, const Batch& batch, const LossShares& shares = {}) const override;
  Named predict(Model& model, const Batch& batch) const override;
  /// `energies` and `virials` are those of single atoms. The sum of the energies is `energy`, but for the constant of
  /// imported weights where atoms are `owned`, which belongs to the whole. `virials` are the derivatives of the energy by
  /// strains of the edges at an atom, half to each end, with the sign of a virial: their sum is -volume times the stress.
  /// Where atoms are owned, energies, and forces that are no gradients, of the others are 0.
  /// ConfigError: virials of forces that are no gradients; energies of atoms of an energy that is pooled, or of
  /// a model that gives none (framed_model.h); virials of a model without a `reach`.
  Named predict_asked(Model& model, const Batch& batch, const Asked& asked) const override;
  std::vector<std::string> notes() const override;
  bool measures_without(const Quantity& label) const override;
  std::string differentiated_by() const override;

  std::unique_ptr<Meter> meter(const Interface& model) const override;
  std::string headline() const override;
  /// "references, no forces": the energies that follow from the composition alone.
  std::vector<std::pair<std::string, Metrics>> baselines(const Dataset& data) const override;

 private:
  struct Answer {
    Tensor energy;            // y (B) float64, as sums over nodes are; of nodes (N) until sum_energies
    Tensor forces, virial;    // F / s (N, 3), V sigma / s (B, 3, 3), or undefined
    Tensor volume;            // (B) float64, 0 where there is none; undefined without stress
    Tensor reference;         // (B) float64
    Tensor energies, slopes;  // of atoms, y (N) and its derivatives by their strains (N, 3, 3), or undefined
    Tensor references;        // of atoms, (N) float64, with energies
  };
  bool gives_stress(const Asked& asked) const;
  Answer answer(Model& model, const Input& input, bool training, const Asked& asked) const;
  /// The same from a derivative that was worked out without autograd.
  Answer answer_of(const BondGradient& bonds, const Points& points, const Interface& interface,
                   const Asked& asked) const;
  /// From the energies of nodes that a model gave in place of `answer.energy`: that sum, and what atoms have of it.
  void sum_energies(Answer& answer, const Points& points, const Tensor& owned) const;
  Named in_units(const Answer& answer, const Asked& asked = {}) const;
  std::unique_ptr<ForceErrors> errors(const std::string& energy_unit, const std::string& length_unit,
                                      const std::vector<std::string>& elements) const;

  ForceFieldOptions options_;
  ForceFieldStatistics statistics_;
};

}  // namespace weyl
