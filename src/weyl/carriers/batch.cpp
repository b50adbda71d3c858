#include "weyl/carriers/batch.h"

#include <ATen/ops/abs.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/max.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "weyl/carriers/lattice.h"
#include "weyl/carriers/layout.h"
#include "weyl/carriers/points_tensors.h"
#include "weyl/core/check.h"
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

}  // namespace weyl
