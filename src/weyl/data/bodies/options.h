#pragma once

#include <cstdint>
#include <string>

#include "weyl/config/fields.h"
#include "weyl/data/base/parts.h"

namespace weyl {

struct Schema;
struct Splits;

/// Rigid bodies that fall and collide, as made by `weyl data make rigid_bodies`: a folder with train, valid and test
/// (bodies/rigid_bodies.h).
struct RigidBodiesDataOptions {
  static constexpr const char* name_in_config = "rigid_bodies";
  std::string path = "data/rigid_bodies";
  int64_t train = 0, valid = 0, test = 0;  // the first so many scenes of a split; 0: all
  bool floor = true;                       // whether every token has the floor as features: `up` and `height`
  int64_t rollout = 1;                     // K, frames after the present one that the labels cover
  int64_t stride = 1;                      // frames between the samples of a scene
};
void fields(Fields& f, RigidBodiesDataOptions& o);
/// Rigid bodies in motion as points. A sample is two consecutive frames t - 1 and t of a scene, and what comes next.
/// Its tokens are the triangles of the bodies' collision meshes in frame t; its objects are the bodies. All lengths are
/// in m, float64.
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
///   contact                       1 where the body touches anything in the interval that is seen (t - 1 to t) or in
///                                 the one that is asked for (t to t + 1), else 0
///   vertex_count, vertex_mean, vertex_moment   number of the body's vertices, mean of r and of r r^T, r = x - c, in
///                                 frame t: the error of all vertices follows from them
///
/// A scene of F frames has the samples t = 1 .. F - 1 - K, of which every `stride`-th is taken. The horizon is 1:
/// velocities are differences over one frame.
Schema declared_schema(const RigidBodiesDataOptions& options);
/// Opens a folder of weyl.rigid_bodies files (bodies/rigid_scenes.h), which are read scene by scene as batches are
/// asked for. DataError: no such folder, no split at all, a broken file, fewer scenes than the options ask for, fewer
/// frames than the rollout needs.
Splits open_set(const RigidBodiesDataOptions& options);

/// Assumes that scenes have as many frames as `weyl data make rigid_bodies` gives them.
PartCounts declared_samples(const RigidBodiesDataOptions& options);

}  // namespace weyl
