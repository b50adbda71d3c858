#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "weyl/data/clouds/mesh_file.h"

namespace weyl {

/// Where a body is: x = p + s R v for the vertices v of its shape.
struct RigidPose {
  /// Of seven numbers: the place, and the quaternion (x, y, z, w), which is normalised.
  RigidPose(const float* pose, double scale);
  std::array<double, 3> turned(const std::array<double, 3>& v) const;  // s R v

  std::array<double, 3> position;
  std::array<double, 4> quaternion;
  double scale;
};

/// The rotation vector of the turn from one pose to another: of length at most pi, in rad, in the world's axes.
std::array<double, 3> turn_between(const RigidPose& from, const RigidPose& to);

/// Where the numbers of the next tokens go (bodies/rigid_bodies.h has their meaning): row-major, moved on by who writes.
struct TokenRow {
  static constexpr int64_t vectors = 11;  // three vertices, three arms, the normal, three velocities and one

  double* positions;  // (N, 3)
  double* columns;    // (N, V, 3), V = `vectors`, and one more (up) with `heights`
  double* heights;    // (N) or null
};

/// The triangles of one shape as tokens of a body that has it: everything that does not change from frame to frame.
class TokenShape {
 public:
  /// Of a surface (clouds/mesh_file.h).
  explicit TokenShape(const Mesh& mesh);

  int64_t triangles() const { return mesh_.triangle_count(); }
  int64_t vertices() const { return mesh_.vertex_count(); }
  /// The body's tokens in the second of two frames.
  void write(const RigidPose& before, const RigidPose& now, TokenRow& row) const;
  /// How its centre (the mean of the triangles' centres) and its axes move: two vectors.
  void write_motion(const RigidPose& from, const RigidPose& to, double* displacement, double* turn) const;
  /// From its centre to its centre of mass, which is the origin of the shape.
  void write_mass_centre(const RigidPose& pose, double* offset) const;
  /// The mean of r and of r r^T over the vertices, r counted from the centre: (3) and (3, 3).
  void write_moments(const RigidPose& pose, double* mean, double* moment) const;

 private:
  Mesh mesh_;
  std::array<double, 3> centre_{}, mean_{};  // of the triangles' centres; of the vertices from there
  std::array<double, 9> moment_{};
};

}  // namespace weyl
