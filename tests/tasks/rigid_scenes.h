// Scenes of boxes and pyramids in flight, vertex by vertex: what a task of rigid motion is asked, and the corners of its
// triangles at every frame, to check the answers by.
#pragma once

#include <ATen/ATen.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "weyl/carriers/dataset.h"
#include "weyl/core/random.h"

namespace weyl::rigid {

constexpr double frame = 1.0 / 48, gravity = 10;

/// A body: vertices (V, 3) about some point of it, and its triangles.
struct Mesh {
  Tensor vertices;
  std::vector<std::array<int64_t, 3>> triangles;
};

inline Mesh box(double a, double b, double c) {
  Mesh mesh{at::empty({8, 3}, at::kDouble), {}};
  for (int64_t v = 0; v < 8; ++v) {
    mesh.vertices[v].copy_(at::tensor({v & 1 ? a : -a, v & 2 ? b : -b, v & 4 ? c : -c}, at::kDouble));
  }
  mesh.triangles = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6}, {0, 1, 4}, {1, 5, 4},
                    {2, 6, 3}, {3, 6, 7}, {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};
  return mesh;
}
/// Whose triangles have another centre than its vertices.
inline Mesh pyramid(double a, double height) {
  return {at::tensor({-a, -a, 0.0, a, -a, 0.0, a, a, 0.0, -a, a, 0.0, 0.0, 0.0, height}, at::kDouble)
              .view({5, 3}),
          {{0, 2, 1}, {0, 3, 2}, {0, 1, 4}, {1, 2, 4}, {2, 3, 4}, {3, 0, 4}}};
}

/// R of a rotation vector (3), by Rodrigues' formula (at::linalg_matrix_exp is right to 1e-11 only).
inline Tensor rotation(const Tensor& w) {
  const Tensor x = w.select(0, 0), y = w.select(0, 1), z = w.select(0, 2), o = x * 0;
  const Tensor K = at::stack({o, -z, y, z, o, -x, -y, x, o}).view({3, 3});
  const double angle = std::max(w.square().sum().sqrt().item<double>(), 1e-300),
               half = std::sin(angle / 2) / angle;
  return at::eye(3, at::kDouble) + std::sin(angle) / angle * K + 2 * half * half * at::matmul(K, K);
}

/// A body in flight: it turns by w a frame about its own origin, which moves as a thrown stone.
struct Body {
  Mesh mesh;
  Tensor start, velocity, w, attitude;  // (3), (3) per frame, (3) rad per frame, (3, 3)
  double fall = gravity;

  /// Its vertices at frame k, (V, 3).
  Tensor at_frame(double k) const {
    const Tensor R = at::matmul(rotation(k * w), attitude);
    return at::matmul(mesh.vertices, R.t()) + origin(k);
  }
  Tensor origin(double k) const {
    return start + k * velocity + at::tensor({0.0, 0.0, -0.5 * fall * frame * frame * k * k}, at::kDouble);
  }
  /// The corners of its triangles, (T, 3, 3).
  Tensor corners(double k) const {
    std::vector<int64_t> all;
    for (const auto& t : mesh.triangles) {
      all.insert(all.end(), t.begin(), t.end());
    }
    return at_frame(k).index_select(0, at::tensor(all, at::kLong)).view({-1, 3, 3});
  }
};

inline Body random_body(Stream& stream, double fall = gravity) {
  const auto normal = [&](double size) {
    return size * at::tensor({stream.normal(), stream.normal(), stream.normal()}, at::kDouble);
  };
  const auto between = [&](double low, double high) { return low + (high - low) * stream.uniform(); };
  const bool boxy = stream.uniform() < 0.6;
  const Mesh mesh = boxy ? box(between(0.3, 0.7), between(0.3, 0.7), between(0.3, 0.7))
                         : pyramid(between(0.3, 0.7), between(0.6, 1.2));
  const Tensor start = normal(2), velocity = normal(3 * frame), w = normal(2 * frame), attitude = normal(2);
  return {mesh, start + at::tensor({0.0, 0.0, 5.0}, at::kDouble), velocity, w, rotation(attitude), fall};
}

