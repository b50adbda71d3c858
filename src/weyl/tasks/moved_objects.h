#pragma once

#include "weyl/carriers/quantity.h"
#include "weyl/tasks/object_motion.h"

namespace weyl {

/// The tokens of rigid objects a frame later, moved as their object is (motions: one for each of points.objects), in
/// their dtype:
///
///   positions                          c + R (x - c) + shift, c the object's centre
///   vectors of role offset or normal   R v, but `up`, which belongs to the scene
///   vectors of role point              as positions
///   `velocity`                         x(later) - x(now), the distance of one frame
///   `vertex_velocities`                the same of the corners: `vertices`, of as many channels, are the offsets of these
///   scalar `height`                    plus up . (x(later) - x(now)), up the feature `up` of nodes or graphs
///
/// and everything else as it was. ConfigError, which names it: a vector or a multivector of nodes or objects that is none of these.
Points moved_objects(const Points& points, const Interface& interface, const ObjectMotions& motions);

/// ConfigError where `moved_objects` would not know how a feature moves.
void require_movable(const Interface& interface);

/// Where vectors (N, V, 3) that are counted from their nodes stand after the motion, from where the nodes stood before:
/// (N, V, 3), float64, zero vectors for the nodes themselves.
Tensor moved_places(const Points& points, const Tensor& offsets, const ObjectMotions& motions);

}  // namespace weyl
