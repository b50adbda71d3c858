#pragma once

#include <array>
#include <string_view>

#include "weyl/data/bodies/body.h"

namespace weyl {

/// The bodies of MOVi-B (Kubric's KuBasic), in the order of their numbers.
constexpr std::array<std::string_view, 11> body_names{"cube",  "cylinder", "sphere",     "cone",
                                                      "torus", "gear",     "torus_knot", "sponge",
                                                      "spot",  "teapot",   "suzanne"};

/// One of them by its number: made from formulas, with the mass (density 1), the bounding box and the numbers of convex
/// parts, vertices and triangles that the published collision meshes have. Their places are our own: each
/// part is a hand-made convex piece, not what an automatic decomposition gave. `spot` (a cow) and `suzanne` (a monkey's
/// head) are works of artists: what stands here is a stand-in of ellipsoids of the same size, mass and numbers.
/// The origin is taken to be the centre of mass, as the published tables have it.
BodyShape make_body(int64_t kind);

/// Whether it stands in for a mesh that cannot be made from formulas.
constexpr bool is_stand_in(std::string_view name) {
  return name == "spot" || name == "suzanne";
}

}  // namespace weyl
