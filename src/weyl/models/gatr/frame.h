#pragma once

#include "weyl/carriers/points.h"

namespace weyl::gatr {

/// Where a net counts places from. Distances of embedded points are sums of squares that cancel, which loses digits far
/// from the origin, so each graph is seen from its centroid where positions are embedded at all.
struct Frame {
  Tensor positions;  // (N, 3), of nodes in the frame
  Tensor origin;  // (N, 3), where each node's frame lies in the world; undefined where it lies at its origin
};

/// The centroid of each graph is the origin, or, not `centred`, that of the data.
Frame frame_of(const Points& points, bool centred);

}  // namespace weyl::gatr
