#pragma once

#include <ATen/ATen.h>

#include <vector>

#include "weyl/carriers/batch.h"
#include "weyl/core/worst_of.h"

namespace weyl {

/// A schema with a quantity of every level and kind that points can hold.
inline Schema rich_schema() {
  Schema schema;
  schema.interface.types = 4;
  schema.interface.features = {
      {"charge", Level::node, Kind::scalar, 2},      {"handed", Level::node, Kind::pseudoscalar, 1},
      {"velocity", Level::node, Kind::vector, 1},    {"normal", Level::node, Kind::vector, 1, Role::normal},
      {"spin", Level::node, Kind::axial_vector, 2},  {"bond", Level::pair, Kind::scalar, 1},
      {"twist", Level::pair, Kind::pseudoscalar, 1}, {"gravity", Level::graph, Kind::vector, 1},
      {"mass", Level::object, Kind::scalar, 1},      {"inertia", Level::object, Kind::symmetric_tensor, 1},
      {"frame", Level::node, Kind::multivector, 2},  {"floor", Level::graph, Kind::multivector, 1},
      {"pose", Level::object, Kind::multivector, 1}};
  schema.labels = {{"energy", Level::graph, Kind::scalar, 1},
                   {"forces", Level::node, Kind::vector, 1},
                   {"later", Level::node, Kind::vector, 1, Role::point},
                   {"volume", Level::graph, Kind::pseudoscalar, 1},
                   {"torque", Level::object, Kind::axial_vector, 1},
                   {"stress", Level::graph, Kind::symmetric_tensor, 1},
                   {"class", Level::graph, Kind::category, 1},
                   {"pull", Level::pair, Kind::vector, 1},
                   {"motor", Level::object, Kind::multivector, 1},
                   {"line", Level::node, Kind::multivector, 2}};
  return schema;
}

/// Random values for that schema; every graph is cut into objects of at most two nodes.
inline Batch rich_batch(std::vector<int64_t> sizes, at::ScalarType dtype = at::kDouble) {
  at::manual_seed(17);
  const auto real = [&](at::IntArrayRef shape) { return at::randn(shape, at::TensorOptions(dtype)); };
  const auto label = [&](at::IntArrayRef shape) { return at::randn(shape, at::TensorOptions(at::kDouble)); };
  const auto symmetric = [](const Tensor& t) { return t + t.transpose(-1, -2); };
  Points p;
  p.graphs = Segments::of_sizes(sizes);
  std::vector<int64_t> objects;
  for (const int64_t n : sizes) {
    for (int64_t k = 0; k < n; k += 2) {
      objects.push_back(std::min<int64_t>(2, n - k));
    }
  }
  p.objects = Segments::of_sizes(objects);
  const int64_t n = p.nodes(), b = p.count(), o = p.objects.count(), e = p.graphs.pairs();
  p.positions = real({n, 3});
  p.types = at::randint(0, 4, {n}, at::TensorOptions(at::kLong));
  p.scalars = real({n, 3});
  p.vectors = real({n, 4, 3});
  p.pairs = real({e, 2});
  p.cell = real({b, 3, 3});
  p.pbc = at::ones({b, 3}, at::TensorOptions(at::kBool));
  p.of_graphs = {{"gravity", real({b, 1, 3})}};
  p.of_objects = {{"mass", real({o, 1})}, {"inertia", symmetric(real({o, 1, 3, 3}))}};
  Batch batch;
  batch.labels = {{"energy", label({b, 1})},
                  {"forces", label({n, 1, 3})},
                  {"later", label({n, 1, 3})},
                  {"volume", label({b, 1})},
                  {"torque", label({o, 1, 3})},
                  {"stress", symmetric(label({b, 1, 3, 3}))},
                  {"class", at::randint(0, 5, {b, 1}, at::TensorOptions(at::kLong))},
                  {"pull", label({e, 1, 3})}};
  p.multivectors = real({n, 2, 16});
  p.of_graphs["floor"] = real({b, 1, 16});
  p.of_objects["pose"] = real({o, 1, 16});
  batch.labels["motor"] = label({o, 1, 16});
  batch.labels["line"] = label({n, 2, 16});
  batch.input = std::move(p);
  return batch;
}

/// Every tensor of a batch, by name.
inline Named tensors_of(const Batch& batch) {
  Named all;
  const auto add = [&](const std::string& name, const Tensor& t) {
    if (t.defined()) {
      all.emplace(name, t);
    }
  };
  if (const auto* p = std::get_if<Points>(&batch.input)) {
    add("positions", p->positions);
    add("types", p->types);
    add("scalars", p->scalars);
    add("vectors", p->vectors);
    add("multivectors", p->multivectors);
    add("pairs", p->pairs);
    add("cell", p->cell);
    add("pbc", p->pbc);
    add("graphs.index", p->graphs.index);
    add("objects.index", p->objects.index);
    for (const auto& [name, t] : p->of_graphs) add("graph " + name, t);
    for (const auto& [name, t] : p->of_objects) add("object " + name, t);
  } else if (const auto* p = std::get_if<Poses>(&batch.input)) {
    add("elements", p->elements);
    add("scalars", p->scalars);
    add("graphs.index", p->graphs.index);
  } else {
    add("values", std::get<Grid>(batch.input).values);
  }
  for (const auto& [name, t] : batch.labels) add("label " + name, t);
  return all;
}

/// The largest difference over all tensors, which must agree in names, shapes and dtypes (else infinity).
inline double difference(const Batch& a, const Batch& b) {
  const Named x = tensors_of(a), y = tensors_of(b);
  double worst = 0;
  if (x.size() != y.size()) return INFINITY;
  for (const auto& [name, t] : x) {
    const auto found = y.find(name);
    if (found == y.end() || found->second.sizes() != t.sizes() ||
        found->second.scalar_type() != t.scalar_type()) {
      return INFINITY;
    }
    if (t.numel() > 0) {
      worst = worst_of(worst, (t.to(at::kDouble) - found->second.to(at::kDouble)).abs().max().item<double>());
    }
  }
  return worst;
}

}  // namespace weyl
