// Geometric things as multivectors, and back: the table of the authors' code (GATr 1.4.3), whose signs stored weights
// rest on. What `sandwich` does to an embedded thing is what the motion does to the thing, except where it is said.
// Vectors are (x, y, z), quaternions (x, y, z, w), lengths in the data's unit.
#pragma once

#include "weyl/algebra/clifford/motors.h"

namespace weyl::clifford {

/// Moves by nothing.
template <class T>
Multivector<T> embed_scalar(const T& s) {
  return blade(one, s);
}
template <class T>
T extract_scalar(const Multivector<T>& x) {
  return x[one];
}
/// Changes its sign under mirrors.
template <class T>
Multivector<T> embed_pseudoscalar(const T& p) {
  return blade(e0123, p);
}
template <class T>
T extract_pseudoscalar(const Multivector<T>& x) {
  return x[e0123];
}

/// The smallest |e123| by which a point is divided.
inline constexpr double smallest_weight = 1e-3;

/// A point, weight e123 = 1. A mirror gives minus the embedded mirror image, so that alone motors move it as a point.
template <class T>
Multivector<T> embed_point(const Vector<T, 3>& p) {
  Multivector<T> x = zero<T>();
  x[e123] = T(1);
  x[e023] = -p[0];
  x[e013] = p[1];
  x[e012] = -p[2];
  return x;
}
/// (-x13, x12, -x11)/w, w = x14 (e123) where |x14| > 1e-3. Else w = +1e-3, so the sign of x14 is lost there, as in the
/// authors' code: beyond it a point jumps.
template <class T>
Vector<T, 3> extract_point(const Multivector<T>& x) {
  const T least(smallest_weight), over = T(1) / select(abs_of(x[e123]) > least, x[e123], least);
  return {{-x[e023] * over, x[e013] * over, -x[e012] * over}};
}
/// |e123| - 1: how far x is from an embedded point; its square is a regulariser of point outputs.
template <class T>
T point_defect(const Multivector<T>& x) {
  return abs_of(x[e123]) - T(1);
}

/// The plane with normal n through p; n of any length, which is kept. A vector that is tied to a place (an offset from
/// p, a surface's normal) is embedded so: without its place it would not stay as it is under translations.
template <class T>
Multivector<T> embed_plane(const Vector<T, 3>& n, const Vector<T, 3>& p) {
  return reflection(n, p);
}
template <class T>
Vector<T, 3> extract_normal(const Multivector<T>& x) {
  return {{x[e1], x[e2], x[e3]}};
}

/// A free vector (a direction, a velocity) as the line at infinity: unchanged by translations, mirrored as a vector.
template <class T>
Multivector<T> embed_direction(const Vector<T, 3>& v) {
  Multivector<T> x = zero<T>();
  for (int i = 0; i < 3; ++i) {
    x[e01 + i] = v[i];
  }
  return x;
}
template <class T>
Vector<T, 3> extract_direction(const Multivector<T>& x) {
  return {{x[e01], x[e02], x[e03]}};
}

/// A translation as the authors' nets see one: the motor 1 - t_i e0i / 2 (`translation`), so a free vector times -1/2
/// with a one in the scalar.
template <class T>
Multivector<T> embed_translation(const Vector<T, 3>& t) {
  return translation(t);
}
/// -2 (x5, x6, x7), whatever else x is: `translation_of` is right for motors that also turn.
template <class T>
Vector<T, 3> extract_translation(const Multivector<T>& x) {
  return T(-2) * extract_direction(x);
}

/// A line by Pluecker coordinates: its direction d and its moment m = o x d about the origin, o any of its points.
/// It is the join of the points o and o + d.
template <class T>
struct Ray {
  Vector<T, 3> direction, moment;
};
template <class T>
Multivector<T> embed_ray(const Ray<T>& ray) {
  Multivector<T> x = embed_direction(ray.moment);
  x[e12] = ray.direction[2];
  x[e13] = -ray.direction[1];
  x[e23] = ray.direction[0];
  return x;
}
template <class T>
Ray<T> extract_ray(const Multivector<T>& x) {
  return {{{x[e23], -x[e13], x[e12]}}, extract_direction(x)};
}
/// An axial vector a at p (an angular velocity, a torque) as the line through p along a: lines mirror as axial vectors.
template <class T>
Multivector<T> embed_axial_vector(const Vector<T, 3>& a, const Vector<T, 3>& p) {
  return embed_ray(Ray<T>{a, cross(p, a)});
}
template <class T>
Vector<T, 3> extract_axial_vector(const Multivector<T>& x) {
  return extract_ray(x).direction;
}

/// q or -q, whichever is nearer to `reference`.
template <class T>
Vector<T, 4> aligned(const Vector<T, 4>& q, const Vector<T, 4>& reference) {
  return select(dot(q, reference) < T(0), -q, q);
}

/// A body's place and attitude: the planes e1, e2, e3 moved by p -> R(q) p + position, then the point: four channels,
/// of which the last may be left out.
template <class T>
std::array<Multivector<T>, 4> embed_object(const Vector<T, 3>& position, const Vector<T, 4>& q) {
  std::array<Multivector<T>, 4> object;
  for (int i = 0; i < 3; ++i) {
    Vector<T, 3> axis = {{T(0), T(0), T(0)}};
    axis[i] = T(1);
    object[i] = embed_plane(numbers::SO3::act(q, axis), position);
  }
  object[3] = embed_point(position);
  return object;
}
/// Where the first three channels of an object, three planes, meet: for objects without their fourth channel.
template <class T>
Vector<T, 3> extract_meeting_point(const std::array<Multivector<T>, 4>& object) {
  return extract_point(outer_product(outer_product(object[0], object[1]), object[2]));
}
/// The unit quaternion whose rotation takes e1, e2, e3 to the normals of the three planes, which must be orthonormal to
/// rounding. The authors take 1 + sum_i n_i e_i instead, which is the same but vanishes at half turns. Its sign is
/// that of the largest component: see `aligned`.
template <class T>
Vector<T, 4> extract_attitude(const std::array<Multivector<T>, 4>& object) {
  Matrix<T, 3> R;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      R[i][j] = object[j][e1 + i];
    }
  }
  return numbers::SO3::from_matrix(R);
}

/// A body's place and two of its directions: the point, and the planes through it with normals a, b and a x b.
/// `extract_point` of the first channel and `extract_normal` of the next two give them back.
template <class T>
std::array<Multivector<T>, 4> embed_frame(const Vector<T, 3>& position, const Vector<T, 3>& a,
                                          const Vector<T, 3>& b) {
  return {embed_point(position), embed_plane(a, position), embed_plane(b, position),
          embed_plane(cross(a, b), position)};
}

}  // namespace weyl::clifford
