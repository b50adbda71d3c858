#include <ATen/ops/empty.h>
#include <ATen/ops/index_select.h>

#include "weyl/carriers/layout.h"
#include "weyl/carriers/points_tensors.h"
#include "weyl/core/check.h"

namespace weyl {
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
