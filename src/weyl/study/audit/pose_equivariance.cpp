#include "weyl/study/audit/pose_equivariance.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/matmul.h>
#include <algorithm>
#include <cmath>
#include <limits>

#include "weyl/carriers/origin.h"
#include "weyl/carriers/pose_elements.h"
#include "weyl/core/check.h"
#include "weyl/core/quantile.h"
#include "weyl/core/random.h"
#include "weyl/core/worst_of.h"
#include "weyl/study/audit/audit.h"
#include "weyl/tasks/completion.h"

namespace weyl {

bool predicts_poses(const Task& task, const Model& model) {
  const std::vector<Quantity> predictions = task.predictions(model.interface);
  const Quantity* element = find_quantity(predictions, "element");
  return element != nullptr && element->kind == Kind::element && element->level == Level::graph &&
         find_quantity(predictions, "gap") != nullptr;
}

PoseEquivariance pose_equivariance(Model& model, const Task& task, const Batch& samples, const Schema& schema,
                                   uint64_t seed, int64_t elements, double spread) {
  const auto* given = std::get_if<Poses>(&samples.input);
  require(given != nullptr, "pose_equivariance: the samples must be poses, got ",
          name_of(carrier_of(samples.input)));
  const at::NoGradGuard no_grad;
  const LieGroup group = given->group;
  const auto dtype = model.dtype();
  const auto predict = [&](const Batch& batch) {
    return task.predict(model, to(batch, model.device(), dtype));
  };
  Schema inputs = schema;
  inputs.labels.clear();
  const Shift shift = to_origin(samples.input, centre_of(model));
  const Batch rounded = to(shifted({samples.input, {}}, shift, inputs), at::kCPU, dtype);
  const Batch wide = to(rounded, at::kCPU, at::kDouble);
  const Named still = predict(rounded);
  const auto bases = largest_rows(still.at("gap"), given->graphs);

  PoseEquivariance found;
  found.dtype = dtype_name(dtype);
  std::vector<double> errors;
  Stream stream(seed, "pose equivariance");
  for (int64_t k = 0; k < elements; ++k) {
    const Tensor a = random_elements(group, given->count(), spread, stream);
    const Named moved = predict(transform(wide, motions_of(group, a), inputs));
    const Tensor expected = at::matmul(a, still.at("element").to(at::kCPU, at::kDouble));
    const Tensor e = pose_distances(group, expected, moved.at("element")).squared;
    const auto chosen = largest_rows(moved.at("gap"), given->graphs);
    for (int64_t s = 0; s < given->count(); ++s) {
      ++found.count;
      if (chosen[s] != bases[s]) {
        ++found.flips;
      } else {
        errors.push_back(e.const_data_ptr<double>()[s]);
      }
    }
  }
  if (errors.empty()) {
    found.mean_square = found.median_square = found.largest = found.root_mean_square =
        std::numeric_limits<double>::quiet_NaN();
    return found;
  }
  double sum = 0;
  found.largest = 0;
  for (const double e : errors) {
    sum += e;
    found.largest = worst_of(found.largest, e);
  }
  found.mean_square = sum / static_cast<double>(errors.size());
  found.root_mean_square = std::sqrt(found.mean_square);
  found.median_square = median(errors);
  return found;
}

}  // namespace weyl
