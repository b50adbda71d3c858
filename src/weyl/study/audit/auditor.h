#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "weyl/parallel/ranks.h"
#include "weyl/study/audit/transformations.h"
#include "weyl/tasks/task.h"

namespace weyl {

/// Measures how far the outputs of a model are from moving with its input. An audit (audit.h) judges the result.
/// Outputs are the model's own, then with a task its predictions, "prediction.<name>". Categories are left out.
class Auditor {
 public:
  /// `samples` are as `on_grid` gives them. `elements`: the least number of random elements for each transformation. `ranks`: the
  /// processes that share `errors`; null: this one alone.
  Auditor(Model& model, const Task* task, const Batch& samples, int64_t elements, uint64_t seed,
          std::shared_ptr<Ranks> ranks = nullptr);
  ~Auditor();  // restores the parameters, bit for bit, and the dtype and mode
  Auditor(const Auditor&) = delete;
  Auditor& operator=(const Auditor&) = delete;

  /// Chooses the dtype and evaluates the samples in it. Must precede the first `errors`.
  void set_dtype(at::ScalarType dtype);

  /// How far rounding in the dtype moves each output from float64, on the samples as they are: max |f(x) - f_64(x)| /
  /// scale; 0 in float64, and for an output that is constant or not finite.
  std::vector<double> rounding();

  const std::vector<std::string>& labels() const { return labels_; }
  bool constant(size_t output) const;  // a root mean square below 1e-8, in this dtype or in float64
  bool absent(size_t output) const;    // no sample has it: a stress, where none has a volume

  /// max |f(g x) - g f(x)| / scale of each transformation and output, over samples and elements. The scale is rms(f(x)) or, where that is
  /// larger, what rounding of weights and samples alone may do to f(x), over the widest limit of the dtype. For outputs of
  /// the cells of a grid |.| is the root mean square over a sample's cells, not the largest. The error is infinite for a
  /// constant output and where an output is not finite. A graph without a volume has no stress, which is NaN before and
  /// after and does not count.
  std::vector<std::vector<double>> errors(std::span<const Transformation> transformations);

  /// Whether each sample equals each of its images under these elements, up to what the model claims (own_image.h).
  bool changes_nothing(const Transformation& transformation, const Symmetry& symmetry, const Schema& schema);

 private:
  const Quantity& quantity(size_t i) const { return i < raw_.size() ? raw_[i] : predicted_[i - raw_.size()]; }
  double scale(size_t i) const { return std::max(scales_[i], resolved_[i]); }
  bool of_cells(size_t i) const {
    return std::holds_alternative<Grid>(samples_.input) && quantity(i).level == Level::node;
  }
  void convert(at::ScalarType dtype);
  void restore();
  void find_constants();
  void find_resolved();
  int64_t rounds_of(const Transformation& transformation) const;
  Moved moved_in(int64_t round, const Transformation& transformation) const;
  void add_round(const Moved& moved, std::vector<double>& worst);
  std::vector<Tensor> evaluate(const Batch& batch);
  const std::vector<Tensor>& base_in_float64();
  std::vector<Tensor> outputs_before(const Moved& moved);
  Tensor those_present(const Tensor& values, size_t output) const;
  std::vector<Tensor> act(const Moved& moved, const std::vector<Tensor>& base) const;

  Model& model_;
  const Task* task_;
  Batch samples_, rounded_;
  int64_t elements_;
  uint64_t seed_;
  std::shared_ptr<Ranks> ranks_;
  std::vector<Quantity> raw_, predicted_;
  std::vector<std::string> labels_;
  std::vector<Tensor> kept_, base_;
  std::vector<Tensor> base_float64_;  // the same in float64, where it was asked for
  at::ScalarType kept_dtype_, dtype_ = at::kFloat;
  bool kept_training_;
  std::vector<double> scales_;
  std::vector<double> resolved_;  // the least scale of each output that rounding lets be judged
  std::vector<bool> constant_;    // in float64
  std::vector<Tensor> present_;   // the rows of each output that are not NaN, where NaN is no fault
};

}  // namespace weyl
