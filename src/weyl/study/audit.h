#pragma once

#include <string>
#include <vector>

#include "weyl/tasks/task.h"

namespace weyl {

struct AuditClaim {
  std::string group, output, dtype;
  double error = 0, tolerance = 0;
  bool passed = false;
};
struct AuditControl {
  std::string transformation;
  double error = 0, at_least = 0;
  bool passed = false;
};
struct AuditMeasure {   // of a symmetry that is approximate, or not claimed at all
  std::string group, output, dtype;
  double error = 0;
};
struct AuditReport {
  bool passed = false;
  std::vector<AuditClaim> claims;
  std::vector<AuditControl> controls;
  std::vector<AuditMeasure> measures;
};

struct AuditOptions {
  int64_t samples = 64;
  int64_t elements = 24;        // random group elements a claim is checked on; finite groups are checked whole up to this order, then sampled
  uint64_t seed = 0;
  double tolerance_float32 = 1e-5, tolerance_float64 = 1e-11;   // cli.md's limits; may only be tightened
};

/// Checks what a model claims, in float32 and float64, on its raw outputs and, with a task, on its prediction.
/// error = max |f(g x) - g f(x)| over samples and elements, divided by the root mean square of that output (mean
/// removed where it is a scalar); an output whose root mean square is below 1e-8 fails as constant. Controls apply
/// transformations that the model does not claim and must exceed their `at_least`.
AuditReport audit(Model& model, const Task* task, const Batch& samples, const Schema& schema,
                  const AuditOptions& options = {});

}  // namespace weyl
