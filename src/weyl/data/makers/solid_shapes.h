#pragma once

#include <array>
#include <string_view>

#include "weyl/core/random.h"
#include "weyl/data/formats/off.h"

namespace weyl {

/// The classes of `solids`, in the order of their numbers (alphabetical, as folders of ModelNet are).
constexpr std::array<std::string_view, 10> solid_names{
    "box", "capsule", "cone", "cross_prism", "cylinder", "l_prism", "pyramid", "sphere", "torus", "tube"};

/// One shape of a class around the axis z, with sizes drawn from the stream: ellipsoids, boxes, elliptic
/// cylinders, cones (cut off or not), tori, pyramids (cut off or not), tubes, capsules, prisms over an L and
/// over a cross. Closed surfaces; where a prism's caps are cut into rectangles their edges do not meet.
Mesh solid_shape(int64_t kind, Stream& stream);

}  // namespace weyl
