#include <ATen/ops/empty.h>
#include <ATen/ops/index_select.h>

#include "weyl/carriers/layout.h"
#include "weyl/carriers/points_tensors.h"
#include "weyl/core/check.h"

namespace weyl {
namespace {

Tensor rows_taken(const Tensor& tensor, const Tensor& index) {
  return tensor.defined() ? at::index_select(tensor, 0, index) : tensor;
}

Tensor index_tensor(std::span<const int64_t> values, at::Device device) {
  Tensor index = at::empty({static_cast<int64_t>(values.size())}, at::kLong);
  std::copy(values.begin(), values.end(), index.mutable_data_ptr<int64_t>());
  return index.to(device);
}

/// The rows of the segments `which` of ragged `offsets`, one after the other.
Tensor ragged_index(std::span<const int64_t> offsets, std::span<const int64_t> which, at::Device device) {
  int64_t total = 0;
  for (const int64_t s : which) {
    total += offsets[s + 1] - offsets[s];
  }
  Tensor index = at::empty({total}, at::kLong);
  auto* row = index.mutable_data_ptr<int64_t>();
  for (const int64_t s : which) {
    for (int64_t r = offsets[s]; r < offsets[s + 1]; ++r) {
      *row++ = r;
    }
  }
  return index.to(device);
}

Segments chosen(const Segments& segments, std::span<const int64_t> which, at::Device device) {
  std::vector<int64_t> offsets(which.size() + 1, 0);
  for (size_t i = 0; i < which.size(); ++i) {
    offsets[i + 1] = offsets[i] + segments.size(which[i]);
  }
  return Segments::of_offsets(std::move(offsets), device);
}

std::vector<int64_t> pair_offsets(const Segments& graphs) {
  std::vector<int64_t> offsets(graphs.count() + 1, 0);
  for (int64_t g = 0; g < graphs.count(); ++g) {
    offsets[g + 1] = offsets[g] + graphs.size(g) * graphs.size(g);
  }
  return offsets;
}

/// The objects of the graphs `which`, one after the other (objects nest in graphs and are never empty).
std::vector<int64_t> objects_of(const Points& all, std::span<const int64_t> which) {
  std::vector<int64_t> result;
  const auto& offsets = all.objects.offsets;
  for (const int64_t g : which) {
    const auto first = std::lower_bound(offsets.begin(), offsets.end(), all.graphs.offsets[g]);
    for (auto o = first; o != offsets.end() && *o < all.graphs.offsets[g + 1]; ++o) {
      result.push_back(o - offsets.begin());
    }
  }
  return result;
}

/// Row indices of each level for a choice of graphs; those of pairs and objects are made when first asked
/// for.
class Gather {
 public:
  Gather(const Input& all, std::span<const int64_t> which) : all_(all), which_(which) {
    const int64_t count = rows_of(all, Level::graph);
    for (const int64_t g : which) {
      require(g >= 0 && g < count, "take: graph ", g, " is not one of 0 .. ", count - 1);
    }
    if (const auto* points = std::get_if<Points>(&all)) {
      device_ = points->positions.device();
    } else if (const auto* poses = std::get_if<Poses>(&all)) {
      device_ = poses->elements.device();
    } else {
      device_ = std::get<Grid>(all).values.device();
    }
    graphs_ = index_tensor(which, device_);
    nodes_ =
        std::holds_alternative<Grid>(all) ? graphs_ : ragged_index(graphs_of(all).offsets, which, device_);
  }

  const Tensor& operator()(Level level) {
    switch (level) {
      case Level::node:
        return nodes_;
      case Level::graph:
        return graphs_;
      case Level::pair:
        if (!pairs_.defined()) {
          pairs_ = ragged_index(pair_offsets(graphs_of(all_)), which_, device_);
        }
        return pairs_;
      case Level::object:
        break;
    }
    if (!objects_.defined()) {
      require(std::holds_alternative<Points>(all_), "take: only points have objects");
      objects_ = index_tensor(objects_of(std::get<Points>(all_), which_), device_);
    }
    return objects_;
  }

  at::Device device() const { return device_; }

 private:
  const Input& all_;
  std::span<const int64_t> which_;
  at::Device device_ = at::kCPU;
  Tensor graphs_, nodes_, pairs_, objects_;
};

Points take_points(const Points& all, std::span<const int64_t> which, Gather& at) {
  Points
      result;  // no copy of `all`: with its graphs and objects that would take longer the larger the set, at every batch
  result.of_graphs = all.of_graphs;
  result.of_objects = all.of_objects;
  result.placed = all.placed;
  each_tensor(result, [&](const PointsTensor& of, Tensor& tensor) {
    if (const Tensor whole = same_of(of, all); whole.defined()) {
      tensor = at::index_select(whole, 0, at(of.level));
    }
  });
  result.graphs = chosen(all.graphs, which, at.device());
  if (all.objects.count() > 0) {
    result.objects = chosen(all.objects, objects_of(all, which), at.device());
  }
  return result;
}

}  // namespace

Batch take(const Batch& all, std::span<const int64_t> which, const Schema& schema) {
  Gather at(all.input, which);
  Batch result;
  if (const auto* points = std::get_if<Points>(&all.input)) {
    result.input = take_points(*points, which, at);
  } else if (const auto* poses = std::get_if<Poses>(&all.input)) {
    result.input =
        Poses{poses->group, rows_taken(poses->elements, at(Level::node)),
              rows_taken(poses->scalars, at(Level::node)), chosen(poses->graphs, which, at.device())};
  } else {
    const auto& grid = std::get<Grid>(all.input);
    result.input = Grid{rows_taken(grid.values, at(Level::graph)), grid.spacing};
  }
  for (const Quantity& q : schema.labels) {
    if (const auto found = all.labels.find(q.name); found != all.labels.end()) {
      result.labels.emplace(q.name, rows_taken(found->second, at(q.level)));
    }
  }
  for (const auto& [name, tensor] : all.labels) {
    require(result.labels.contains(name), "label '", name, "' is not in the schema");
  }
  return result;
}

}  // namespace weyl
