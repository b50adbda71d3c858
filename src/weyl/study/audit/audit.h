#pragma once

#include <memory>
#include <string>
#include <vector>

#include "weyl/parallel/ranks.h"
#include "weyl/study/audit/transformations.h"
#include "weyl/tasks/task.h"

namespace weyl {

/// "float64" or "float32", as reports name them.
std::string dtype_name(at::ScalarType dtype);

/// A claim of exactness, on one output in one dtype. An output whose root mean square is too small to divide by is
/// constant and fails with an error of 1, like an output that is wholly wrong.
struct AuditClaim {
  std::string group, output, dtype;
  double error = 0, tolerance = 0;
  bool passed = false;
  bool constant = false;
  bool rounding =
      false;  // passed in float32 beyond 1e-5, within what rounding does to the output, and exact in float64
};

/// A control: a transformation that the model does not claim. Its error, the largest over the outputs, must show.
struct AuditControl {
  std::string transformation;
  double error = 0, at_least = 0;
  bool passed = false;
};

/// A control that could show nothing: every sample equals its own image, up to what the model claims (own_image.h).
struct SkippedControl {
  std::string transformation;
  double error = 0;
};

/// The error, output by output, of a symmetry that is not claimed to be exact: one that holds approximately, or
/// rotations of space. Reported, never judged.
struct AuditMeasure {
  std::string group, output, dtype;
  double error = 0;  // 1 for a constant output
  bool constant = false;
};

struct AuditReport {
  /// Whether every claim and every control passed, and at least one of each was judged; of a model that claims nothing for
  /// any input, one control.
  bool passed = false;
  std::vector<AuditClaim> claims;
  std::vector<AuditControl> controls;  // those that were judged
  std::vector<SkippedControl> skipped;
  std::vector<AuditMeasure> measures;
  std::vector<std::string> absent;  // outputs that no sample has: a stress, where no sample has a volume
};

struct AuditOptions {
  int64_t elements =
      24;  // least number of random group elements for each claim; a finite group is checked whole
  uint64_t seed = 0;
  std::vector<at::ScalarType> dtypes{at::kFloat, at::kDouble};
  double tolerance_float32 = 1e-5, tolerance_float64 = 1e-11;  // limits: may only be tightened
  std::vector<Transformation> measured;  // besides what the carrier has, in the last dtype
  std::shared_ptr<Ranks>
      ranks;  // that share the transformations: all get the same report, that of one; null: alone
};

/// Where float64 is checked too and the limit of float32 is not tightened, the limit of an output in float32 is so many times
/// what rounding does to it (Auditor::rounding), at least tolerance_float32 and at most the second number. A
/// deep network on a large molecule moves by more than 1e-5 through rounding alone, whatever its symmetry.
constexpr double rounding_allowed = 4, widest_float32 = 1e-4;

/// How much more than the spread of an output an error of float32 may be relative to: 1e-3 of the spread never passes.
constexpr double most_of_spread = 10;

/// The least error of a control. Controls are measured in the last dtype, float64 by default. An error that exceeds it
/// cannot be rounding, and a claim that is broken by less is caught by the tolerance itself.
constexpr double control_at_least = 1e-4;

/// Checks what a model claims (Model::symmetry) in float32 and float64, on its raw outputs and, with a task, on its
/// predictions ("prediction.<name>"):
///
///   error = max |f(g x) - g f(x)| / rms(f(x))
///
/// over samples and group elements, with an element of its own for every graph. The root mean square is that of the
/// output over the samples; for a scalar or a place its mean is removed first. An output is constant, and fails, where
/// it is below 1e-8 in the dtype of the check or in float64. Where the rounding of weights and samples alone, found in
/// float64, moves an output by R and 4 R is more than 1e-11 of its root mean square (in float32 1e-4), the error is
/// relative to 4 R over that in place of the root mean square: the slow turn of a body that flies fast, energies that
/// hardly differ. An output that is an element of a Lie group is compared entry by entry. For outputs of cells |.| is the
/// root mean square over the cells of a sample, the largest over the samples. Left out are categories, which jump, and
/// the stress of samples without a volume.
///
/// Claims are checked on these elements:
///
///   finite groups      every element
///   continuous groups  random elements
///   translations       up to the extent of the data, with positions and shifts on a grid (2^-23 of their reach) on
///                      which their sum is exact in float32. Multivectors lie on no grid: what rounding their image
///                      changes does not count
///   far translations   up to 1e6 times the extent, for models that are exact under translations: each graph is
///                      brought near the origin again, as their users do (carriers/origin.h)
///   each copy by itself  predictions of the task registration alone, of models that are exact under left motions. What
///                      the model says of both copies in one graph must change: a control
///   left motions       poses moved from the left cannot be exact in float32: f(x) is then the float64 output of the x
///                      whose image the rounded poses are. Poses are put on their group first
///
/// Controls must show:
///
///   points   a shear, always; a rotation, a reflection, a translation, a permutation where not claimed. Where
///            rotations are exact and reflections approximate, a reflection is measured instead
///   poses    a right factor for each token, always; a left multiplication, a permutation where not claimed. One right
///            factor for all tokens is measured
///   grids    a shear by whole cells, always; a reflection where none is claimed; a quarter turn where nothing is claimed
///            for any input. Claims are finite, those of
///            Model::symmetry_for their shape; rotations by other angles would measure how samples are interpolated, but
///            where the set makes them anew (`measured`, by `made_anew`)
///
/// A control that does not show is skipped, by name, where every sample equals its own image: a planar molecule under
/// a reflection. An audit in which every control was skipped has not passed.
///
/// The model is converted in place and comes back bit for bit, in the mode and dtype it had. ConfigError: a tolerance
/// is loosened, or there is no dtype to check in.
AuditReport audit(Model& model, const Task* task, const Batch& samples, const Schema& schema,
                  const AuditOptions& options = {});

}  // namespace weyl
