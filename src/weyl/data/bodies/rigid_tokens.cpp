#include "weyl/data/bodies/rigid_tokens.h"

#include <algorithm>
#include <cmath>

#include "weyl/algebra/lattice/vector3.h"

namespace weyl {
namespace {

using Place = std::array<double, 3>;

Place place_minus(const Place& a, const Place& b) {
  return {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
}
Place plus(const Place& a, const Place& b) {
  return {a[0] + b[0], a[1] + b[1], a[2] + b[2]};
}
double* put(const Place& x, double* to) {
  return std::ranges::copy(x, to).out;
}

}  // namespace

RigidPose::RigidPose(const float* pose, double s)
    : position{pose[0], pose[1], pose[2]}, quaternion{pose[3], pose[4], pose[5], pose[6]}, scale(s) {
  const auto [x, y, z, w] = quaternion;
  const double norm = std::sqrt(x * x + y * y + z * z + w * w);
  for (double& q : quaternion) {
    q /= norm;
  }
}

Place RigidPose::turned(const Place& v) const {
  const auto [x, y, z, w] = quaternion;
  const Place t{2 * (y * v[2] - z * v[1]), 2 * (z * v[0] - x * v[2]), 2 * (x * v[1] - y * v[0])};
  return {scale * (v[0] + w * t[0] + y * t[2] - z * t[1]), scale * (v[1] + w * t[1] + z * t[0] - x * t[2]),
          scale * (v[2] + w * t[2] + x * t[1] - y * t[0])};
}

Place turn_between(const RigidPose& from, const RigidPose& to) {
  const auto [ax, ay, az, aw] = to.quaternion;
  const auto [bx, by, bz, bw] = from.quaternion;  // the product to * conjugate(from)
  double w = aw * bw + ax * bx + ay * by + az * bz;
  Place v{-aw * bx + ax * bw - ay * bz + az * by, -aw * by + ax * bz + ay * bw - az * bx,
          -aw * bz - ax * by + ay * bx + az * bw};
  if (w < 0) {  // q and -q are one rotation: the shorter way
    w = -w;
    v = {-v[0], -v[1], -v[2]};
  }
  const double sine = std::hypot(v[0], v[1], v[2]);
  const double factor = sine > 1e-12 ? 2 * std::atan2(sine, w) / sine : 2;
  return {factor * v[0], factor * v[1], factor * v[2]};
}

TokenShape::TokenShape(const Mesh& mesh) : mesh_(mesh) {
  const auto count = static_cast<double>(mesh.triangles.size());
  for (const int64_t corner : mesh.triangles) {
    for (int d = 0; d < 3; ++d) {
      centre_[d] += mesh.vertices[3 * corner + d] / count;
    }
  }
  const auto vertices = static_cast<double>(mesh.vertex_count());
  for (int64_t i = 0; i < mesh.vertex_count(); ++i) {
    const double* x = &mesh.vertices[3 * i];
    const Place r = place_minus({x[0], x[1], x[2]}, centre_);
    for (int a = 0; a < 3; ++a) {
      mean_[a] += r[a] / vertices;
      for (int b = 0; b < 3; ++b) {
        moment_[3 * a + b] += r[a] * r[b] / vertices;
      }
    }
  }
}

void TokenShape::write(const RigidPose& before, const RigidPose& now, TokenRow& row) const {
  std::vector<Place> here(vertices()), moved(vertices());  // where vertices are, and by how much they moved
  for (int64_t i = 0; i < vertices(); ++i) {
    const double* x = &mesh_.vertices[3 * i];
    const Place v{x[0], x[1], x[2]};
    here[i] = plus(now.position, now.turned(v));
    moved[i] = place_minus(here[i], plus(before.position, before.turned(v)));
  }
  for (int64_t t = 0; t < triangles(); ++t) {
    const int64_t* corner = &mesh_.triangles[3 * t];
    Place centre{}, velocity{};
    for (int k = 0; k < 3; ++k) {
      for (int d = 0; d < 3; ++d) {
        centre[d] += here[corner[k]][d] / 3;
        velocity[d] += moved[corner[k]][d] / 3;
      }
    }
    const Place u = place_minus(here[corner[1]], here[corner[0]]),
                v = place_minus(here[corner[2]], here[corner[0]]);
    const Place normal = unit(cross(u, v));
    row.positions = put(centre, row.positions);
    for (int copy = 0; copy < 2; ++copy) {  // as points, and as planes
      for (int k = 0; k < 3; ++k) {
        row.columns = put(place_minus(here[corner[k]], centre), row.columns);
      }
    }
    row.columns = put(normal, row.columns);
    for (int k = 0; k < 3; ++k) {
      row.columns = put(moved[corner[k]], row.columns);
    }
    row.columns = put(velocity, row.columns);
    if (row.heights != nullptr) {
      row.columns = put({0, 0, 1}, row.columns);
      *row.heights++ = centre[2];
    }
  }
}

void TokenShape::write_motion(const RigidPose& from, const RigidPose& to, double* displacement,
                              double* turn) const {
  put(place_minus(plus(to.position, to.turned(centre_)), plus(from.position, from.turned(centre_))),
      displacement);
  put(turn_between(from, to), turn);
}

void TokenShape::write_mass_centre(const RigidPose& pose, double* offset) const {
  put(place_minus({}, pose.turned(centre_)), offset);
}

void TokenShape::write_moments(const RigidPose& pose, double* mean, double* moment) const {
  put(pose.turned(mean_), mean);
  std::array<Place, 3> axes;  // s R, column by column
  for (int k = 0; k < 3; ++k) {
    Place unit{};
    unit[k] = 1;
    axes[k] = pose.turned(unit);
  }
  for (int a = 0; a < 3; ++a) {
    for (int b = 0; b < 3; ++b) {
      double sum = 0;
      for (int i = 0; i < 3; ++i) {
        for (int k = 0; k < 3; ++k) {
          sum += axes[i][a] * moment_[3 * i + k] * axes[k][b];
        }
      }
      moment[3 * a + b] = sum;
    }
  }
}

}  // namespace weyl