/// What the contract of rigid bodies declares, and beside it `later`: the corners at each of the steps, as labels.
inline Schema schema(int64_t steps) {
  Schema s;
  s.interface.length_unit = "m";
  s.interface.typical_nodes = 24;
  s.interface.features = {{.name = "height"},
                          {.name = "vertices", .kind = Kind::vector, .channels = 3, .role = Role::offset},
                          {.name = "arms", .kind = Kind::vector, .channels = 3, .role = Role::normal},
                          {.name = "normal", .kind = Kind::vector, .role = Role::normal},
                          {.name = "vertex_velocities", .kind = Kind::vector, .channels = 3},
                          {.name = "velocity", .kind = Kind::vector},
                          {.name = "up", .kind = Kind::vector, .role = Role::normal}};
  const auto label = [&](const char* name, Kind kind, int64_t channels, const char* unit) {
    s.labels.push_back(
        {.name = name, .level = Level::object, .kind = kind, .channels = channels, .unit = unit});
  };
  label("displacement", Kind::vector, steps, "m");
  label("turn", Kind::axial_vector, steps, "rad");
  label("contact", Kind::scalar, 1, "");
  label("vertex_count", Kind::scalar, 1, "");
  label("vertex_mean", Kind::vector, 1, "m");
  label("vertex_moment", Kind::symmetric_tensor, 1, "m^2");
  label("past_displacement", Kind::vector, 1, "m");
  label("past_turn", Kind::axial_vector, 1, "rad");
  label("mass_centre", Kind::vector, 1, "m");
  s.labels.push_back(
      {.name = "later", .kind = Kind::vector, .channels = 3 * steps, .role = Role::point, .unit = "m"});
  return s;
}

/// Scenes of bodies with labels of `steps` steps, as they stand at frame `now`.
inline Batch batch_of(const std::vector<std::vector<Body>>& scenes, int64_t steps, double now = 0) {
  std::vector<Tensor> positions, heights, vectors, later;
  std::map<std::string, std::vector<Tensor>> labels;
  std::vector<int64_t> nodes_of_scenes, nodes_of_bodies;
  const Tensor up = at::tensor({0.0, 0.0, 1.0}, at::kDouble);
  for (const auto& scene : scenes) {
    int64_t nodes = 0;
    for (const Body& body : scene) {
      const auto centre = [&](double k) { return body.corners(k).mean({0, 1}); };
      const Tensor x = body.corners(now), before = body.corners(now - 1), place = x.mean(1);
      const Tensor offsets = x - place.unsqueeze(1), moved = x - before;
      const Tensor normal =
          at::linalg_cross(x.select(1, 1) - x.select(1, 0), x.select(1, 2) - x.select(1, 0), 1);
      const int64_t T = x.size(0);
      positions.push_back(place);
      heights.push_back(place.select(1, 2).unsqueeze(1));
      vectors.push_back(at::cat({offsets, offsets, (normal / normal.norm(2, 1, true)).unsqueeze(1), moved,
                                 moved.mean(1, true), up.expand({T, 1, 3})},
                                1));
      std::vector<Tensor> shifts, turns, corners;
      for (int64_t k = 1; k <= steps; ++k) {
        const auto step = static_cast<double>(k);
        shifts.push_back(centre(now + step) - centre(now));
        turns.push_back(step * body.w);
        corners.push_back(body.corners(now + step));
      }
      later.push_back(at::cat(corners, 1));
      const Tensor arms = body.at_frame(now) - centre(now);
      const auto put = [&](const char* name, const Tensor& value) {
        labels[name].push_back(value.unsqueeze(0));
      };
      put("displacement", at::stack(shifts));
      put("turn", at::stack(turns));
      put("contact", at::full({1}, labels["contact"].size() % 3 == 1 ? 1.0 : 0.0, at::kDouble));
      put("vertex_count", at::full({1}, static_cast<double>(arms.size(0)), at::kDouble));
      put("vertex_mean", arms.mean(0).unsqueeze(0));
      put("vertex_moment", (at::matmul(arms.t(), arms) / arms.size(0)).unsqueeze(0));
      put("past_displacement", (centre(now) - centre(now - 1)).unsqueeze(0));
      put("past_turn", body.w.unsqueeze(0));
      put("mass_centre", (body.origin(now) - centre(now)).unsqueeze(0));
      nodes += T;
      nodes_of_bodies.push_back(T);
    }
    nodes_of_scenes.push_back(nodes);
  }
  Points p;
  p.positions = at::cat(positions);
  p.scalars = at::cat(heights);
  p.vectors = at::cat(vectors);
  p.graphs = Segments::of_sizes(nodes_of_scenes);
  p.objects = Segments::of_sizes(nodes_of_bodies);
  Batch batch{p, {}};
  for (const auto& [name, parts] : labels) {
    batch.labels[name] = at::cat(parts);
  }
  batch.labels["later"] = at::cat(later);
  return batch;
}

inline std::vector<std::vector<Body>> random_scenes(int64_t count, uint64_t seed, double fall = gravity) {
  Stream stream(seed, "rigid scenes");
  std::vector<std::vector<Body>> scenes;
  for (int64_t i = 0; i < count; ++i) {
    scenes.emplace_back();
    for (int64_t b = 0; b <= i % 3; ++b) {
      scenes.back().push_back(random_body(stream, fall));
    }
  }
  return scenes;
}

inline std::shared_ptr<InMemory> data(int64_t scenes, int64_t steps, uint64_t seed = 1,
                                      double fall = gravity) {
  return std::make_shared<InMemory>(batch_of(random_scenes(scenes, seed, fall), steps), schema(steps));
}

}  // namespace weyl::rigid
