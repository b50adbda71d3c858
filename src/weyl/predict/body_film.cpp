#include "weyl/predict/body_film.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/isfinite.h>
#include <ATen/ops/linalg_cross.h>
#include <ATen/ops/linalg_eigh.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>

#include "weyl/carriers/layout.h"
#include "weyl/core/check.h"
#include "weyl/tasks/object_motion.h"

namespace weyl {
namespace {

constexpr int64_t most_steps = 4, most_edges = 4000;
constexpr double azimuth = std::numbers::pi / 6, elevation = std::numbers::pi / 9;
constexpr double one_plane = 0.9999;  // cosine between normals of triangles that lie in one

/// The columns (N, c, 3) or (N, c) of a feature of nodes; undefined where there is none.
Tensor feature(const Points& points, const Interface& interface, const char* name, bool vector) {
  const auto columns =
      vector ? vector_columns(interface, Level::node) : scalar_columns(interface, Level::node);
  for (const Columns& c : columns) {
    if (c.quantity->name == name) {
      return (vector ? points.vectors : points.scalars).slice(1, c.begin, c.end).to(at::kCPU, at::kDouble);
    }
  }
  return {};
}

/// Directions of the picture, its right and its top, as columns (3, 2), and what is up (3).
struct View {
  Tensor axes, up, first, second;  // first and second span the horizon
};
View view_of(const Tensor& up) {
  const Tensor u = up / up.square().sum().sqrt();
  const auto* x = u.contiguous().const_data_ptr<double>();
  const int64_t least =
      std::min_element(x, x + 3, [](double a, double b) { return std::abs(a) < std::abs(b); }) - x;
  // Of upright scenes the first axis to the right.
  const Tensor start = at::zeros_like(u);
  start[std::abs(x[2]) > 0.9 ? 0 : least].fill_(1);
  Tensor first = start - (start * u).sum() * u;
  first = first / first.square().sum().sqrt();
  const Tensor second = at::linalg_cross(u, first);
  const Tensor right = std::cos(azimuth) * first + std::sin(azimuth) * second;
  const Tensor away = -std::sin(azimuth) * first + std::cos(azimuth) * second;
  return {at::stack({right, std::cos(elevation) * u + std::sin(elevation) * away}, 1), u, first, second};
}

/// Corners (T, 3, 3) of the triangles of one object as numbers of vertices, alike where they are at one place.
std::vector<std::array<int64_t, 3>> numbered(const Tensor& corners) {
  const double extent = (corners.amax({0, 1}) - corners.amin({0, 1})).max().item<double>();
  const double step = std::max(extent, 1e-12) * 1e-5;
  const Tensor cells = ((corners - corners.amin({0, 1})) / step).round().contiguous();
  const auto* c = cells.const_data_ptr<double>();
  std::map<std::array<int64_t, 3>, int64_t> known;
  std::vector<std::array<int64_t, 3>> triangles(static_cast<size_t>(corners.size(0)));
  for (auto& triangle : triangles) {
    for (int64_t& vertex : triangle) {
      const std::array<int64_t, 3> cell{std::llround(c[0]), std::llround(c[1]), std::llround(c[2])};
      vertex = known.try_emplace(cell, static_cast<int64_t>(known.size())).first->second;
      c += 3;
    }
  }
  return triangles;
}

/// The edges of the objects as pairs of corners, numbers in (N, 3) flattened: of each edge one, none inside a plane.
std::vector<std::pair<int64_t, int64_t>> edges_of(const Tensor& corners, const Segments& objects) {
  const Tensor normals = at::linalg_cross(corners.select(1, 1) - corners.select(1, 0),
                                          corners.select(1, 2) - corners.select(1, 0), 1);
  const Tensor units = (normals / normals.square().sum(1, true).sqrt().clamp_min(1e-300)).contiguous();
  const auto* n = units.const_data_ptr<double>();
  struct Edge {
    std::pair<int64_t, int64_t> corners;
    int64_t triangle;
    bool sharp;
  };
  std::vector<std::pair<int64_t, int64_t>> edges;
  for (int64_t o = 0; o < objects.count(); ++o) {
    const int64_t begin = objects.offsets[static_cast<size_t>(o)];
    const auto triangles = numbered(corners.narrow(0, begin, objects.size(o)));
    std::map<std::pair<int64_t, int64_t>, Edge> found;
    for (size_t t = 0; t < triangles.size(); ++t) {
      const int64_t row = begin + static_cast<int64_t>(t);
      for (int64_t k = 0; k < 3; ++k) {
        const int64_t a = triangles[t][static_cast<size_t>(k)],
                      b = triangles[t][static_cast<size_t>((k + 1) % 3)];
        const auto [at, is_new] =
            found.try_emplace(std::minmax(a, b), Edge{{3 * row + k, 3 * row + (k + 1) % 3}, row, true});
        if (!is_new) {
          const double* other = n + 3 * at->second.triangle;
          const double cosine = n[3 * row] * other[0] + n[3 * row + 1] * other[1] + n[3 * row + 2] * other[2];
          at->second.sharp = std::abs(cosine) < one_plane;
        }
      }
    }
    for (const auto& [key, edge] : found) {
      if (edge.sharp) {
        edges.push_back(edge.corners);
      }
    }
  }
  return edges;
}

/// Lines of the floor below the corners (.., 3), `level` along up; nothing where it is far away.
Tensor floor_lines(const Tensor& corners, const View& view, double level) {
  const Tensor flat = corners.reshape({-1, 3});
  const auto along = [&](const Tensor& axis) { return at::matmul(flat, axis); };
  const Tensor x = along(view.first), y = along(view.second), z = along(view.up);
  const auto range = [](const Tensor& t) {
    return std::pair(t.min().item<double>(), t.max().item<double>());
  };
  const auto [x0, x1] = range(x);
  const auto [y0, y1] = range(y);
  const auto [z0, z1] = range(z);
  const double extent = std::max({x1 - x0, y1 - y0, z1 - z0});
  if (!(extent > 0) || !std::isfinite(level) || z0 - level > extent) {
    return {};
  }
  const double rough = extent / 5, power = std::pow(10, std::floor(std::log10(rough)));
  const double step = power * (rough / power < 2 ? 2 : rough / power < 5 ? 5 : 10);
  // The numbers of the first and the last line: below what is seen, and above it.
  const auto first = [&](double low) { return static_cast<int64_t>(std::floor(low / step)); };
  const auto last = [&](double high) { return static_cast<int64_t>(std::ceil(high / step)); };
  std::vector<Tensor> lines;
  const auto point = [&](int64_t a, int64_t b) {
    return static_cast<double>(a) * step * view.first + static_cast<double>(b) * step * view.second +
           level * view.up;
  };
  for (int64_t a = first(x0); a <= last(x1); ++a) {
    lines.push_back(at::stack({point(a, first(y0)), point(a, last(y1))}));
  }
  for (int64_t b = first(y0); b <= last(y1); ++b) {
    lines.push_back(at::stack({point(first(x0), b), point(last(x1), b)}));
  }
  return at::matmul(at::stack(lines), view.axes).flatten(1).to(at::kFloat);
}

/// " s" where velocities are told in m/s, and so on: what stands behind a time. Nothing where no velocity says it.
std::string time_unit_of(const Interface& interface) {
  const std::string unit = unit_of(interface.features, "velocity");
  const size_t slash = unit.rfind('/');
  return slash == std::string::npos ? "" : " " + unit.substr(slash + 1);
}

std::optional<BodyFilm> rigid_film(const Predictor& predictor, const Batch& sample, double horizon) {
  const Points& points = std::get<Points>(sample.input);
  const Interface& interface = predictor.interface();
  const Tensor vertices = feature(points, interface, "vertices", true),
               up = feature(points, interface, "up", true),
               height = feature(points, interface, "height", false);
  if (!vertices.defined() || vertices.size(1) != 3 || points.nodes() == 0) {
    return {};
  }
  const Named said = predictor.as_far_as_labels(sample);
  const auto cpu = [](const Tensor& x) { return x.to(at::kCPU, at::kDouble); };
  const Tensor shifts[] = {cpu(sample.labels.at("displacement")), cpu(said.at("displacement"))},
               turns[] = {cpu(sample.labels.at("turn")), cpu(said.at("turn"))};
  int64_t known = 0;  // steps of which something is known
  while (known < shifts[0].size(1) && at::isfinite(shifts[0].select(1, known)).any().item<bool>()) {
    ++known;
  }
  if (known == 0) {
    return {};
  }
  Points at_start = points;
  at_start.positions = cpu(points.positions);
  const Tensor x = at_start.positions.unsqueeze(1);
  const View view =
      view_of(up.defined() ? up.select(1, 0).mean(0) : at::tensor({0.0, 0.0, 1.0}, at::kDouble));
  const auto edges = edges_of(x + vertices, points.objects);
  std::vector<int64_t> ends;
  const size_t every = edges.size() / most_edges + 1;
  for (size_t e = 0; e < edges.size(); e += every) {
    ends.push_back(edges[e].first);
    ends.push_back(edges[e].second);
  }
  const Tensor index = at::tensor(ends, at::kLong);
  BodyFilm film;
  film.unit = unit_of(predictor.outputs(), "displacement");
  film.step = horizon > 0 ? text(horizon, time_unit_of(interface)) : "";
  std::vector<Tensor> pictures[2], seen;
  const int64_t later = std::min(known, most_steps);
  for (int64_t f = 0; f <= later; ++f) {
    const int64_t k = (f * known + later / 2) / later;  // of 0 .. known
    film.times.push_back(k == 0 ? "start" : text("step ", k));
    for (int side = 0; side < 2; ++side) {
      Tensor corners = x + vertices;
      if (k > 0) {
        corners =
            x + moved_places(at_start, vertices,
                             motions_of_turns(turns[side].select(1, k - 1), shifts[side].select(1, k - 1)));
      }
      seen.push_back(corners);
      const Tensor flat = at::matmul(corners.reshape({-1, 3}), view.axes);
      pictures[side].push_back(at::index_select(flat, 0, index).view({-1, 4}));
    }
  }
  film.truth = at::stack(pictures[0]).to(at::kFloat);
  film.prediction = at::stack(pictures[1]).to(at::kFloat);
  if (up.defined() && height.defined()) {
    const double level =
        (at::matmul(at_start.positions, view.up) - height.select(1, 0)).mean().item<double>();
    film.ground = floor_lines(at::cat(seen).nan_to_num(0, 0, 0), view, level);
  }
  return film;
}

std::optional<BodyFilm> film_of_dots(const Predictor& predictor, const Batch& sample, double horizon) {
  const Points& points = std::get<Points>(sample.input);
  const auto found = sample.labels.find("displacement");
  const Tensor start = points.positions.to(at::kCPU, at::kDouble);
  if (found == sample.labels.end() || found->second.numel() != start.numel() || start.size(1) < 2 ||
      start.size(0) == 0) {
    return {};
  }
  const Tensor end = start + found->second.to(at::kCPU, at::kDouble).reshape(start.sizes());
  const Tensor said = predictor(sample.input).at("position").to(at::kCPU, at::kDouble).reshape(start.sizes());
  BodyFilm film;
  film.times = {"start",
                horizon > 0 ? text("after ", horizon, time_unit_of(predictor.interface())) : "later"};
  film.unit = unit_of(predictor.outputs(), "position");
  Tensor truth = at::stack({start, end}), prediction = at::stack({start, said});
  if (start.size(1) == 3) {
    const Tensor all = truth.reshape({-1, 3}), apart = all - all.mean(0);
    const Tensor axes = std::get<1>(at::linalg_eigh(at::matmul(apart.t(), apart))).slice(1, 1, 3).flip(1);
    truth = at::matmul(truth, axes);
    prediction = at::matmul(prediction, axes);
  }
  film.truth = truth.to(at::kFloat);
  film.prediction = prediction.to(at::kFloat);
  return film;
}

}  // namespace

std::optional<BodyFilm> film_of(const Predictor& predictor, const Batch& sample, double horizon) {
  const at::NoGradGuard no_grad;
  if (!std::holds_alternative<Points>(sample.input) || predictor.task() == nullptr) {
    return {};
  }
  const auto gives = [&](const char* name, Level level) {
    const Quantity* q = find_quantity(predictor.outputs(), name);
    return q != nullptr && q->level == level;
  };
  if (gives("displacement", Level::object) && gives("turn", Level::object) &&
      sample.labels.contains("displacement") && sample.labels.contains("turn")) {
    return rigid_film(predictor, sample, horizon);
  }
  if (gives("displacement", Level::node) && gives("position", Level::node)) {
    return film_of_dots(predictor, sample, horizon);
  }
  return {};
}

}  // namespace weyl
