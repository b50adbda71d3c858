#pragma once

#include <memory>
#include <string>

#include "weyl/carriers/dataset.h"
#include "weyl/data/bodies/options.h"

namespace weyl {

/// One such file, all its scenes. Where it has too few frames for the rollout and `labels` is false, the schema has no
/// label, and every frame but the first is a sample.
std::shared_ptr<const Dataset> open_rigid_bodies_file(const std::string& path,
                                                      const RigidBodiesDataOptions& options, bool labels);

}  // namespace weyl
