#include "weyl/study/audit/audit.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "weyl/carriers/origin.h"
#include "weyl/core/check.h"
#include "weyl/core/worst_of.h"
#include "weyl/study/audit/auditor.h"
#include "weyl/tasks/registration.h"

namespace weyl {
namespace {

/// In place of 0 / 0, which is no number for a report: as if it were wholly wrong.
constexpr double error_of_constants = 1;

/// What claims cover.
struct Covered {
  bool rotations = false, reflections = false, translations = false, permutations = false,
       left_motions = false;
};

Covered covered_by(const std::vector<Claim>& claims) {
  Covered covered;
  for (const Claim& claim : claims) {
    covered.rotations |= claim.of == Claim::Of::rotations || claim.of == Claim::Of::rotoreflections;
    covered.reflections |= claim.of == Claim::Of::rotoreflections;
    covered.translations |= claim.of == Claim::Of::translations;
    covered.permutations |= claim.of == Claim::Of::permutations;
    covered.left_motions |= claim.of == Claim::Of::left_motions;
  }
  return covered;
}

bool has_reflections(const Claim& claim) {
  return claim.of == Claim::Of::rotoreflections ||
         (claim.of == Claim::Of::finite && claim.finite->has_reflections());
}

/// Whether a model claims nothing, whatever the input, as plain nets on grids do.
bool claims_nothing(const Symmetry& symmetry) {
  return symmetry.exact.empty() && symmetry.approximate.empty() && symmetry.obstacles.empty();
}

/// Transformations of points that no system claims, or this one does not: they must show.
std::vector<Transformation> controls_of_points(const Symmetry& symmetry, const Schema& inputs) {
  const Covered covered = covered_by(symmetry.exact);
  const int64_t D = inputs.interface.dimension;
  std::vector<Transformation> controls{shears(inputs)};
  if (!covered.rotations && D > 1) {
    controls.push_back(rotations(inputs, false, "rotation"));
  }
  // Where all rotations are exact and reflections nearly so, a mirror may show too little: it is measured, and no control.
  const bool nearly = covered.rotations && covered_by(symmetry.approximate).reflections;
  if (!nearly && std::none_of(symmetry.exact.begin(), symmetry.exact.end(), has_reflections)) {
    controls.push_back(mirrors(inputs));
  }
  if (!covered.translations) {
    controls.push_back(translations(inputs));
    controls.back().name = "translation";
  }
  return controls;
}

std::vector<Transformation> controls_of_poses(const Symmetry& symmetry, const Schema& inputs) {
  std::vector<Transformation> controls{right_factors(inputs)};
  if (!covered_by(symmetry.exact).left_motions) {
    controls.push_back(left_motions(inputs, "left multiplication"));
  }
  return controls;
}

/// A grid has no continuous motions to try: of rotations those that interpolate nothing.
std::vector<Transformation> controls_of_grids(const Symmetry& symmetry, const Schema& inputs) {
  std::vector<Transformation> controls{grid_shears(inputs)};
  if (std::none_of(symmetry.exact.begin(), symmetry.exact.end(), has_reflections)) {
    controls.push_back(grid_mirrors(inputs));
  }
  if (claims_nothing(symmetry)) {
    controls.push_back(grid_turns(inputs));
  }
  return controls;
}

std::vector<Transformation> controls_of(Carrier carrier, const Symmetry& symmetry, const Schema& inputs) {
  if (carrier == Carrier::grid) {
    return controls_of_grids(symmetry, inputs);
  }
  std::vector<Transformation> controls =
      carrier == Carrier::points ? controls_of_points(symmetry, inputs) : controls_of_poses(symmetry, inputs);
  if (!covered_by(symmetry.exact).permutations) {
    controls.push_back(permutations(inputs));
    controls.back().name = "permutation";
  }
  return controls;
}

/// The limits of the outputs in one dtype (audit.h, rounding_allowed).
std::vector<double> limits_of(Auditor& auditor, const AuditOptions& options, at::ScalarType dtype) {
  if (dtype == at::kDouble) {
    return std::vector<double>(auditor.labels().size(), options.tolerance_float64);
  }
  std::vector<double> limits(auditor.labels().size(), options.tolerance_float32);
  const bool exactly = std::ranges::find(options.dtypes, at::kDouble) != options.dtypes.end();
  if (exactly && options.tolerance_float32 == AuditOptions().tolerance_float32) {
    const std::vector<double> rounding = auditor.rounding();
    for (size_t i = 0; i < limits.size(); ++i) {
      limits[i] = std::clamp(rounding_allowed * rounding[i], limits[i], widest_float32);
    }
  }
  return limits;
}

/// Marks the claims in float32 that passed beyond the usual limit; they count only where float64 is exact.
void mark_rounding(std::vector<AuditClaim>& claims, double usual) {
  for (AuditClaim& claim : claims) {
    const bool beyond = claim.dtype == dtype_name(at::kFloat) && claim.passed && claim.error > usual;
    claim.rounding = beyond && std::ranges::any_of(claims, [&](const AuditClaim& other) {
                       return other.dtype == dtype_name(at::kDouble) && other.passed &&
                              other.group == claim.group && other.output == claim.output;
                     });
    claim.passed = claim.passed && (!beyond || claim.rounding);
  }
}

/// Whether an output is a prediction of the task, not one of the model's own.
bool is_prediction(const std::string& label) {
  return label.starts_with("prediction.");
}

/// That what the model says of both copies in one graph changes when each moves by itself: in the auditor's dtype.
AuditControl control_of_copies(Auditor& auditor, const Transformation& copies) {
  const std::vector<double> errors = auditor.errors(std::span(&copies, 1)).front();
  double worst = 0;
  for (size_t i = 0; i < errors.size(); ++i) {
    worst = is_prediction(auditor.labels()[i]) || auditor.constant(i) ? worst : worst_of(worst, errors[i]);
  }
  return {copies.name + ", seen together", worst, control_at_least,
          std::isfinite(worst) && worst >= control_at_least};
}

/// What is not claimed, in the auditor's dtype, which is the last, the finest by default: measures and controls.
void measure_the_rest(Auditor& auditor, const Symmetry& symmetry, Carrier carrier, const Schema& inputs,
                      std::span<const Transformation> measured, const std::string& dtype,
                      AuditReport& report) {
  std::vector<Transformation> all;
  std::vector<std::string> groups;  // what each is told as; empty: its outputs are not told
  const auto add = [&](const Transformation& transformation, const std::string& group) {
    all.push_back(transformation);
    groups.push_back(group);
  };
  for (const Claim& claim : symmetry.approximate) {
    if (carrier == Carrier::grid && claim.of != Claim::Of::finite) {
      continue;  // it would measure the interpolation of the samples
    }
    add(transformation_of(claim, inputs), claim.group);
  }
  for (const Transformation& transformation : measured) {
    add(transformation, transformation.name);
  }
  if (carrier == Carrier::poses && inputs.interface.group != LieGroup::so2) {  // left and right are one there
    add(right_motions(inputs), "right multiplication");
  }
  // A control tells its worst output; of rotations every output is told, unless that was done just now.
  const std::string rotations_as = covered_by(symmetry.approximate).rotations
                                       ? ""
                                       : "SO(" + std::to_string(inputs.interface.dimension) + ")";
  const size_t controls = all.size();  // from here on
  for (const Transformation& control : controls_of(carrier, symmetry, inputs)) {
    add(control, control.name == "rotation" ? rotations_as : "");
  }
  const std::vector<std::vector<double>> all_errors = auditor.errors(all);
  for (size_t t = 0; t < all.size(); ++t) {
    const std::vector<double>& errors = all_errors[t];
    const std::string& group = groups[t];
    double worst = 0;
    for (size_t i = 0; i < errors.size(); ++i) {
      if (!group.empty() && !auditor.absent(i)) {
        const bool constant = auditor.constant(i);
        report.measures.push_back(
            {group, auditor.labels()[i], dtype, constant ? error_of_constants : errors[i], constant});
      }
      worst = auditor.constant(i) ? worst : worst_of(worst, errors[i]);
    }
    if (t < controls) {
      continue;
    }
    // An error that is no number is none that the control was meant to find.
    const bool shows = std::isfinite(worst) && worst >= control_at_least;
    if (!shows && auditor.changes_nothing(all[t], symmetry, inputs)) {
      report.skipped.push_back({all[t].name, worst});
    } else {
      report.controls.push_back({all[t].name, worst, control_at_least, shows});
    }
  }
}

}  // namespace

std::string dtype_name(at::ScalarType dtype) {
  return dtype == at::kDouble ? "float64" : "float32";
}

AuditReport audit(Model& model, const Task* task, const Batch& samples, const Schema& schema,
                  const AuditOptions& options) {
  const AuditOptions limits;
  require<ConfigError>(options.tolerance_float32 <= limits.tolerance_float32 &&
                           options.tolerance_float64 <= limits.tolerance_float64,
                       "audit: tolerances may only be tightened below ", limits.tolerance_float32,
                       " (float32) and ", limits.tolerance_float64, " (float64), got ",
                       options.tolerance_float32, " and ", options.tolerance_float64);
  require<ConfigError>(!options.dtypes.empty(), "audit: must have a dtype to check in, got none");
  const Centre centre = centre_of(model);
  const Batch exact = on_grid(shifted(samples, to_origin(samples.input, centre), schema));
  Schema inputs = schema;
  inputs.labels.clear();
  const auto carrier = static_cast<Carrier>(samples.input.index());
  const Symmetry symmetry = model.symmetry_for(samples.input);
  std::vector<Transformation> claims;
  for (const Claim& claim : symmetry.exact) {
    claims.push_back(transformation_of(claim, inputs));
  }
  if (centre != Centre::none && has_places(schema.interface)) {
    claims.push_back(far_translations(inputs, centre));
  }
  std::optional<Transformation> copies;  // which predictions alone are claimed to follow
  if (dynamic_cast<const Registration*>(task) != nullptr && covered_by(symmetry.exact).left_motions) {
    copies = copy_motions(inputs);
    claims.push_back(*copies);
  }

  AuditReport report;
  Auditor auditor(model, task, exact, options.elements, options.seed, options.ranks);
  for (const at::ScalarType dtype : options.dtypes) {
    auditor.set_dtype(dtype);
    const std::vector<double> limits_now = limits_of(auditor, options, dtype);
    const std::vector<std::vector<double>> all_errors = auditor.errors(claims);
    for (size_t c = 0; c < claims.size(); ++c) {
      const Transformation& claim = claims[c];
      const std::vector<double>& errors = all_errors[c];
      for (size_t i = 0; i < errors.size(); ++i) {
        const bool claimed = !copies || claim.name != copies->name || is_prediction(auditor.labels()[i]);
        if (auditor.absent(i) || !claimed) {
          continue;
        }
        const bool constant = auditor.constant(i);
        report.claims.push_back({claim.name, auditor.labels()[i], dtype_name(dtype),
                                 constant ? error_of_constants : errors[i], limits_now[i],
                                 !constant && errors[i] <= limits_now[i], constant});
      }
    }
  }
  mark_rounding(report.claims, options.tolerance_float32);
  measure_the_rest(auditor, symmetry, carrier, inputs, options.measured, dtype_name(options.dtypes.back()),
                   report);
  if (copies) {
    report.controls.push_back(control_of_copies(auditor, *copies));
  }

  for (size_t i = 0; i < auditor.labels().size(); ++i) {
    if (auditor.absent(i)) {
      report.absent.push_back(auditor.labels()[i]);
    }
  }
  report.passed = (!report.claims.empty() || claims_nothing(symmetry)) && !report.controls.empty();
  for (const AuditClaim& claim : report.claims) {
    report.passed &= claim.passed;
  }
  for (const AuditControl& control : report.controls) {
    report.passed &= control.passed;
  }
  return report;
}

}  // namespace weyl
