#include "weyl/train/sight_samples.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/index_select.h>

#include <algorithm>
#include <numeric>

#include "weyl/carriers/crop.h"
#include "weyl/carriers/layout.h"
#include "weyl/carriers/points_tensors.h"

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

Input sight_samples(const Dataset& data, std::span<const int64_t> crop, int64_t tokens) {
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

}  // namespace weyl
