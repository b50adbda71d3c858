#include "weyl/carriers/batch.h"

#include <ATen/ops/abs.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/max.h>
#include <algorithm>
#include <cmath>
#include <limits>

#include "weyl/carriers/lattice.h"
#include "weyl/carriers/layout.h"
#include "weyl/carriers/points.h"
#include "weyl/core/check.h"
#include "weyl/core/quote.h"
#include "weyl/core/to_device.h"

namespace weyl {
namespace {

/// float32 has no number for 1e39: not to be made infinite in silence.
void require_in_range(const Tensor& t, at::ScalarType dtype) {
  if (t.scalar_type() == at::kDouble && dtype == at::kFloat && t.is_cpu() && t.numel() > 0) {
    const double largest = at::abs(t).max().item<double>();
    require(!std::isfinite(largest) || largest <= std::numeric_limits<float>::max(),
            "input: values must be in the range of float32, got ", largest);
  }
}

template <class Get>
auto concatenated(std::span<const Batch> parts, std::string_view name, Get get) {
  std::vector<Tensor> tensors;
  for (const auto& part : parts) {
    const Tensor tensor = get(part);
    if (tensor.defined()) {
      tensors.push_back(tensor);
    }
  }
  require(tensors.empty() || tensors.size() == parts.size(), "concatenate: '", name, "' is in ",
          tensors.size(), " of ", parts.size(), " batches");
  return tensors.empty() ? Tensor() : at::cat(tensors, 0);
}

template <class Get>
Named concatenated_named(std::span<const Batch> parts, Get get) {
  Named result;
  for (const auto& part : parts) {
    for (const auto& entry : get(part)) {
      const std::string& name = entry.first;
      if (!result.contains(name)) {
        result.emplace(name, concatenated(parts, name, [&](const Batch& b) {
                         const Named& named = get(b);
                         const auto found = named.find(name);
                         return found == named.end() ? Tensor() : found->second;
                       }));
      }
    }
  }
  return result;
}

template <class Get>
Segments concatenated_segments(std::span<const Batch> parts, at::Device device, Get get) {
  std::vector<int64_t> offsets{0};
  for (const auto& part : parts) {
    const Segments& segments = get(part);
    const int64_t base = offsets.back();
    for (int64_t s = 1; s <= segments.count(); ++s) {
      offsets.push_back(base + segments.offsets[s]);
    }
  }
  return Segments::of_offsets(std::move(offsets), device);
}

Points concatenate_points(std::span<const Batch> parts) {
  const auto points = [](const Batch& b) -> const Points& { return std::get<Points>(b.input); };
  Points result;
  for (const auto& part : parts) {  // every input that any of them has
    result.of_graphs.insert(points(part).of_graphs.begin(), points(part).of_graphs.end());
    result.of_objects.insert(points(part).of_objects.begin(), points(part).of_objects.end());
  }
  each_tensor(result, [&](const PointsTensor& of, Tensor& tensor) {
    tensor = concatenated(parts, of.name, [&](const Batch& b) { return same_of(of, points(b)); });
  });
  const auto segments = [&](Segments Points::* member) {
    return concatenated_segments(parts, result.positions.device(), [&](const Batch& b) -> const Segments& {
      return std::get<Points>(b.input).*member;
    });
  };
  result.graphs = segments(&Points::graphs);
  result.objects = segments(&Points::objects);
  result.placed = std::ranges::all_of(parts, [&](const Batch& b) { return points(b).placed; });
  require(result.objects.count() == 0 || result.objects.rows() == result.nodes(),
          "concatenate: objects are in some of the batches only");
  return result;
}

}  // namespace

int64_t Batch::count() const {
  return rows_of(input, Level::graph);
}

Carrier carrier_of(const Input& input) {
  return static_cast<Carrier>(input.index());
}

std::string also_in_files(const Schema& data, std::string_view begin) {
  std::vector<std::string> also = data.unread;
  for (const auto& [label, why] : data.left_out) {
    also.push_back(why);
  }
  std::string line;
  for (const std::string& name : also) {
    line += text(line.empty() ? begin : std::string_view(", "), "'", printable(name, 400), "'");
  }
  return line;
}

Schema schema_of(const Interface& interface) {
  Schema schema;
  schema.interface = interface;
  schema.labels = interface.outputs;
  schema.interface.outputs.clear();
  return schema;
}

int64_t Batch::tokens() const {
  if (const auto* grid = std::get_if<Grid>(&input)) {
    const int64_t channels = grid->values.size(1);
    return channels == 0 ? 0 : grid->values.numel() / channels;
  }
  return graphs_of(input).rows();
}

Batch concatenate(std::span<const Batch> parts, const Schema& schema) {
  require(!parts.empty(), "concatenate: needs at least one batch");
  for (const auto& part : parts) {
    require(carrier_of(part.input) == schema.carrier(), "concatenate: all batches must be ",
            name_of(schema.carrier()));
  }
  Batch result;
  if (schema.carrier() == Carrier::points) {
    result.input = concatenate_points(parts);
  } else if (schema.carrier() == Carrier::poses) {
    const auto poses = [](const Batch& b) -> const Poses& { return std::get<Poses>(b.input); };
    Poses joined{poses(parts[0]).group,
                 concatenated(parts, "elements", [&](const Batch& b) { return poses(b).elements; }),
                 concatenated(parts, "scalars", [&](const Batch& b) { return poses(b).scalars; }),
                 {}};
    for (const auto& part : parts) {
      require(poses(part).group == joined.group, "concatenate: poses of different groups");
    }
    joined.graphs = concatenated_segments(parts, joined.elements.device(),
                                          [&](const Batch& b) -> const Segments& { return poses(b).graphs; });
    result.input = std::move(joined);
  } else {
    const auto grid = [](const Batch& b) -> const Grid& { return std::get<Grid>(b.input); };
    for (const auto& part : parts) {
      const auto sizes = grid(parts[0]).values.sizes().slice(1), other = grid(part).values.sizes().slice(1);
      require(other == sizes, "concatenate: grids must have one size, got (C, cells) ", sizes, " and ",
              other);
      const auto &a = grid(parts[0]).spacing, &b = grid(part).spacing;
      require(same_spacing(a, b), "concatenate: grids must have one spacing, got ", a[0], " x ", a[1], " x ",
              a[2], " and ", b[0], " x ", b[1], " x ", b[2]);
    }
    result.input = Grid{concatenated(parts, "values", [&](const Batch& b) { return grid(b).values; }),
                        grid(parts[0]).spacing};
  }
  result.labels = concatenated_named(parts, [](const Batch& b) -> const Named& { return b.labels; });
  return result;
}

Input to(const Input& input, at::Device device, at::ScalarType dtype) {
  const auto move = [&](const Tensor& t) -> Tensor {
    if (!t.defined()) {
      return t;
    }
    if (!t.is_floating_point()) {
      return to_device(t, device);
    }
    require_in_range(t, dtype);
    return to_device(t.to(dtype), device);
  };
  if (const auto* p = std::get_if<Points>(&input)) {
    Points result = *p;
    each_tensor(result, [&](const PointsTensor&, Tensor& tensor) { tensor = move(tensor); });
    result.graphs = p->graphs.to(device);
    result.objects = p->objects.to(device);
    return result;
  }
  if (const auto* p = std::get_if<Poses>(&input)) {
    return Poses{p->group, move(p->elements), move(p->scalars), p->graphs.to(device)};
  }
  const auto& grid = std::get<Grid>(input);
  return Grid{move(grid.values), grid.spacing};
}

Batch to(const Batch& batch, at::Device device, at::ScalarType dtype) {
  Batch result;
  result.input = to(batch.input, device, dtype);
  for (const auto& [name, tensor] : batch.labels) {
    result.labels.emplace(name, to_device(tensor, device));
  }
  return result;
}

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

namespace {

/// Checks that `order` permutes the rows inside each group.
void require_order(const int64_t* order, const Segments& groups, std::string_view what) {
  std::vector<bool> seen(groups.rows(), false);
  for (int64_t s = 0; s < groups.count(); ++s) {
    for (int64_t r = groups.offsets[s]; r < groups.offsets[s + 1]; ++r) {
      require(order[r] >= groups.offsets[s] && order[r] < groups.offsets[s + 1] && !seen[order[r]],
              "permute_nodes: order must permute the nodes inside each ", what, ", node ", r,
              " is taken from ", order[r]);
      seen[order[r]] = true;
    }
  }
}

/// Old row of each new row of pair level: (g, i, j) comes from (g, order i, order j).
Tensor pair_order(const int64_t* order, const Segments& graphs) {
  Tensor index = at::empty({graphs.pairs()}, at::kLong);
  auto* row = index.mutable_data_ptr<int64_t>();
  int64_t base = 0;
  for (int64_t g = 0; g < graphs.count(); ++g) {
    const int64_t n = graphs.size(g), first = graphs.offsets[g];
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        *row++ = base + (order[first + i] - first) * n + (order[first + j] - first);
      }
    }
    base += n * n;
  }
  return index;
}

