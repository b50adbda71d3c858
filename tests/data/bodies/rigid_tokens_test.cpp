// Tokens and motions of rigid bodies against vertices that are moved one by one.
#include "weyl/data/bodies/rigid_tokens.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "weyl/core/random.h"
#include "weyl/makers/bodies/body_families.h"

namespace weyl {
namespace rigid_tokens_test {

using Place = std::array<double, 3>;
using Matrix = std::array<Place, 3>;

/// A rotation matrix by Rodrigues' formula, for the quaternion of the same turn.
Matrix rotation(const Place& axis, double angle) {
  const double c = std::cos(angle), s = std::sin(angle);
  const auto [x, y, z] = axis;
  return {{{c + x * x * (1 - c), x * y * (1 - c) - z * s, x * z * (1 - c) + y * s},
           {y * x * (1 - c) + z * s, c + y * y * (1 - c), y * z * (1 - c) - x * s},
           {z * x * (1 - c) - y * s, z * y * (1 - c) + x * s, c + z * z * (1 - c)}}};
}

Place times(const Matrix& m, const Place& v) {
  Place result{};
  for (int i = 0; i < 3; ++i) {
    for (int k = 0; k < 3; ++k) {
      result[i] += m[i][k] * v[k];
    }
  }
  return result;
}

struct Turn {
  Place axis;
  double angle;
};

Turn draw(Stream& stream) {
  Place axis{stream.normal(), stream.normal(), stream.normal()};
  const double length = std::hypot(axis[0], axis[1], axis[2]);
  for (double& x : axis) {
    x /= length;
  }
  return {axis, std::numbers::pi * stream.uniform()};
}

std::array<float, 7> numbers(const Place& at, const Turn& turn) {
  const double s = std::sin(turn.angle / 2);
  const std::array<double, 7> x{
      at[0], at[1], at[2], s * turn.axis[0], s * turn.axis[1], s * turn.axis[2], std::cos(turn.angle / 2)};
  std::array<float, 7> result;
  std::ranges::transform(x, result.begin(), [](double v) { return static_cast<float>(v); });
  return result;
}

TEST(RigidPose, TurnsAsItsMatrix) {
  Stream stream(1, "pose test");
  for (int i = 0; i < 100; ++i) {
    const Turn turn = draw(stream);
    const RigidPose pose(numbers({1, 2, 3}, turn).data(), 1.5);
    const Place v{stream.normal(), stream.normal(), stream.normal()},
        expected = times(rotation(turn.axis, turn.angle), v);
    for (int d = 0; d < 3; ++d) {
      EXPECT_NEAR(pose.turned(v)[d], 1.5 * expected[d], 2e-6);  // poses are stored in float32
    }
  }
}

TEST(TurnBetween, IsTheTurnThatWasMade) {
  Stream stream(2, "pose test");
  const float still[] = {0, 0, 0, 0, 0, 0, 1};
  for (int i = 0; i < 100; ++i) {
    const Turn first = draw(stream), then = draw(stream);
    const RigidPose from(numbers({}, first).data(), 1);
    // The pose after `then`: its matrix is the product of both.
    const RigidPose alone(numbers({}, then).data(), 1);
    const auto [ax, ay, az, aw] = alone.quaternion;
    const auto [bx, by, bz, bw] = from.quaternion;
    const float both[] = {0,
                          0,
                          0,
                          static_cast<float>(aw * bx + ax * bw + ay * bz - az * by),
                          static_cast<float>(aw * by - ax * bz + ay * bw + az * bx),
                          static_cast<float>(aw * bz + ax * by - ay * bx + az * bw),
                          static_cast<float>(aw * bw - ax * bx - ay * by - az * bz)};
    const Place turn = turn_between(from, RigidPose(both, 1));
    for (int d = 0; d < 3; ++d) {
      EXPECT_NEAR(turn[d], then.angle * then.axis[d], 2e-5) << i;
    }
    const Place back = turn_between(RigidPose(both, 1), from);
    for (int d = 0; d < 3; ++d) {
      EXPECT_NEAR(back[d], -turn[d], 1e-12);
    }
  }
  const float other_sign[] = {0, 0, 0, 0, 0, 0, -1};
  for (const double x : turn_between(RigidPose(still, 1), RigidPose(other_sign, 1))) {
    EXPECT_EQ(std::abs(x), 0);
  }
}

TEST(TokenShape, IsWhatTheVerticesSay) {
  Stream stream(3, "pose test");
  const BodyShape body = make_body(9);  // the teapot: its centre is none of the origin
  const TokenShape shape({body.vertices, body.triangles});
  ASSERT_EQ(shape.triangles(), 512);
  const double scale = 1.3;
  const Turn turns[] = {draw(stream), draw(stream)};
  const Place at[] = {{1, -2, 3}, {1.1, -2.2, 2.8}};
  const RigidPose before(numbers(at[0], turns[0]).data(), scale), now(numbers(at[1], turns[1]).data(), scale);
  std::vector<Place> x[2];
  for (int t = 0; t < 2; ++t) {
    for (int64_t i = 0; i < shape.vertices(); ++i) {
      const double* v = &body.vertices[3 * i];
      Place p = times(rotation(turns[t].axis, turns[t].angle), {v[0], v[1], v[2]});
      for (int d = 0; d < 3; ++d) {
        p[d] = at[t][d] + scale * p[d];
      }
      x[t].push_back(p);
    }
  }
  std::vector<double> positions(3 * 512), columns(12 * 3 * 512), heights(512);
  TokenRow row{positions.data(), columns.data(), heights.data()};
  shape.write(before, now, row);
  EXPECT_EQ(row.positions, positions.data() + positions.size());
  EXPECT_EQ(row.columns, columns.data() + columns.size());
  EXPECT_EQ(row.heights, heights.data() + heights.size());
  constexpr double close = 5e-6;
  Place centre[2]{};
  for (int64_t t = 0; t < 512; ++t) {
    const int64_t* corner = &body.triangles[3 * t];
    const double* token = &columns[t * 36];
    for (int d = 0; d < 3; ++d) {
      const double here = (x[1][corner[0]][d] + x[1][corner[1]][d] + x[1][corner[2]][d]) / 3,
                   there = (x[0][corner[0]][d] + x[0][corner[1]][d] + x[0][corner[2]][d]) / 3;
      centre[0][d] += there / 512;
      centre[1][d] += here / 512;
      ASSERT_NEAR(positions[3 * t + d], here, close);
      for (int k = 0; k < 3; ++k) {
        ASSERT_NEAR(token[3 * k + d], x[1][corner[k]][d] - here, close);  // vertices
        ASSERT_EQ(token[9 + 3 * k + d], token[3 * k + d]);                // arms
        ASSERT_NEAR(token[21 + 3 * k + d], x[1][corner[k]][d] - x[0][corner[k]][d],
                    close);  // their velocities
      }
      ASSERT_NEAR(token[30 + d], here - there, close);
      ASSERT_EQ(token[33 + d], d == 2 ? 1 : 0);  // up
    }
    ASSERT_EQ(heights[t], positions[3 * t + 2]);
    double dots[2] = {}, length = 0;
    for (int d = 0; d < 3; ++d) {
      length += token[18 + d] * token[18 + d];
      for (int k = 0; k < 2; ++k) {
        dots[k] += token[18 + d] * (token[3 * k + 3 + d] - token[d]);
      }
    }
    ASSERT_NEAR(length, 1, 1e-12);
    ASSERT_NEAR(dots[0], 0, 1e-12);
    ASSERT_NEAR(dots[1], 0, 1e-12);
  }
  // The motion and the moments, of which the error of every vertex follows.
  double displacement[3], turn[3], mean[3], moment[9];
  shape.write_motion(before, now, displacement, turn);
  shape.write_moments(now, mean, moment);
  for (int a = 0; a < 3; ++a) {
    EXPECT_NEAR(displacement[a], centre[1][a] - centre[0][a], close);
    double sum = 0;
    Place squares{};
    for (const Place& p : x[1]) {
      sum += (p[a] - centre[1][a]) / static_cast<double>(shape.vertices());
      for (int b = 0; b < 3; ++b) {
        squares[b] += (p[a] - centre[1][a]) * (p[b] - centre[1][b]) / static_cast<double>(shape.vertices());
      }
    }
    EXPECT_NEAR(mean[a], sum, close);
    for (int b = 0; b < 3; ++b) {
      EXPECT_NEAR(moment[3 * a + b], squares[b], close);
    }
  }
  const double angle = std::hypot(turn[0], turn[1], turn[2]);
  const Matrix moved = rotation({turn[0] / angle, turn[1] / angle, turn[2] / angle}, angle);
  for (size_t i = 0; i < x[0].size(); ++i) {
    const Place r =
        times(moved, {x[0][i][0] - centre[0][0], x[0][i][1] - centre[0][1], x[0][i][2] - centre[0][2]});
    for (int d = 0; d < 3; ++d) {
      ASSERT_NEAR(centre[0][d] + displacement[d] + r[d], x[1][i][d], 2 * close);
    }
  }
}

/// Of a body that is convex every face looks away from its centre; turned inside out, every face looks at it.
TEST(TokenShape, NormalsOfConvexBodiesPointOutwards) {
  Stream stream(4, "pose test");
  for (int64_t kind = 0; kind < 4; ++kind) {  // the cube, the cylinder, the sphere, the cone
    const BodyShape body = make_body(kind);
    std::vector<int64_t> inside_out = body.triangles;
    for (size_t t = 0; t < inside_out.size(); t += 3) {
      std::swap(inside_out[t + 1], inside_out[t + 2]);
    }
    const RigidPose pose(numbers({1, -2, 3}, draw(stream)).data(), 1.3);
    for (const double sign : {1.0, -1.0}) {
      const TokenShape shape({body.vertices, sign > 0 ? body.triangles : inside_out});
      const int64_t T = shape.triangles();
      std::vector<double> positions(3 * T), columns(12 * 3 * T), heights(T);
      TokenRow row{positions.data(), columns.data(), heights.data()};
      shape.write(pose, pose, row);
      Place centre{};
      for (int64_t i = 0; i < 3 * T; ++i) {
        centre[i % 3] += positions[i] / static_cast<double>(T);
      }
      for (int64_t t = 0; t < T; ++t) {
        double outward = 0;
        for (int d = 0; d < 3; ++d) {
          outward += columns[36 * t + 18 + d] * (positions[3 * t + d] - centre[d]);
        }
        ASSERT_GT(sign * outward, 0.1) << body.name << ", triangle " << t;
      }
    }
  }
}

}  // namespace rigid_tokens_test
}  // namespace weyl
