#pragma once

#include "weyl/core/json.h"
#include "weyl/saved/model_summary.h"
#include "weyl/train/recipe.h"

namespace weyl {

/// What a model is, as `weyl info` prints it: `system`, `parameters` (a complex number counts once),
/// `parameters_real`, `parts`, `dtype`, `carrier`, `symmetry` {`exact`, `approximate`}, `inputs`, `outputs`,
/// `options`, `flops_per_token` {`forward`, `train`, `nominal`}, `format_version`; of a trained one also `training`, and
/// `notes`, what its users must know, where there is something.
Json info_json(const ModelSummary& summary, const Recipe& recipe);

/// The same for people.
std::string info_text(const Json& info);

}  // namespace weyl