Tensor rows_in_order(const Tensor& tensor, const Tensor& index) {
  return tensor.defined() ? at::index_select(tensor, 0, index.to(tensor.device())) : tensor;
}

}  // namespace

Batch permute_nodes(const Batch& batch, const Tensor& order, const Schema& schema) {
  require(!std::holds_alternative<Grid>(batch.input), "permute_nodes: a grid has no nodes to permute");
  const auto& graphs = graphs_of(batch.input);
  require(order.dim() == 1 && order.size(0) == graphs.rows() && order.scalar_type() == at::kLong,
          "permute_nodes: order must be (", graphs.rows(), ") int64");
  const Tensor host = order.to(at::kCPU).contiguous();
  const int64_t* old = host.const_data_ptr<int64_t>();
  require_order(old, graphs, "graph");
  const bool any_pairs = std::any_of(schema.labels.begin(), schema.labels.end(),
                                     [](const Quantity& q) { return q.level == Level::pair; });
  Tensor pairs;
  Batch result = batch;
  if (auto* points = std::get_if<Points>(&result.input)) {
    if (points->objects.count() > 0) {
      require_order(old, points->objects, "object");
    }
    if (any_pairs || points->pairs.defined()) {
      pairs = pair_order(old, graphs);
    }
    each_tensor(*points, [&](const PointsTensor& of, Tensor& tensor) {
      if (of.level == Level::node || of.level == Level::pair) {
        tensor = rows_in_order(tensor, of.level == Level::node ? host : pairs);
      }
    });
  } else {
    auto& poses = std::get<Poses>(result.input);
    poses.elements = rows_in_order(poses.elements, host);
    poses.scalars = rows_in_order(poses.scalars, host);
    pairs = any_pairs ? pair_order(old, graphs) : Tensor();
  }
  for (const auto& q : schema.labels) {
    const auto label = result.labels.find(q.name);
    if (label != result.labels.end() && (q.level == Level::node || q.level == Level::pair)) {
      label->second = rows_in_order(label->second, q.level == Level::node ? host : pairs);
    }
  }
  return result;
}

Named permute_nodes(const Named& values, std::span<const Quantity> quantities, const Tensor& order) {
  Named result;
  for (const auto& [name, tensor] : values) {
    const Quantity* q = find_quantity(quantities, name);
    require(q != nullptr, "permute_nodes: no quantity is named '", name, "'");
    require(q->level != Level::pair, "permute_nodes: '", name, "' is of pair level, permute it in a batch");
    result.emplace(name, q->level == Level::node ? rows_in_order(tensor, order) : tensor);
  }
  return result;
}

}  // namespace weyl
