#pragma once

#include <string>
#include <vector>

#include "weyl/carriers/batch.h"
#include "weyl/carriers/dataset.h"
#include "weyl/core/tensor_file.h"
#include "weyl/tasks/options.h"
#include "weyl/tasks/task.h"

namespace weyl {

/// The energies of single atoms in a text, of each type of a schema (T), float64, in the unit of its label `energy`:
/// lines "C -1027.59" or "C -37.76 Hartree", comments from # on. Types that the text does not name have 0. DataError:
/// no such file, a line of another form, a unit that is none of energy, an element twice, or one that the text does not
/// name though `seen` (T) counts atoms of it; ConfigError: types that are no elements.
Tensor atom_energies_in(const std::string& path, const Schema& schema, const Tensor& seen);

/// Whether forces and stress are labels that the loss weighs.
bool learns_forces(const ForceFieldOptions& options);
bool learns_stress(const ForceFieldOptions& options);

/// What a force field takes from its training set: energies that follow from the composition alone
/// (label_statistics.h) and the scale of what is left to learn. With reference = "elements" those of atoms that the
/// data have alone (Schema::atom_energies) are held, and the others fitted beside them.
///
///   scale     root mean square of the force components; without forces, standard deviation of the referenced
///             energies per atom; 1 with normalise = false
///   constant  added once to every energy: 0, but of weights from elsewhere
class ForceFieldStatistics {
 public:
  /// DataError: no samples, nothing to learn; a file of references that does not fit (force_field_statistics.h).
  void fit(const Dataset& train, const ForceFieldOptions& options);
  /// In place of a fit: this scale and constant, references of 0, the types seen that the weights were trained on.
  void adopt(int64_t types, const OutputLaw& law);
  /// After a fit: scale, constant and references of another, times `factor`; references of further types are 0, and the
  /// types seen are those of the fit. References of a file stay.
  void keep(const ForceFieldStatistics& other, const ForceFieldOptions& options, double factor);
  /// Adds to the references, unless they are of a file, what is left, in least squares by composition, of the energies
  /// of `train` beyond scale * outputs (B) + constant + references.
  void refer(const Dataset& train, const ForceFieldOptions& options, const Tensor& outputs);
  /// "scale" (1), "constant" (1), "references" (T), "seen" (T), float64; none before a fit.
  NamedTensors state() const;
  void load(const NamedTensors& state);

  bool fitted() const { return references_.defined(); }
  double scale() const { return scale_; }  // 1 before a fit
  /// The energies (B), float64, of compositions (B, T).
  Tensor energies(const Tensor& composition) const;
  /// Those of points, by their own composition; zeros before a fit. ShapeError: an element that no training sample had,
  /// which is not looked at again on a device other than the CPU where points are `prepared`.
  Tensor energies(const Points& points, const Interface& interface, bool prepared = false) const;
  /// Those of single atoms (N), float64, without the constant; zeros before a fit.
  Tensor energies_of_nodes(const Points& points) const;
  void require_seen_elements(const Points& points, const Interface& interface) const;

 private:
  double scale_ = 1, constant_ = 0;
  Tensor references_, seen_;  // (T): energies of an atom, atoms there were
};

}  // namespace weyl
