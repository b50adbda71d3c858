#include "weyl/train/preflight/input_changes.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/nan_to_num.h>
#include <ATen/ops/where.h>
#include <algorithm>
#include <limits>
#include <numeric>
#include <set>

#include "weyl/carriers/crop.h"
#include "weyl/carriers/layout.h"
#include "weyl/carriers/points.h"
#include "weyl/core/random.h"
#include "weyl/core/random_tensor.h"
#include "weyl/ops/lie/elements.h"
#include "weyl/ops/segment.h"

namespace weyl {
namespace {

constexpr int64_t samples_looked_at = 64, graphs_taken = 4, least_nodes = 4, least_side = 16;

Tensor index_of(const std::vector<int64_t>& rows, const Tensor& like) {
  Tensor index = like.new_empty({static_cast<int64_t>(rows.size())}, like.options().dtype(at::kLong));
  std::ranges::copy(rows, index.mutable_data_ptr<int64_t>());
  return index;
}

/// Samples from all over the set (files often have theirs in the order of their classes), of two nodes or more where
/// there are such.
std::vector<int64_t> chosen(const Dataset& data) {
  std::vector<int64_t> several, lone;
  const int64_t looked_at = std::min(data.size(), samples_looked_at);
  for (int64_t i = 0; i < looked_at; ++i) {
    const int64_t sample = i * data.size() / looked_at;
    (data.tokens(sample) > 1 ? several : lone).push_back(sample);
  }
  const std::vector<int64_t>& from = several.empty() ? lone : several;
  const auto found = static_cast<int64_t>(from.size()), taken = std::min(found, graphs_taken);
  std::vector<int64_t> which;
  for (int64_t i = 0; i < taken; ++i) {
    which.push_back(from[static_cast<size_t>(i * found / taken)]);
  }
  return which;
}

/// The rows of those `most` nodes of each graph that are nearest to its first one, and the graphs that they make.
std::pair<Tensor, Segments> nearest_nodes(const Tensor& places, const Segments& graphs, int64_t most) {
  std::vector<int64_t> rows, sizes;
  for (int64_t g = 0; g < graphs.count(); ++g) {
    const int64_t begin = graphs.offsets[static_cast<size_t>(g)], size = graphs.size(g);
    std::vector<int64_t> order(static_cast<size_t>(size));
    std::iota(order.begin(), order.end(), int64_t{0});
    if (size > most) {
      const Tensor x = places.narrow(0, begin, size);
      const Tensor squares = (x - x.narrow(0, 0, 1)).flatten(1).square().sum(1).contiguous();
      const double* far = squares.const_data_ptr<double>();
      std::ranges::stable_sort(order, {}, [far](int64_t i) { return far[i]; });
      order.resize(static_cast<size_t>(most));
      std::ranges::sort(order);
    }
    for (const int64_t i : order) {
      rows.push_back(begin + i);
    }
    sizes.push_back(static_cast<int64_t>(order.size()));
  }
  return {index_of(rows, places), Segments::of_sizes(sizes)};
}

/// The same of objects: each keeps as many nodes as there are for each of the graph with the most objects, and one at
/// least.
std::pair<Tensor, Segments> nearest_in_objects(Points& points, int64_t most) {
  const Segments whole = points.objects;
  std::vector<int64_t> objects_of(static_cast<size_t>(points.count()), 0);
  const Tensor index = graph_of_rows(points, Level::object).contiguous();
  for (int64_t o = 0; o < whole.count(); ++o) {
    ++objects_of[static_cast<size_t>(index.const_data_ptr<int64_t>()[o])];
  }
  const int64_t crowd = std::max<int64_t>(1, *std::ranges::max_element(objects_of));
  auto [rows, objects] = nearest_nodes(points.positions, whole, std::max<int64_t>(1, most / crowd));
  std::vector<int64_t> sizes(objects_of.size(), 0);
  for (int64_t o = 0; o < objects.count(); ++o) {
    sizes[static_cast<size_t>(index.const_data_ptr<int64_t>()[o])] += objects.size(o);
  }
  points.objects = std::move(objects);
  return {rows, Segments::of_sizes(sizes)};
}

void cut(Points& points, int64_t most) {
  if (points.graphs.longest() <= most || points.pairs.defined()) {
    return;
  }
  const auto [rows, graphs] = points.objects.count() > 0
                                  ? nearest_in_objects(points, most)
                                  : nearest_nodes(points.positions, points.graphs, most);
  each_tensor(points, [&, rows = rows](const PointsTensor& of, Tensor& x) {
    if (x.defined() && of.level == Level::node) {
      x = at::index_select(x, 0, rows);
    }
  });
  points.graphs = graphs;
}

void cut(Poses& poses, int64_t most) {
  if (poses.graphs.longest() <= most) {
    return;
  }
  const auto [rows, graphs] = nearest_nodes(places_of(poses), poses.graphs, most);
  poses.elements = at::index_select(poses.elements, 0, rows);
  poses.scalars = poses.scalars.defined() ? at::index_select(poses.scalars, 0, rows) : poses.scalars;
  poses.graphs = graphs;
}

Grid middle_of(const Grid& grid, std::span<const int64_t> crop, int64_t cells, const Schema& schema) {
  std::vector<int64_t> shape = grid.values.sizes().slice(2).vec();
  for (size_t a = 0; a < shape.size() && !crop.empty(); ++a) {
    shape[a] = std::min(shape[a], crop[std::min(a, crop.size() - 1)]);
  }
  const auto count = [&] {
    return std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
  };
  // A net that pools needs sizes that can be halved: half of one that it takes is another.
  while (count() > cells && std::ranges::all_of(shape, [](int64_t n) { return n >= 2 * least_side; })) {
    for (int64_t& n : shape) {
      n = (n + 1) / 2;
    }
  }
  Schema unlabelled = schema;
  unlabelled.labels.clear();
  return std::get<Grid>(cropped({grid, {}}, central_crop(grid, shape), unlabelled).input);
}

}  // namespace

Tensor places_of(const Poses& poses) {
  const int64_t n = dimension_of(poses.group), m = poses.elements.size(1);
  return m > n ? poses.elements.narrow(1, 0, n).select(2, n) : poses.elements;
}

Input check_samples(const Dataset& data, std::span<const int64_t> crop, int64_t tokens) {
  if (data.schema().carrier() == Carrier::grid) {
    const int64_t first = 0;
    const Batch whole = data.batch({&first, 1});  // which may be large, and wide at once would be twice that
    return to(middle_of(std::get<Grid>(whole.input), crop, tokens, data.schema()), at::kCPU, at::kDouble);
  }
  const std::vector<int64_t> which = chosen(data);
  Input input = to(data.batch(which).input, at::kCPU, at::kDouble);
  const int64_t most =
      std::max(least_nodes, tokens / std::max<int64_t>(1, static_cast<int64_t>(which.size())));
  if (auto* points = std::get_if<Points>(&input)) {
    cut(*points, most);
  } else {
    cut(std::get<Poses>(input), most);
  }
  return input;
}

namespace {

/// Noise in distances between neighbours, and by what the places of a graph are drawn together.
struct DrawSize {
  double noise, together;
};
constexpr DrawSize draw_sizes[draws_of_a_change] = {{0.3, 1}, {1, 1}, {0.3, 0.5}, {0.3, 0.2}};

/// The median distance of a row from the nearest other one of its graph that is elsewhere; 0: there is none.
double spacing_of(const Tensor& places, const Segments& graphs) {
  constexpr int64_t rows_at_most = 256;
  std::vector<double> nearest;
  for (int64_t g = 0; g < graphs.count(); ++g) {
    const Tensor x = places.narrow(0, graphs.offsets[static_cast<size_t>(g)], graphs.size(g)).flatten(1);
    const Tensor some = x.narrow(0, 0, std::min(graphs.size(g), rows_at_most));
    if (some.size(0) < 2) {
      continue;
    }
    const Tensor apart = (some.unsqueeze(1) - x.unsqueeze(0)).square().sum(2).sqrt();
    const Tensor least =
        at::where(apart > 0, apart, std::numeric_limits<double>::infinity()).amin(1).contiguous();
    for (int64_t i = 0; i < least.numel(); ++i) {
      if (const double d = least.const_data_ptr<double>()[i]; d < std::numeric_limits<double>::infinity()) {
        nearest.push_back(d);
      }
    }
  }
  if (nearest.empty()) {
    return 0;
  }
  const auto middle = nearest.begin() + static_cast<std::ptrdiff_t>(nearest.size() / 2);
  std::nth_element(nearest.begin(), middle, nearest.end());
  return *middle;
}

Tensor scattered(const Tensor& x, const Segments& graphs, double spacing, const DrawSize& size,
                 Stream& stream) {
  const Tensor centre = segment_mean(x, graphs).index_select(0, graphs.index);
  return centre +
         size.together * (x - centre + size.noise * spacing * normal_tensor(x.sizes().vec(), stream));
}

/// Each token by a right factor of its own, which is no left multiplication of all.
Tensor moved_poses(const Poses& poses, double spacing, const DrawSize& size, Stream& stream) {
  const LieGroup group = poses.group;
  const Tensor w = normal_tensor({poses.nodes(), degrees_of_freedom(group)}, stream) * (0.3 * size.noise);
  const Tensor factor = lie::exp(lie::from_orthonormal(w, group), group);
  const Tensor turned =
      lie::element_matrices(lie::compose(lie::compact_elements(poses.elements, group), factor, group), group);
  const int64_t n = dimension_of(group);
  if (turned.size(1) > n) {
    const Tensor places = turned.narrow(1, 0, n).select(2, n);
    places.copy_(scattered(places.clone(), poses.graphs, spacing, size, stream));
  }
  return turned;
}

/// Every integer to another one that occurs; undefined: one alone does.
Tensor exchanged(const Tensor& values, Stream& stream) {
  Tensor flat = values.contiguous().clone();
  auto* x = flat.mutable_data_ptr<int64_t>();
  const std::set<int64_t> different(x, x + flat.numel());
  const std::vector<int64_t> occurring(different.begin(), different.end());
  const auto n = static_cast<int64_t>(occurring.size());
  if (n < 2) {
    return {};
  }
  for (int64_t i = 0; i < flat.numel(); ++i) {
    const int64_t at = std::ranges::lower_bound(occurring, x[i]) - occurring.begin();
    x[i] = occurring[static_cast<size_t>((at + 1 + stream.below(n - 1)) % n)];
  }
  return flat;
}

/// By as much as the values differ, or by their size where they do not.
Tensor disturbed(const Tensor& values, Stream& stream) {
  const Tensor x = at::nan_to_num(values, 0, 0, 0);
  const double largest = x.numel() > 0 ? x.abs().max().item<double>() : 0,
               spread = x.numel() > 0 ? (x - x.mean()).square().mean().sqrt().item<double>() : 0;
  const double size = spread > 1e-6 * largest ? spread : largest > 0 ? largest : 1;
  return x + size * normal_tensor(x.sizes().vec(), stream);
}

/// The same tensor with some of its columns disturbed.
Tensor disturbed(const Tensor& values, const Columns& columns, Stream& stream) {
  Tensor result = values.clone();
  const Tensor part = result.narrow(1, columns.begin, columns.end - columns.begin);
  part.copy_(disturbed(part.clone(), stream));
  return result;
}

std::string named(const Quantity& q) {
  return "feature '" + q.name + "'";
}

void add_changes(const Points& points, const Interface& interface, std::vector<Change>& changes) {
  if (const double spacing = spacing_of(points.positions, points.graphs); spacing > 0) {
    changes.push_back({"positions", true, [&points, spacing](Stream& stream, int64_t draw) -> Input {
                         Points p = points;
                         p.positions = scattered(p.positions, p.graphs, spacing, draw_sizes[draw], stream);
                         return p;
                       }});
  }
  const auto several = [](const Tensor& x) {
    return x.numel() > 0 && (x != x.flatten()[0]).any().item<bool>();
  };
  if (interface.types > 1 && points.types.defined() && several(points.types)) {
    changes.push_back({"types", false, [&points](Stream& stream, int64_t) -> Input {
                         Points p = points;
                         p.types = exchanged(p.types, stream);
                         return p;
                       }});
  }
  const auto columns = [&](const std::vector<Columns>& all, Tensor Points::* tensor) {
    for (const Columns& c : all) {
      changes.push_back({named(*c.quantity), false, [&points, c, tensor](Stream& stream, int64_t) -> Input {
                           Points p = points;
                           p.*tensor = disturbed(p.*tensor, c, stream);
                           return p;
                         }});
    }
  };
  columns(scalar_columns(interface, Level::node), &Points::scalars);
  columns(vector_columns(interface, Level::node), &Points::vectors);
  columns(multivector_columns(interface, Level::node), &Points::multivectors);
  columns(scalar_columns(interface, Level::pair), &Points::pairs);
  for (const Quantity& q : interface.features) {
    Named Points::* const of = q.level == Level::graph    ? &Points::of_graphs
                               : q.level == Level::object ? &Points::of_objects
                                                          : nullptr;
    if (of == nullptr || !(points.*of).contains(q.name)) {
      continue;
    }
    const Tensor& value = (points.*of).at(q.name);
    if (value.is_floating_point() || (value.scalar_type() == at::kLong && several(value))) {
      changes.push_back({named(q), false, [&points, of, name = q.name](Stream& stream, int64_t) -> Input {
                           Points p = points;
                           Tensor& x = (p.*of).at(name);
                           x = x.is_floating_point() ? disturbed(x, stream) : exchanged(x, stream);
                           return p;
                         }});
    }
  }
}

void add_changes(const Poses& poses, const Interface& interface, std::vector<Change>& changes) {
  const double spacing = spacing_of(places_of(poses), poses.graphs);
  if (poses.graphs.longest() > 1) {
    changes.push_back({"poses", true, [&poses, spacing](Stream& stream, int64_t draw) -> Input {
                         Poses p = poses;
                         p.elements = moved_poses(p, spacing, draw_sizes[draw], stream);
                         return p;
                       }});
  }
  for (const Columns& c : scalar_columns(interface, Level::node)) {
    changes.push_back({named(*c.quantity), false, [&poses, c](Stream& stream, int64_t) -> Input {
                         Poses p = poses;
                         p.scalars = disturbed(p.scalars, c, stream);
                         return p;
                       }});
  }
}

void add_changes(const Grid& grid, const Interface& interface, std::vector<Change>& changes) {
  changes.push_back({"values", true, [&grid](Stream& stream, int64_t) -> Input {
                       return Grid{disturbed(grid.values, stream), grid.spacing};
                     }});
  const std::vector<Columns> channels = scalar_columns(interface, Level::node);
  for (const Columns& c : channels) {
    if (channels.size() > 1) {  // else it is all of the values
      changes.push_back({named(*c.quantity), false, [&grid, c](Stream& stream, int64_t) -> Input {
                           return Grid{disturbed(grid.values, c, stream), grid.spacing};
                         }});
    }
  }
}

}  // namespace

std::vector<Change> changes_of(const Input& samples, const Interface& interface) {
  std::vector<Change> changes;
  std::visit([&](const auto& s) { add_changes(s, interface, changes); }, samples);
  return changes;
}

}  // namespace weyl
