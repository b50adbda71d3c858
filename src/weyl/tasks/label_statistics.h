#pragma once

#include <ATen/core/grad_mode.h>
#include <initializer_list>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "weyl/carriers/batch.h"
#include "weyl/carriers/dataset.h"
#include "weyl/carriers/loader.h"
#include "weyl/core/tensor_file.h"
#include "weyl/tasks/options.h"

namespace weyl {

/// A statistic that a task's state() gave, on the CPU in float64; -1 in `shape`: any size but none. DataError
/// naming the task unless it is there, of that shape, floating and finite.
Tensor saved_numbers(const NamedTensors& state, const char* task, const char* name,
                     std::initializer_list<int64_t> shape);

/// How many nodes of each type every graph has, (B, T) float64; without types (T = 0), and of inputs that
/// have none, one column: how many nodes.
Tensor composition_of(const Input& input, int64_t types);

/// What an output's number in the unit of one model is multiplied with to be in another's; 1 where one of them has no
/// unit. ConfigError: units of different dimensions.
double unit_factor_of(const std::string& output, const Interface& from, const Interface& to);

/// References of more types: those that there are, 0 for the others. (K, T) or (T).
Tensor for_types(const Tensor& references, int64_t types);

/// ShapeError where a composition is not of T types, or a graph has a node of a type that the training set had not: `seen`
/// (T) counts its nodes. On a device the host waits for it. `task` begins the message.
void require_seen(const char* task, const Tensor& composition, const Tensor& seen,
                  const std::vector<std::string>& elements);

/// Such counts (T), float64, of weights from elsewhere: 1 for a type that they were trained on, else 0; all 1 where
/// `trained` is of another number of types, as it is when nobody knows.
Tensor trained_counts(const std::vector<bool>& trained, int64_t types);

/// Least squares of numbers y of graphs on their compositions c: the e (T), float64, that minimises
/// sum over graphs (y - c . e)^2, the smallest such e where the compositions do not settle it (one molecule
/// alone: e is along its composition, and c . e the mean of y). Types that no graph has get 0. Types that are held
/// keep their number, and the others are fitted to what it leaves.
class ReferenceFit {
 public:
  /// `reference` must not be `none`; mean: one number for nodes of all types.
  ReferenceFit(Reference reference, int64_t types);
  ReferenceFit(ReferenceFit&&) = default;  // a copy would add into the same sums

  /// (B, T) float64, (B) float64; NaN is left out.
  void add(const Tensor& composition, const Tensor& values);
  /// Holds types, the keys, at these numbers. ShapeError: there is no such type, or one number for all.
  void hold(const std::map<int64_t, double>& values);
  Tensor solution() const;  // (T)

 private:
  Reference reference_;
  int64_t types_;
  Tensor gram_, moment_;  // sums of c c^T and of c y
  std::map<int64_t, double> held_;
};

}  // namespace weyl
