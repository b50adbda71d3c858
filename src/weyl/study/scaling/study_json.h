#pragma once

#include <string>
#include <string_view>

#include "weyl/core/json.h"
#include "weyl/study/scaling/study.h"

namespace weyl {

/// As docs/guide/scaling.md describes it.
Json to_json(const ScalingStudy& study);

/// Its key `determined` alone: of each system whether the runs determine its law, and why not. `unfitted` are further
/// systems, which have no law.
Json determined_json(const ScalingStudy& study, const std::vector<std::string>& unfitted);

/// What `weyl scale fit` wrote with --out, to be drawn and told again: laws, intervals, isoflops, ratios. What does not
/// stand there (resampled laws, starts of descents) is empty. DataError naming `where`: no such file, and what must be
/// there is not.
ScalingStudy read_study(const std::string& path);
ScalingStudy parse_study(std::string_view text, std::string_view where);

}  // namespace weyl
