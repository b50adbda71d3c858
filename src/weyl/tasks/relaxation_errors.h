#pragma once

#include <string>

#include "weyl/tasks/task.h"

namespace weyl {

/// Names of the labels and of the output that the task relaxation has beside its number.
constexpr const char* relaxed_label = "relaxed";
constexpr const char* cell_label = "cell";
constexpr const char* displacement_name = "displacement";

/// The points of an input; ShapeError for another carrier.
const Points& relaxing_points(const Input& input);

/// The shortest image of differences (N, 3) of positions in cells (B, 3, 3), whose rows are lattice vectors, float64, by the
/// rule of fairchem's metrics: with x = c_1 a_1 + c_2 a_2 + c_3 a_3, each c_k is brought into [0, 1), and 1 is
/// taken off where it is above 0.5. All three axes repeat. In slanted cells this is not always the shortest.
Tensor shortest_difference(const Tensor& x, const Tensor& cells, const Segments& graphs);

/// What is asked of the nodes: `displacement` (N, 3), float64, to the nearest image of the relaxed place where the batch has the
/// label `cell`, 0 where it is not known; `counted` (N), 1 for nodes that are free and whose relaxed place is known, else 0.
struct RelaxationTarget {
  Tensor displacement, counted;
};
/// ShapeError: no label `relaxed`, or one of another shape.
RelaxationTarget relaxation_target(const Batch& batch, const Interface& interface);

/// How far predicted numbers of structures, and predicted places of their atoms, are off, on the samples and
/// atoms whose labels are known. With e = predicted - true of a number, and of an atom that is free the shortest image
/// d of the difference of its displacement, (3):
///
///   mae, rmse                              of e, in the number's unit
///   ewt                                    "energy within threshold": the share of samples with |e| < 0.02 eV
///   displacement_mae, displacement_rmse    of the components of d, in the unit of lengths
///   adwt                                   "average distance within threshold": with the mean of |d| over the free
///                                          atoms of a structure, the share of structures in which it is below a threshold,
///                                          averaged over the 490 thresholds 0.010, 0.011, ..., 0.499 Angstrom
///
/// (Open Catalyst 2020: Chanussot et al. 2021.) Both comparisons are strict. ewt needs a number whose unit is one of energy,
/// adwt lengths with a unit.
class RelaxationErrors : public Meter {
 public:
  struct Options {
    std::string target;         // of a number; empty: none
    std::string unit;           // of the number
    bool displacements = true;  // whether they are measured
    Interface inputs;           // the features of nodes, and the unit of lengths
  };
  explicit RelaxationErrors(Options options);

  void add(const Batch& batch, const Named& predictions) override;
  void merge(const Meter& other) override;
  void tell(Message& message) override;
  Metrics values() const override;
  std::vector<MetricName> names(const Schema& data) const override;

 private:
  void add_numbers(const Batch& batch, const Named& predictions);
  void add_displacements(const Batch& batch, const Named& predictions);

  Options options_;
  double energy_factor_ = 0, length_factor_ = 0;  // to eV and Angstrom; 0: not such a unit
  double numbers_ = 0, absolute_ = 0, squares_ = 0, within_ = 0;
  double components_ = 0, absolute_parts_ = 0, square_parts_ = 0;
  double structures_ = 0, thresholds_passed_ = 0;
};

}  // namespace weyl
