#pragma once

#include "weyl/carriers/points.h"
#include "weyl/carriers/quantity.h"

namespace weyl {

/// Rigid motions of L objects, each about its own centre: what stands at r from there moves to R r + shift.
struct ObjectMotions {
  Tensor rotation;  // (L, 4) unit quaternions x, y, z, w (compact so3 of ops/lie/elements.h)
  Tensor change;    // (L, 3, 3), R - 1, exact to rounding of itself for the smallest turns
  Tensor shift;     // (L, 3), in the data's unit of length

  int64_t count() const { return shift.size(0); }  // L
};

/// What m m~ must be at least for a motor m to be normalised.
constexpr double least_motor_square = 1e-6;

/// The motions x -> m x m~ of motors of G(3,0,1) about the centres of their objects, m taken as normalised:
///
///   m = w + bivector + ideal + p e0123,   w, p (L), bivector a (L, 3) as the line through the centre along it,
///       (m_10, -m_9, m_8) = a, ideal i (L, 3), (m_5, m_6, m_7) = i      (components as algebra/clifford/blades.h has them)
///   R is the rotation by the quaternion (-a, w)/sqrt s, s = w^2 + a.a,   shift = -2/s (w i + p a + i x a)
///
/// m m~ = s + q e0123, and q cancels in the motion of points, so no other normalisation is needed. In float64. Smooth,
/// with finite derivatives of every order, also at the identity. Where s < least_motor_square, m is no motion to rounding:
/// then s is replaced by that number and the rotation is the identity, R - 1 is not that of a rotation, and the error that follows is finite.
ObjectMotions motions_of_motors(const Tensor& w, const Tensor& p, const Tensor& ideal,
                                const Tensor& bivector);

/// Those of rotation vectors (L, 3), rad, and displacements of the centres (L, 3). In float64.
ObjectMotions motions_of_turns(const Tensor& turn, const Tensor& displacement);

/// The motions that have brought each object where it is, from the ways (N, 3) that its nodes have come, v = x - x(before):
/// the shift is their mean, the rotation that of least squares, by tau = tan(angle/2) n,
///
///   v - mean v = 2 tau x u,   u = x - c - (v - mean v)/2, half-way;   (sum |u|^2 - u u^T) 2 tau = sum u x (v - mean v)
///
/// exact for rigid objects. In float64; no rotation about a line on which all nodes of an object lie.
ObjectMotions motions_of_velocities(const Points& points, const Tensor& velocities);

/// The rotation vectors (L, 3), rad, of at most half a turn.
Tensor turns_of(const ObjectMotions& motions);

/// First `first`, then `second` about the centres that the first has moved.
ObjectMotions composed(const ObjectMotions& first, const ObjectMotions& second);
/// What is left to do after `first` to have done `both`: composed(first, rest_of(both, first)) is `both`.
ObjectMotions rest_of(const ObjectMotions& both, const ObjectMotions& first);

/// The mean square, over vertices r and three coordinates, of how far two motions of an object bring its vertices apart,
/// (L), in the unit of length squared:
///
///   mean |A r + d|^2 / 3 = (|d|^2 + 2 d . A mean + trace(A moment A^T)) / 3,   A = R_a - R_b,  d = shift_a - shift_b
///
/// exact, from the mean of the vertices (L, 3) and their second moment mean r r^T (L, 3, 3), both about the centre.
Tensor vertex_errors(const ObjectMotions& a, const ObjectMotions& b, const Tensor& mean,
                     const Tensor& moment);

/// The angle (L), rad, between the rotations of two motions: 0 to pi.
Tensor angle_errors(const ObjectMotions& a, const ObjectMotions& b);

/// The centres of objects, the means of the positions of their nodes, in float64: (L, 3).
Tensor centres_of_objects(const Points& points);
/// The objects of each graph, as rows of its segment.
Segments objects_of_graphs(const Points& points);

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
