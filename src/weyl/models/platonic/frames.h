#pragma once

#include "weyl/algebra/finite/finite_group.h"
#include "weyl/models/platonic/options.h"

namespace weyl::platonic {

/// The group that the options name or generate. ConfigError unless it acts in `dimension` dimensions.
GroupPtr frames_of(const Options& options, int64_t dimension);

/// What `linear = "auto"` means for frames of so many channels.
LinearForm form_that_pays(const FiniteGroup& group, int64_t channels);

}  // namespace weyl::platonic
