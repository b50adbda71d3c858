#pragma once

#include <string>
#include <vector>

#include "weyl/tasks/task.h"

namespace weyl {

/// "float64" or "float32", as reports name them.
std::string dtype_name(at::ScalarType dtype);

/// A claim of exactness, on one output in one dtype. A constant output, whose root mean square is nothing to divide by,
/// fails with an error of 1, as one that is wholly wrong.
struct AuditClaim {
  std::string group, output, dtype;
  double error = 0, tolerance = 0;
  bool passed = false;
  bool constant = false;
};

/// A transformation that the model does not claim: its error (the largest over the outputs) must show.
struct AuditControl {
  std::string transformation;
  double error = 0, at_least = 0;
  bool passed = false;
};

/// How far off a symmetry is that holds approximately, and rotations of space where they are not claimed,
/// output by output. Reported, never judged.
struct AuditMeasure {
  std::string group, output, dtype;
  double error = 0;  // of a constant output 1
  bool constant = false;
};

struct AuditReport {
  bool passed = false;  // every claim and every control
  std::vector<AuditClaim> claims;
  std::vector<AuditControl> controls;
  std::vector<AuditMeasure> measures;
  std::vector<std::string> absent;  // outputs that no sample has: a stress where none has a volume
};

struct AuditOptions {
  int64_t elements =
      24;  // random group elements a claim is checked on at least; a finite group is checked whole
  uint64_t seed = 0;
  std::vector<at::ScalarType> dtypes{at::kFloat, at::kDouble};
  double tolerance_float32 = 1e-5, tolerance_float64 = 1e-11;  // the limits; may only be tightened
};

/// Ten times the widest tolerance: a control that exceeds it cannot be rounding, and a claim that is broken
/// by less is caught by the tolerance itself.
constexpr double control_at_least = 1e-4;

/// Checks what a model claims (Model::symmetry) in float32 and float64, on its raw outputs and, with a task,
/// on its prediction ("prediction.<name>"):
///
///   error = max |f(g x) - g f(x)| / rms(f(x))
///
/// over samples and group elements, every graph under an element of its own; the root mean square is that of
/// the output over the samples, with its mean removed where it is a scalar or a place. Where it is below 1e-8, or is
/// that in float64, the output is constant and fails. Finite groups are checked on every element, continuous ones on
/// random elements, translations up to the extent of the data, with positions and shifts on a grid (2^-23 of their
/// reach) on which their sum is exact in float32 (multivectors lie on none: what rounding their image is worth does not
/// count); an output that is an element of a Lie group is compared entry by
/// entry. Poses moved from the left cannot be exact in float32: there f(x) is the float64 output of the x
/// whose image the rounded poses are. Controls of points: a shear, always; a rotation, a reflection, a
/// translation, a permutation where not claimed; no reflection where rotations are exact and reflections approximate, and so
/// measured. Of poses, which are put on their group before: a right
/// factor for each token, always; a left multiplication, a permutation where not claimed; measured: one right
/// factor for all. Of grids, whose claims are finite and those of Model::symmetry_for their shape: a shear by
/// whole cells, always; a reflection where none is claimed; rotations by other angles would measure how the
/// samples are interpolated. Categories, which jump, are left out, and
/// so is the stress of samples without a volume; of outputs of cells |.| is the root mean square over the
/// cells of a sample, the largest over the samples.
///
/// The model is converted in place and comes back bit for bit, in the mode and dtype it had. ConfigError for
/// a loosened tolerance.
AuditReport audit(Model& model, const Task* task, const Batch& samples, const Schema& schema,
                  const AuditOptions& options = {});

}  // namespace weyl
