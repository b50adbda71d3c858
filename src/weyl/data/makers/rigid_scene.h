#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>
#include <vector>

#include "weyl/data/formats/rigid_scenes.h"
#include "weyl/data/makers/rigid_bodies.h"
#include "weyl/data/shapes/body.h"

namespace weyl {

/// Steps of the simulation from frame to frame.
constexpr int64_t rigid_steps_per_frame = 5;

/// The shapes that the options name, in their order: of `shapes`, then of `meshes`; boxes with detail = "box". Errors as
/// make_rigid_bodies.
std::vector<BodyShape> body_shapes(const RigidBodiesMakerOptions& options);

/// Scene `index` of a split; `shapes` are body_shapes(options). Frame 0 is the beginning, frame k is after 5 k steps.
/// Returns early, with a scene that is of no use, once `stopped` is true.
RigidScene make_rigid_scene(const RigidBodiesMakerOptions& options, const std::vector<BodyShape>& shapes,
                            std::string_view split, int64_t index,
                            const std::atomic<bool>* stopped = nullptr);

}  // namespace weyl
