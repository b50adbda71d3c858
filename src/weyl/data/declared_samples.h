#pragma once

#include "weyl/data/options.h"
#include "weyl/data/parts.h"

namespace weyl {

/// How many samples each split has by the options alone, without a look at a file; 0 where they do not say it (they
/// leave it to the files, or give fractions). Scenes of rigid bodies are taken to have the frames that
/// `weyl data make rigid_bodies` gives them.
PartCounts declared_samples(const DataOptions& options);

}  // namespace weyl
