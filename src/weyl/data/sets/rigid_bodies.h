#pragma once

#include <memory>
#include <string>

#include "weyl/carriers/dataset.h"
#include "weyl/data/options.h"

namespace weyl {

/// Rigid bodies in motion as points: a sample is two consecutive frames t - 1, t of a scene and what comes next. Its
/// tokens are the triangles of the bodies' collision meshes in frame t, its objects the bodies; all in m, float64.
///
///   positions                     centre of the triangle
///   vertices, arms                (3 each, role offset and normal) from the centre to the corners: as points,
///                                 and as planes through the centre
///   normal                        (role normal) of length 1, outwards
///   vertex_velocities, velocity   (3 and 1) x(t) - x(t - 1) of corners and centre
///   up, height                    (option `floor`) the floor's normal (role normal) and the centre's distance from it
///
/// Labels of objects, with K = `rollout` and c the object's centre, the mean of its tokens' positions:
///
///   displacement (K), turn (K)    of c and of the body from t to t + k, k = 1 .. K; turn is a rotation vector in rad
///   past_displacement, past_turn  the same from t - 1 to t
///   mass_centre                   from c to the body's centre of mass, about which it turns in free flight, in frame t
///   contact                       1 where the body touches anything in either interval, that which is seen (t - 1 to t) or
///                                 that which is asked for (t to t + 1), else 0
///   vertex_count, vertex_mean, vertex_moment   number of the body's vertices, mean of r and of r r^T, r = x - c, in
///                                 frame t: the error of all vertices follows from them
///
/// Of F frames t = 1 .. F - 1 - K are samples, every `stride`-th of them. Horizon 1: velocities are of one frame.
Schema rigid_bodies_schema(const RigidBodiesDataOptions& options);

/// A folder of weyl.rigid_bodies files (formats/rigid_scenes.h), which are read scene by scene as batches are asked
/// for. DataError: no such folder, no split at all, a broken file, fewer scenes than the options ask for, fewer frames
/// than the rollout needs.
Splits open_rigid_bodies(const RigidBodiesDataOptions& options);

/// One such file, all its scenes. Where it has too few frames for the rollout and `labels` is false, the schema has no
/// label, and every frame but the first is a sample.
std::shared_ptr<const Dataset> open_rigid_bodies_file(const std::string& path,
                                                      const RigidBodiesDataOptions& options, bool labels);

}  // namespace weyl
